package diagnosis

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline/lists"
)

// beside is the request time that programs beside the service cost, or may have cost. The latter is the part of peers'
// time that is not certainly their own: such programs may have delayed the peers, too.
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

// ownOfSlow returns what share of the excess of slow requests is the service's own; the rest is what is beside it.
// Requests that other programs delay are slow, and they are seldom the ones that the service itself makes slow. So the
// service's own part is counted in the requests that would be slow without the other programs.
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

// bands returns which requests would be ordinary and slow without what is not the service's own.
func (b *beside) bands(s *Symptom) (ordinary, slow []RequestID) {
	off := b.lose(b.spans)
	ids := ordered(s.Requests, func(id RequestID) Duration { return b.Requests[id].Duration() - off[id] })
	from, to := band(len(ids), 50)
	low, high := band(len(ids), 99)
	return ids[from:to], ids[low:high]
}

// ordered returns requests sorted by a duration; requests of equal duration keep their order.
func ordered(ids []RequestID, by func(RequestID) Duration) []RequestID {
	out := make([]RequestID, len(ids))
	for i, at := range lists.Sorted(len(ids), func(i int) Time { return Time(by(ids[i])) }) {
		out[i] = ids[at]
	}
	return out
}

// Without returns the parts of spans that do not lie in others. Both lists must be as Merged returns them.
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
