package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Portion is one kind of time within a saving of the mean.
type Portion struct {
	Phase timeline.Phase // the phase in which nothing attends to the request; PhaseHandler: Cause decides
	Cause timeline.Cause
	Turn  bool // it is a wait for a turn: for something that others hold, or in a phase in which nothing attends to the request
	Mean  Duration
}

// hardly is the share of a saving below which a portion is not worth mentioning.
const hardly = Whole / 200

// kindOf returns the kind of time that a segment is.
func kindOf(g *timeline.Segment) Portion {
	switch g.Cause {
	case timeline.CauseRunnable, timeline.CauseLock, timeline.CauseInterpreterLock, timeline.CausePool, timeline.CauseEventLoop:
		return Portion{Phase: timeline.PhaseHandler, Cause: g.Cause, Turn: true}
	}
	switch g.Phase {
	case timeline.PhaseQueue, timeline.PhaseUnread, timeline.PhasePickUp:
		return Portion{Phase: g.Phase, Turn: true}
	}
	return Portion{Phase: timeline.PhaseHandler, Cause: g.Cause}
}

// portions returns the kinds of time that normal spans of a symptom's requests consist of, the longest first.
func portions(tl *timeline.Timeline, s *Symptom, spans []Span) (out []Portion) {
	var all Duration
	for i := 0; i < len(spans); {
		r := &tl.Requests[spans[i].Request]
		from := i
		for i++; i < len(spans) && spans[i].Request == spans[from].Request; i++ {
		}
		if s.Endpoint != "" && r.Endpoint != s.Endpoint {
			continue
		}
		all += Total(spans[from:i])
		for at, g := from, r.Segments(); g.Next(); {
			for ; at < i && spans[at].To <= g.From; at++ {
			}
			kind := kindOf(&g.Segment)
			for k := at; k < i && spans[k].From < g.To; k++ {
				kind.Mean += min(g.To, spans[k].To).Sub(max(g.From, spans[k].From))
			}
			if kind.Mean > 0 {
				out = addPortion(out, kind)
			}
		}
	}
	out = slices.DeleteFunc(out, func(p Portion) bool { return ShareOf(int64(p.Mean), int64(all)) < hardly })
	for i := range out {
		out[i].Mean /= Duration(max(1, len(s.Requests)))
	}
	slices.SortStableFunc(out, func(a, b Portion) int { return cmp.Compare(b.Mean, a.Mean) })
	return out
}

// addPortion sums by kind.
func addPortion(list []Portion, p Portion) []Portion {
	for i := range list {
		if list[i].Phase == p.Phase && list[i].Cause == p.Cause {
			list[i].Mean += p.Mean
			return list
		}
	}
	return append(list, p)
}
