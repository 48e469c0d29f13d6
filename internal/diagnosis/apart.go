package diagnosis

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline/lists"
)

// beside is the time of requests that programs beside the service cost, or may have cost: what of
// peers' time is not surely the peers', who may have been kept waiting, too.
type beside struct {
	*judge
	spans []Span
}

func newBeside(j *judge) *beside {
	var spans []Span
	for _, cd := range j.cands {
		switch {
		case cd.Others:
			spans = both(spans, cd.seen)
		case cd.Peer:
			spans = both(spans, Without(cd.seen, cd.spans))
		}
	}
	return &beside{j, spans}
}

// ownOfSlow is how much of what makes requests slow is the service's own, of that and of what is
// beside it. Whom others hit is slow, and those are seldom the ones that the service's own makes slow:
// so its own is counted in those that would be slow without the others.
func (b *beside) ownOfSlow(s *Symptom, own []Span) Share {
	excess := func(spans []Span, ordinary, slow []RequestID) Duration {
		off := b.lose(spans)
		return max(0, mean(off, slow)-mean(off, ordinary))
	}
	cost := excess(b.spans, s.Ordinary, s.Slow)
	ordinary, slow := b.bands(s)
	itself := excess(Without(own, b.spans), ordinary, slow)
	return ShareOf(int64(itself), int64(itself+cost))
}

// bands returns which requests would be ordinary and slow ones without what is not the service's.
func (b *beside) bands(s *Symptom) (ordinary, slow []RequestID) {
	off := b.lose(b.spans)
	ids := ordered(s.Requests, func(id RequestID) Duration { return b.Requests[id].Duration() - off[id] })
	from, to := band(len(ids), 50)
	low, high := band(len(ids), 99)
	return ids[from:to], ids[low:high]
}

// ordered returns requests in order of a duration, those of equal ones in the order in which they were.
func ordered(ids []RequestID, by func(RequestID) Duration) []RequestID {
	out := make([]RequestID, len(ids))
	for i, at := range lists.Sorted(len(ids), func(i int) Time { return Time(by(ids[i])) }) {
		out[i] = ids[at]
	}
	return out
}

// Without returns what of spans as Merged returns them does not lie in others that are so.
func Without(a, b []Span) []Span {
	if len(b) == 0 {
		return slices.Clip(a)
	}
	out, k := make([]Span, 0, len(a)), 0
	for _, s := range a {
		for k < len(b) && (b[k].Request < s.Request || b[k].Request == s.Request && b[k].To <= s.From) {
			k++
		}
		for i := k; i < len(b) && b[i].Request == s.Request && b[i].From < s.To; i++ {
			if b[i].From > s.From {
				out = append(out, Span{s.Request, s.From, b[i].From})
			}
			s.From = b[i].To
		}
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}
