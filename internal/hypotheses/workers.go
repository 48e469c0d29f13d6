package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// workers are the threads that requests wait for, each of which serves one at a time,
// and the spans in which they served some.
type workers map[timeline.StrandID][]window

// waitedFor returns the workers that requests waited for, unread.
func waitedFor(c *diagnosis.Case) workers {
	w := workers{}
	for _, id := range c.With(timeline.CausePool) {
		r := &c.Requests[id]
		for s := r.Segments(); s.Next(); {
			if forWorker(c, r, &s.Segment) && s.Strand != timeline.None {
				w[s.Strand] = nil
			}
		}
	}
	for i := range c.Requests {
		r := &c.Requests[i]
		if _, ok := w[r.Strand]; ok && r.FirstRead != recording.NoTime {
			w[r.Strand] = append(w[r.Strand], window{r.FirstRead, r.End})
		}
	}
	for _, served := range w {
		slices.SortFunc(served, func(a, b window) int { return cmp.Compare(a.from, b.from) })
	}
	return w
}

// forWorker reports whether a segment is a wait for a worker that serves a request of
// another connection: one that waits for an earlier one of its own is no queue of ours.
func forWorker(c *diagnosis.Case, r *timeline.Request, s *timeline.Segment) bool {
	return s.Phase == timeline.PhaseUnread && s.Cause == timeline.CausePool &&
		(s.Blocker == timeline.None || c.Requests[s.Blocker].Conn != r.Conn)
}

// busy returns how much of the time the workers were serving while slow requests came.
func (w workers) busy(c *diagnosis.Case) diagnosis.Share {
	var most diagnosis.Share
	for i := range c.Symptoms {
		slow := c.Symptoms[i].Slow
		step := max(1, len(slow)/watchedSlow)
		var sum, n diagnosis.Share
		for k := 0; k < len(slow); k += step {
			from, to := around(c, &c.Requests[slow[k]])
			for _, served := range w {
				sum += diagnosis.ShareOf(int64(within(served, from, to)), int64(to.Sub(from)))
				n++
			}
		}
		if n > 0 {
			most = max(most, sum/n)
		}
	}
	return most
}

// within returns how much of a span is covered by windows, in order of their start.
func within(ws []window, from, to diagnosis.Time) (d Duration) {
	i, _ := slices.BinarySearchFunc(ws, from, func(w window, t diagnosis.Time) int { return cmp.Compare(w.to, t) })
	for ; i < len(ws) && ws[i].from < to; i++ {
		if a, b := max(ws[i].from, from), min(ws[i].to, to); a < b {
			d += b.Sub(a)
			from = b
		}
	}
	return d
}
