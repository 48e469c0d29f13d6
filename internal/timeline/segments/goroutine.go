package segments

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// unreadGo tiles the time in which a request of a Go program was not read. Its goroutine waited for a processor if all
// were busy, otherwise for a thread to wake.
func (s *segmenter) unreadGo(r *timeline.Request, p *painter) {
	on, from := timeline.ThreadStint{}, r.FirstRead
	for _, u := range s.stintsOf(r, r.Start) {
		if u.From <= r.FirstRead && r.FirstRead <= u.To {
			on, from = u, max(u.From, r.Start)
			break
		}
	}
	w := wait{r, r.Strand, r.Start, from, timeline.PhaseUnread, timeline.None}
	if r.Ordinal == 0 {
		w.from = s.unaccepted(w, p)
	}
	s.goWait(w, p)
	s.goStates(r, on, span{from, r.FirstRead, timeline.None, timeline.PhaseUnread}, p)
}

// unaccepted tiles the time in which the accepting goroutine, which later started the goroutine that serves the
// connection, waited for other goroutines of the program or slept: it accepts no connection meanwhile. It returns where
// that time ends.
func (s *segmenter) unaccepted(w wait, p *painter) recording.Time {
	by, ok := s.t.Goroutines.Starters[w.r.Strand]
	all := s.stintsOf(w.r, 0)
	if !ok || len(all) == 0 || all[0].From < w.from { // it existed before
		return w.from
	}
	for _, id := range s.t.WaitsIn(by, w.from, min(w.to, all[0].From)) {
		x := &s.t.Waits[id]
		if x.Back > all[0].From {
			break
		}
		g := timeline.Segment{From: max(x.From, w.from), To: min(x.To, w.to), Phase: w.phase, Cause: timeline.CausePool, Quality: timeline.Inferred, Call: w.call, Strand: by, Blocker: timeline.None}
		switch x.Cause {
		case timeline.CauseSleep:
			g.Cause = timeline.CauseSleep
		case timeline.CauseCondition, timeline.CauseLock:
		default:
			continue
		}
		before := w
		before.to = g.From
		s.goWait(before, p)
		p.add(g)
		w.from = max(w.from, g.To)
	}
	return w.from
}

// stintsOf returns the stints of a request's goroutine that end after a time.
func (s *segmenter) stintsOf(r *timeline.Request, from recording.Time) []timeline.ThreadStint {
	return timeline.StintsAfter(s.goRuns.Stints[timeline.GoroutineKey{Process: r.Process, Goroutine: s.t.Strands[r.Strand].Goroutine}], from)
}

// goWait tiles a span in which a goroutine was ready and did not run. While all processors were busy, it waited for
// one. A span of very many pieces is summed up.
func (s *segmenter) goWait(w wait, p *painter) {
	busy := s.goRuns.Busy[w.r.Process]
	pieces := timeline.Clipped(busy.List, w.from, w.to)
	g := timeline.Segment{From: w.from, Phase: w.phase, Cause: timeline.CauseRunnable, Quality: timeline.Inferred, Call: w.call, Strand: w.r.Strand, Blocker: timeline.None}
	if len(pieces) > manyPieces {
		g.To = w.from + recording.Time(busy.Waited(w.to)-busy.Waited(w.from))
		p.add(g)
		g.From, g.To, g.Cause = g.To, w.to, timeline.CauseUnknown
		p.add(g)
		return
	}
	for _, iv := range pieces {
		g.From, g.To, g.Cause = max(iv.From, w.from), min(iv.To, w.to), timeline.CauseRunnable
		if iv.State != timeline.StateRunnable && g.To.Sub(g.From) > timeline.WakeLatency {
			g.Cause = timeline.CauseUnknown
		}
		p.add(g)
	}
}

