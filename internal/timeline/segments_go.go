package timeline

import (
	"sort"

	"github.com/getdwell/dwell/recording"
)

// goRuns are where and when goroutines ran; nil maps where there are no Go programs.
type goRuns struct {
	sights [][]sight // by thread
	stints map[goKey][]goStint
	busy   map[recording.ProcessID]goBusyTime
}

func newGoRuns(t *Timeline, f *facts) goRuns {
	for i := range f.processes {
		if f.processes[i].Runtime == recording.RuntimeGo {
			sights := goSights(f)
			return goRuns{sights, goStints(f, sights), goBusy(t, f)}
		}
	}
	return goRuns{}
}

// unreadGo tiles the time in which nobody read a request of a Go program: its
// goroutine waited for a processor while all were busy; else for a thread to wake.
func (s *segmenter) unreadGo(r *Request, p *painter) {
	from := r.FirstRead
	for _, u := range s.stintsOf(r, r.Start) {
		if u.from > r.FirstRead {
			break
		}
		if u.from <= r.FirstRead && r.FirstRead <= u.to {
			from = max(u.from, r.Start)
			s.goWait(wait{r, r.Strand, r.Start, from, PhaseUnread, None}, p)
			s.goStates(r, u, span{from, r.FirstRead, None, PhaseUnread}, p)
			return
		}
	}
	s.goWait(wait{r, r.Strand, r.Start, from, PhaseUnread, None}, p)
}

// stintsOf returns the stints of a request's goroutine that end after a time.
func (s *segmenter) stintsOf(r *Request, from Time) []goStint {
	return stintsAfter(s.goRuns.stints[goKey{r.Process, s.t.Strands[r.Strand].Goroutine}], from)
}

// goWait tiles a span in which a goroutine was ready and did not run: while all
// processors were busy it waited for one. A span of very many pieces is summed up.
func (s *segmenter) goWait(w wait, p *painter) {
	busy := s.goRuns.busy[w.r.Process]
	pieces := clipped(busy.list, w.from, w.to)
	g := Segment{
		From: w.from, To: w.to, Phase: w.phase, Cause: CauseRunnable, Quality: Inferred,
		Call: w.call, Strand: w.r.Strand, Blocker: None,
	}
	if len(pieces) > manyPieces {
		g.To = w.from + Time(busy.waited(w.to)-busy.waited(w.from))
		p.add(g)
		g.From, g.To, g.Cause = g.To, w.to, CauseUnknown
		p.add(g)
		return
	}
	for _, iv := range pieces {
		g.From, g.To, g.Cause = max(iv.From, w.from), min(iv.To, w.to), CauseRunnable
		if iv.State != StateRunnable && g.To.Sub(g.From) > wakeLatency {
			g.Cause = CauseUnknown
		}
		p.add(g)
	}
}

// goStates tiles a span in which a goroutine was on a thread, by the thread's states.
func (s *segmenter) goStates(r *Request, u goStint, w span, p *painter) {
	quality := Inferred
	if u.exact {
		quality = Exact
	}
	for _, iv := range clipped(s.t.Strands[u.thread].Intervals, w.from, w.to) {
		g := Segment{
			From: max(iv.From, w.from), To: min(iv.To, w.to), Phase: w.phase, Quality: quality,
			Call: w.call, Strand: r.Strand, Blocker: None,
		}
		switch iv.State {
		case StateRunning:
			g.Cause = CauseOnCPU
		case StateRunnable:
			g.Cause = CauseRunnable
		case StateSleeping, StateDisk:
			g.Cause, _ = s.t.sleepCause(u.thread, iv)
		default:
			continue
		}
		p.add(g)
	}
}

// goHandler tiles the time from reading a request to its last byte in a Go program:
// where its goroutine was on a thread, by that thread's states; where it was parked,
// by its calls, else unknown.
func (s *segmenter) goHandler(r *Request, p *painter) {
	s.goOn(r, parked{from: s.in.requests[r.ID].from, to: r.End, calls: s.spans(r.ID)}, p)
}

