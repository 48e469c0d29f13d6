package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// knockOn predicts what requests wait less for their event loop once it is spared the
// churned connections' set-up: arrivals are replayed through the loop with all its
// work and without that work, and every observed wait shrinks in that proportion.
func knockOn(c *diagnosis.Case, ch churn) []diagnosis.Span {
	var out []diagnosis.Span
	for _, loop := range c.Loops() {
		out = append(out, loopWaits(c, ch, loop)...)
	}
	return out
}

func loopWaits(c *diagnosis.Case, ch churn, loop timeline.StrandID) []diagnosis.Span {
	ids, work := loopWork(c, ch, loop)
	if len(ids) == 0 {
		return nil
	}
	all, without := make([]diagnosis.Job, len(ids)), make([]diagnosis.Job, len(ids))
	for i, id := range ids {
		at := c.Requests[id].Start
		all[i] = diagnosis.Job{Arrive: at, Service: work.service[i]}
		without[i] = diagnosis.Job{Arrive: at, Service: work.service[i] - work.setup[i]}
	}
	was, would := diagnosis.Waits(all), diagnosis.Waits(without)
	busy := setUp(c, ch, loop)
	var out []diagnosis.Span
	for i, id := range ids {
		r := &c.Requests[id]
		if !r.Measured() {
			continue
		}
		gone := diagnosis.ShareOf(int64(was[i]-would[i]), int64(was[i]))
		for k := range r.Segments {
			if s := &r.Segments[k]; waitsFor(s, loop) {
				out = append(out, shrink(diagnosis.Span{Request: id, From: s.From, To: s.To}, gone, busy)...)
			}
		}
	}
	return out
}

// shrink takes out of a wait the share that the replay says is gone, or, if that is
// more, the very time in which the loop did other requests' set-up.
func shrink(w diagnosis.Span, gone diagnosis.Share, busy []diagnosis.Span) (out []diagnosis.Span) {
	i, _ := slices.BinarySearchFunc(busy, w.From, func(b diagnosis.Span, t diagnosis.Time) int {
		if b.To <= t {
			return -1
		}
		return 1
	})
	for ; i < len(busy) && busy[i].From < w.To; i++ {
		out = append(out, diagnosis.Span{Request: w.Request, From: max(w.From, busy[i].From), To: min(w.To, busy[i].To)})
	}
	if d := gone.Of(w.To.Sub(w.From)); d > diagnosis.Total(out) {
		return []diagnosis.Span{{Request: w.Request, From: w.From, To: w.From + diagnosis.Time(d)}}
	}
	return out
}

// setUp returns when a loop worked on churned connections' set-up, in order.
func setUp(c *diagnosis.Case, ch churn, loop timeline.StrandID) (busy []diagnosis.Span) {
	for i := range c.Requests {
		r := &c.Requests[i]
		for k := range r.Segments {
			if s := &r.Segments[k]; s.Strand == loop && ownCPU(s) && ch.setsUp(s) {
				busy = append(busy, diagnosis.Span{Request: r.ID, From: s.From, To: s.To})
			}
		}
	}
	slices.SortFunc(busy, func(a, b diagnosis.Span) int { return cmp.Compare(a.From, b.From) })
	return busy
}

// waitsFor reports whether a segment is a wait for a loop to get round to what is
// ready in a socket.
func waitsFor(s *timeline.Segment, loop timeline.StrandID) bool {
	if s.Phase != timeline.PhaseUnread && s.Phase != timeline.PhasePickUp && s.Cause != timeline.CauseEventLoop {
		return false
	}
	switch s.Cause {
	case timeline.CauseEventLoop, timeline.CauseRunnable, timeline.CauseOnCPU:
		return s.Strand == loop || s.Strand == timeline.None
	}
	return false
}

// work is the loop's CPU time per request, and the part spent on churned set-up.
type work struct{ service, setup []Duration }

// loopWork returns the requests a loop served, by arrival, and its work for each. What
// the loop ran without a known request is spread evenly over them.
func loopWork(c *diagnosis.Case, ch churn, loop timeline.StrandID) (ids []diagnosis.RequestID, w work) {
	for i := range c.Requests {
		if c.Requests[i].Strand == loop {
			ids = append(ids, diagnosis.RequestID(i))
		}
	}
	if len(ids) == 0 {
		return nil, w
	}
	slices.SortStableFunc(ids, func(a, b diagnosis.RequestID) int {
		return cmp.Compare(c.Requests[a].Start, c.Requests[b].Start)
	})
	w = work{make([]Duration, len(ids)), make([]Duration, len(ids))}
	seen := make(map[timeline.CallID]bool, len(ch.churned))
	var known, setup Duration
	first, last := c.Requests[ids[0]].Start, c.Requests[ids[0]].End
	for i, id := range ids {
		last = max(last, c.Requests[id].End)
		w.service[i], w.setup[i] = loopCPU(&c.Requests[id], loop, ch, seen)
		known += w.service[i]
		setup += w.setup[i]
	}
	rest := max(0, c.Running(loop, first, last)-known) / Duration(len(ids))
	perCall := setup / Duration(max(1, len(seen)))
	for i, id := range ids {
		w.service[i] += rest
		for _, call := range c.Requests[id].Calls {
			if ch.churned[call] && !seen[call] { // beside the path: it costs what the others cost
				w.setup[i] += perCall
			}
		}
		w.setup[i] = min(w.setup[i], w.service[i])
	}
	return ids, w
}

// loopCPU sums a request's own CPU time on a loop, and that of its churned set-up;
// calls with such time are entered in seen.
func loopCPU(r *timeline.Request, loop timeline.StrandID, ch churn, seen map[timeline.CallID]bool) (service, setup Duration) {
	for i := range r.Segments {
		s := &r.Segments[i]
		if s.Strand != loop || !ownCPU(s) {
			continue
		}
		service += s.To.Sub(s.From)
		if ch.setsUp(s) {
			setup += s.To.Sub(s.From)
			seen[s.Call] = true
		}
	}
	return service, setup
}
