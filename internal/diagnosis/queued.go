package diagnosis

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Queued is what of the mean that taking something out saves is one kind of waiting for a turn.
type Queued struct {
	Phase timeline.Phase // in which nobody gets round to it; PhaseHandler: Cause tells
	Cause timeline.Cause
	Mean  Duration
}

// hardly is how much of what is saved is not worth a word.
const hardly = Whole / 200

// turnOf is the kind of waiting for a turn that a segment is: a wait for what others have, or work or an answer
// that nobody gets round to.
func turnOf(g *timeline.Segment) (q Queued, is bool) {
	switch g.Cause {
	case timeline.CauseRunnable, timeline.CauseLock, timeline.CauseInterpreterLock, timeline.CausePool, timeline.CauseEventLoop:
		return Queued{Phase: timeline.PhaseHandler, Cause: g.Cause}, true
	}
	switch g.Phase {
	case timeline.PhaseQueue, timeline.PhaseUnread, timeline.PhasePickUp:
		return Queued{Phase: g.Phase}, true
	}
	return q, false
}

// queued says which waits for turns go with normal spans of a symptom's requests, the longest first. Where they are
// all of it, and of one kind, there is nothing to tell apart.
func queued(tl *timeline.Timeline, s *Symptom, spans []Span) (out []Queued) {
	var all, turns Duration
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
			kind, is := turnOf(&g.Segment)
			for k := at; is && k < i && spans[k].From < g.To; k++ {
				kind.Mean += min(g.To, spans[k].To).Sub(max(g.From, spans[k].From))
			}
			if kind.Mean > 0 {
				turns += kind.Mean
				out = addQueued(out, kind)
			}
		}
	}
	out = slices.DeleteFunc(out, func(q Queued) bool { return ShareOf(int64(q.Mean), int64(all)) < hardly })
	if turns == all && len(out) == 1 {
		return nil
	}
	for i := range out {
		out[i].Mean /= Duration(max(1, len(s.Requests)))
	}
	slices.SortStableFunc(out, func(a, b Queued) int { return cmp.Compare(b.Mean, a.Mean) })
	return out
}

// addQueued sums by kind.
func addQueued(list []Queued, q Queued) []Queued {
	for i := range list {
		if list[i].Phase == q.Phase && list[i].Cause == q.Cause {
			list[i].Mean += q.Mean
			return list
		}
	}
	return append(list, q)
}