// goOn tiles a span by what a request's goroutine did: that of the request, or one that
// does a task of it.
func (s *segmenter) goOn(r *Request, w parked, p *painter) {
	at, gap := w.from, w
	for _, u := range s.stintsOf(r, at) {
		if u.from >= w.to {
			break
		}
		if u.from > at {
			gap.from, gap.to, gap.timer, gap.ran = at, min(u.from, w.to), u.timer, true
			s.goParked(r, gap, p)
		}
		from, to := max(u.from, at), min(u.to, w.to)
		s.goStates(r, u, span{from, to, None, PhaseHandler}, p)
		at = max(at, to)
		gap.cause, gap.quality = w.cause, Inferred
		if u.yields {
			gap.cause, gap.quality = CauseRunnable, Exact
		}
	}
	s.goParked(r, parked{from: at, to: w.to, calls: w.calls, cause: w.cause, quality: w.quality}, p)
}

// parked is a span in which a goroutine was on no thread.
type parked struct {
	from, to Time
	calls    []span // of its request, in order, disjoint
	timer    bool   // time woke it, as far as can be seen
	ran      bool   // it ran again at the end of the span
	selects  bool   // it waited in a select, at the end of the span if not all the time
	cause    Cause  // of what is not a call's; CauseUnknown: not known
	quality  Quality
}

// goAbsent tiles a span in which a goroutine was on no thread by its calls.
func (s *segmenter) goAbsent(r *Request, w parked, p *painter) {
	if w.from >= w.to {
		return
	}
	rest := Segment{From: w.from, To: w.to, Phase: PhaseHandler, Cause: w.cause, Quality: w.quality, Call: None, Strand: r.Strand, Blocker: None}
	if w.cause == CauseUnknown {
		rest.Quality = Inferred
		if w.timer {
			rest.Cause = CauseSleep
		}
	}
	answered := None // the call whose answer it waited for last
	for _, c := range overlapping(w.calls, w.from, w.to) {
		if answered = None; c.to < w.to {
			answered = int(c.call)
		}
		before := rest
		before.To = min(c.from, w.to)
		s.blank(r, before, p)
		from, to := max(c.from, rest.From), min(c.to, w.to)
		switch c.phase {
		case PhaseQueue:
			p.add(Segment{From: from, To: to, Phase: c.phase, Cause: CausePool, Quality: Inferred, Call: c.call, Strand: r.Strand, Blocker: None})
		case PhasePickUp:
			s.goWait(wait{r, r.Strand, from, to, c.phase, c.call}, p)
		case PhaseSend:
			s.goOwn(r, s.writer(c.call), span{from, to, c.call, c.phase}, p)
		case PhaseConnect, PhaseTLS, PhaseReceive:
			s.goExchange(r, span{from, to, c.call, c.phase}, p)
		default:
			p.add(s.remote(c, from, to))
		}
		rest.From = to
	}
	if answered != None && w.ran && w.cause == CauseUnknown { // it has what it waited for
		s.goWait(wait{r, r.Strand, rest.From, w.to, PhaseHandler, None}, p)
		return
	}
	s.blank(r, rest, p)
}

// overlapping returns those of some disjoint spans, in order, that overlap [from, to).
func overlapping(list []span, from, to Time) []span {
	i := sort.Search(len(list), func(k int) bool { return list[k].to > from })
	n := sort.Search(len(list), func(k int) bool { return list[k].from >= to })
	return list[i:max(i, n)]
}

// writer is the goroutine that wrote a call.
func (s *segmenter) writer(id CallID) goKey {
	w := &s.in.calls[id]
	return goKey{s.t.Calls[id].Process, s.f.conns[w.conn].chunks[recording.Write][w.x.asked.first].Goroutine}
}