// goStates tiles a span in which a goroutine was on a thread, by the thread's states.
func (s *segmenter) goStates(r *timeline.Request, u timeline.ThreadStint, w span, p *painter) {
	g := timeline.Segment{Phase: w.phase, Quality: timeline.Inferred, Call: w.call, Strand: r.Strand, Blocker: timeline.None}
	if u.Exact {
		g.Quality = timeline.Exact
	}
	for _, iv := range timeline.Clipped(s.t.Strands[u.Thread].Intervals, w.from, w.to) {
		if cause, _, known := s.stateCause(u.Thread, iv); known {
			g.From, g.To, g.Cause = max(iv.From, w.from), min(iv.To, w.to), cause
			p.add(g)
		}
	}
}

// goOn tiles a span by what a goroutine did: that of the request, or one that does a task for it. While it was on a
// thread, that thread's states are the cause; while it was parked, the request's calls, else unknown.
func (s *segmenter) goOn(r *timeline.Request, w parked, p *painter) {
	at, gap := w.from, w
	for _, u := range s.stintsOf(r, at) {
		if u.From >= w.to {
			break
		}
		if u.From > at {
			gap.from, gap.to, gap.timer, gap.ran = at, min(u.From, w.to), u.Timer, true
			if gap.cause == timeline.CauseRunnable && u.Exact { // both ends were seen
				gap.quality = timeline.Exact
			}
			s.goParked(r, gap, p)
		}
		from, to := max(u.From, at), min(u.To, w.to)
		byPhase(w.calls, from, to, func(x span) { s.goStates(r, u, x, p) })
		at = max(at, to)
		gap.cause, gap.quality = w.cause, timeline.Inferred
		if u.Yields {
			gap.cause = timeline.CauseRunnable
		}
	}
	gap.from, gap.to, gap.timer, gap.ran = at, w.to, false, false
	s.goParked(r, gap, p)
}

// byPhase cuts a span in which a goroutine worked for a request. While a call of the request opens a connection, or is
// written or read, the work belongs to that phase of the call. Everything else belongs to the handler.
func byPhase(calls []span, from, to recording.Time, each func(span)) {
	own := func(until recording.Time) {
		if from < until {
			each(span{from, until, timeline.None, timeline.PhaseHandler})
			from = until
		}
	}
	for _, c := range overlapping(calls, from, to) {
		switch c.phase {
		case timeline.PhaseConnect, timeline.PhaseTLS, timeline.PhaseSend, timeline.PhaseReceive:
			own(c.from)
			c.from, c.to = from, min(c.to, to)
			each(c)
			from = c.to
		}
	}
	own(to)
}

// parked is a span in which a goroutine was on no thread.
type parked struct {
	from, to recording.Time
	calls    []span         // of its request, in order, disjoint
	timer    bool           // a timer woke it, as far as is known
	ran      bool           // it ran again at the end of the span
	selects  bool           // it waited in a select, at least at the end of the span
	cause    timeline.Cause // of the time that belongs to no call; CauseUnknown: not known
	quality  timeline.Quality
}

// until returns its part up to a time.
func (w parked) until(to recording.Time) parked {
	w.to = to
	return w
}

