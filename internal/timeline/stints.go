package timeline

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// MergeStints sorts spans and merges those that overlap.
func MergeStints(list []Stint) []Stint {
	var out []Stint
	for _, x := range lists.ByTime(list, func(x *Stint) recording.Time { return x.From }) {
		if n := len(out); n > 0 && x.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, x.To)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// Stint is a span in which a strand worked for one request.
type Stint struct {
	From, To recording.Time
	Request  RequestID
}

// Stints lists, for each strand, the requests it worked for, in order of time. If a strand serves one request at a
// time, its spans are disjoint; a Loop has none here.
type Stints [][]Stint

// At returns the request a strand worked for at a time, or None.
func (o Stints) At(s StrandID, at recording.Time) RequestID {
	list := o[s]
	i := sort.Search(len(list), func(k int) bool { return list[k].From > at })
	if i == 0 || at >= list[i-1].To {
		return None
	}
	return list[i-1].Request
}

// Hands lists, by strand, the requests that the strand worked for and another strand had read, in order of time.
func Hands(t *Timeline) Stints {
	on := make(Stints, len(t.Strands))
	for i := range t.Requests {
		for _, p := range t.Requests[i].Parts {
			on[p.Strand] = append(on[p.Strand], Stint{From: p.From, To: p.To, Request: RequestID(i)})
		}
	}
	for s, list := range on {
		on[s] = lists.ByTime(list, func(x *Stint) recording.Time { return x.From })
	}
	return on
}

// From returns the stints of a strand that end after a time.
func (o Stints) From(s StrandID, at recording.Time) []Stint {
	list := o[s]
	i := sort.Search(len(list), func(k int) bool { return list[k].To > at })
	return list[i:]
}