// goAbsent tiles a span in which a goroutine was on no thread, by its calls.
func (s *segmenter) goAbsent(r *timeline.Request, w parked, p *painter) {
	if w.from >= w.to {
		return
	}
	rest := timeline.Segment{From: w.from, To: w.to, Phase: timeline.PhaseHandler, Cause: w.cause, Quality: w.quality, Call: timeline.None, Strand: r.Strand, Blocker: timeline.None}
	if w.cause == timeline.CauseUnknown {
		rest.Quality = timeline.Inferred
		if w.timer {
			rest.Cause = timeline.CauseSleep
		}
	}
	answered := timeline.None // the call whose answer it waited for last
	for _, c := range overlapping(w.calls, w.from, w.to) {
		if answered = timeline.None; c.to < w.to {
			answered = int(c.call)
		}
		s.blank(r, until(rest, min(c.from, w.to)), p)
		from, to := max(c.from, rest.From), min(c.to, w.to)
		switch c.phase {
		case timeline.PhaseQueue:
			p.add(timeline.Segment{From: from, To: to, Phase: c.phase, Cause: timeline.CausePool, Quality: timeline.Inferred, Call: c.call, Strand: r.Strand, Blocker: timeline.None})
		case timeline.PhasePickUp:
			s.goWait(wait{r, r.Strand, from, to, c.phase, c.call}, p)
		case timeline.PhaseSend:
			s.goOwn(r, s.writer(c.call), span{from, to, c.call, c.phase}, p)
		case timeline.PhaseConnect, timeline.PhaseTLS, timeline.PhaseReceive:
			s.goExchange(r, span{from, to, c.call, c.phase}, p)
		default:
			p.add(s.remote(c, from, to))
		}
		rest.From = to
	}
	if answered != timeline.None && w.ran && w.cause == timeline.CauseUnknown { // it has what it waited for
		s.goWait(wait{r, r.Strand, rest.From, w.to, timeline.PhaseHandler, timeline.None}, p)
		return
	}
	s.blank(r, rest, p)
}

// overlapping returns, from disjoint spans in order, those that overlap [from, to).
func overlapping(list []span, from, to recording.Time) []span {
	i := sort.Search(len(list), func(k int) bool { return list[k].to > from })
	n := sort.Search(len(list), func(k int) bool { return list[k].from >= to })
	return list[i:max(i, n)]
}

// writer returns the goroutine that wrote a call.
func (s *segmenter) writer(id timeline.CallID) timeline.GoroutineKey {
	w := &s.in.Calls[id]
	return timeline.GoroutineKey{Process: s.t.Calls[id].Process, Goroutine: s.f.Conns[w.Conn].Chunks[recording.Write][w.Exchange.Asked.First].Goroutine}
}

// goParked tiles a span in which a goroutine was on no thread: by its waits for others and, between those, by its
// calls.
func (s *segmenter) goParked(r *timeline.Request, w parked, p *painter) {
	for _, id := range s.t.WaitsIn(r.Strand, w.from, w.to) {
		x := &s.t.Waits[id]
		s.goAbsent(r, w.until(min(x.From, w.to)), p)
		from, ready, back := max(x.From, w.from), min(x.To, w.to), min(x.Back, w.to)
		if x.Cause == timeline.CauseSleep { // while a call is made for it concurrently, it really waits for that call
			s.goAbsent(r, parked{from: from, to: ready, calls: w.calls, cause: x.Cause, quality: x.Quality}, p)
		} else if x.Cause == timeline.CauseCondition {
			s.goJoin(r, id, parked{from: from, to: ready, calls: w.calls, cause: x.Cause, quality: x.Quality}, p)
		} else {
			p.add(timeline.Segment{From: from, To: ready, Phase: timeline.PhaseHandler, Cause: x.Cause, Quality: x.Quality, Call: timeline.None, Strand: r.Strand, Blocker: timeline.None})
		}
		p.add(timeline.Segment{From: max(ready, from), To: back, Phase: timeline.PhaseHandler, Cause: timeline.CauseRunnable, Quality: x.Quality, Call: timeline.None, Strand: r.Strand, Blocker: timeline.None})
		w.from = max(w.from, back)
	}
	if !s.goSelect(r, w, p) {
		s.goAbsent(r, w, p)
	}
}

// goJoin tiles a wait for other goroutines by what the one that ended it did.
func (s *segmenter) goJoin(r *timeline.Request, id timeline.WaitID, w parked, p *painter) {
	by := s.t.ParkedBy(id)
	if by == timeline.None || by == r.Strand {
		s.goAbsent(r, w, p)
		return
	}
	if s.goTask(r, by, w, p) {
		return
	}
	s.goBehind(r, by, w, p)
}
