package segments

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// loopHandler tiles the time from reading a request to its last byte, for a request of a loop. While the loop worked
// for it, the loop's state is the cause. Each gap between two turns is explained by what the later turn resumed for: at
// first that was not ready, and then the loop had not yet attended to it.
func (s *segmenter) loopHandler(r *timeline.Request, p *painter) {
	last := s.eachTurn(r, func(u *loops.Turn, g gap, own stretch) {
		if g.from < g.to {
			s.gap(r, u, g, p)
		}
		s.ownTurn(r, own, p)
	})
	s.lastGap(r, last.from, last.tail, p)
}

// eachTurn visits a loop's turns for a request, each with the gap before it and the stretch of the turn itself. It
// returns the gap after the last turn.
func (s *segmenter) eachTurn(r *timeline.Request, visit func(*loops.Turn, gap, stretch)) gap {
	cut := s.in.Requests[r.ID].From
	next := gap{from: cut, tail: cut, to: r.End}
	for _, i := range s.turns.Of(r.ID) {
		u := &s.turns.All[i]
		if u.From > r.End {
			break
		}
		if u.To < next.from || u.Last < next.from {
			continue
		}
		g := next
		g.to = max(u.From, g.from)
		g.tail = min(g.tail, g.to)
		visit(u, g, stretch{u, g.to, u.Last})
		switch {
		case u.Call != timeline.None && !begunUnseen(s, u, g):
			next.place = place{g.resumed + 1, 0}
		case g.to > g.from:
			next.nth++
		}
		next.from, next.tail = max(g.from, u.Last), max(next.tail, u.To)
	}
	return next
}

// stretch is a span in or before a turn; turn is nil if it is not known.
type stretch struct {
	turn     *loops.Turn
	from, to recording.Time
}

// of returns the loop whose turn it is: a request may wander to loops other than the one that read it.
func (w *stretch) of(r *timeline.Request) timeline.StrandID {
	if w.turn == nil {
		return r.Strand
	}
	return w.turn.Strand
}

// gap is a span between two turns. Until tail, the earlier turn may have continued unseen.
type gap struct {
	from, tail, to recording.Time
	place
}

// gap tiles the time before a turn.
func (s *segmenter) gap(r *timeline.Request, u *loops.Turn, g gap, p *painter) {
	if id := s.givenUp(r, u, g.from); id != timeline.None {
		after, end := *u, min(s.t.Calls[id].End, g.to)
		after.Call, after.Ready = id, recording.NoTime
		s.gap(r, &after, gap{g.from, min(g.tail, end), end, g.place}, p)
		if end < g.to {
			s.readerWait(wait{r, r.Strand, end, g.to, timeline.PhaseHandler, timeline.None}, p)
		}
		return
	}
	if u.Call == timeline.None {
		s.ownTurn(r, stretch{nil, g.from, g.tail}, p)
		tail := s.handedOver(r, g, p)
		if tail >= g.to || tail == g.tail && s.awaitsChild(r, u, g, p) {
			return
		}
		g.tail = tail
		if s.heldUp(r, u, g, p) {
			return
		}
		rest := timeline.Segment{From: g.tail, To: g.to, Phase: timeline.PhaseHandler, Cause: timeline.CauseUnknown, Quality: timeline.Inferred, Call: timeline.None, Strand: r.Strand, Blocker: timeline.None}
		switch {
		case len(s.asks(r, rest)) > 0:
		case u.Timer, s.sleeps(r, u, g):
			rest.Cause = timeline.CauseSleep
		case u.Queued:
			s.waitFor(wait{r, r.Strand, g.tail, g.to, timeline.PhaseHandler, timeline.None}, timeline.Inferred, p)
			return
		case u.How == loops.ResumeFired: // an immediate, which runs when the loop gets to it
			s.readerWait(wait{r, r.Strand, g.tail, g.to, timeline.PhaseHandler, timeline.None}, p)
			return
		case u.How == loops.ResumeBody && u.Ready != recording.NoTime:
			ready := min(max(u.Ready, g.tail), g.to)
			rest.Cause, rest.Quality, rest.To = timeline.CauseClient, timeline.Exact, ready
			p.add(rest)
			s.readerWait(wait{r, r.Strand, ready, g.to, timeline.PhaseHandler, timeline.None}, p)
			return
		}
		s.blank(r, rest, p)
		return
	}
	s.pending(r, stretch{u, g.beforeCall(s, r, u, p), g.to}, p)
}

// beforeCall tiles the part of a gap before the call that it ends with was wanted, and returns when that was. If the call
// was sent at once then, it had no turn to wait for. If the loop did not sleep, the request waited for the loop to run
// its task.
func (g gap) beforeCall(s *segmenter, r *timeline.Request, u *loops.Turn, p *painter) recording.Time {
	wanted := s.in.Calls[u.Call].Bounds[0]
	begun := min(max(wanted, g.from), g.to)
	if begun == g.from {
		return begun
	}
	atOnce := begun == g.to
	g.tail, g.to = min(g.tail, begun), begun
	s.ownTurn(r, stretch{nil, g.from, g.tail}, p)
	if atOnce && s.heldUp(r, u, g, p) {
		return begun
	}
	rest := timeline.Segment{From: g.tail, To: begun, Phase: timeline.PhaseHandler, Cause: timeline.CauseUnknown, Quality: timeline.Inferred, Call: timeline.None, Strand: r.Strand, Blocker: timeline.None}
	switch {
	case len(s.asks(r, rest)) > 0:
	case u.Timer, s.sleeps(r, u, g):
		rest.Cause = timeline.CauseSleep
	case atOnce && u.Queued, begun == wanted && !atOnce && !timeline.Slept(s.t, r.Strand, g.tail, begun):
		s.waitFor(wait{r, r.Strand, g.tail, begun, timeline.PhaseHandler, timeline.None}, timeline.Inferred, p)
		return begun
	}
	s.blank(r, rest, p)
	return begun
}

// givenUp returns the call that a request gave up before or in a turn that nothing from outside began: the request had
// waited for the answer until its own timeout. The call's connection was closed since the previous turn, and nothing of
// an answer had arrived.
func (s *segmenter) givenUp(r *timeline.Request, u *loops.Turn, since recording.Time) timeline.CallID {
	if u.Call != timeline.None || u.How == loops.ResumeRead || u.How == loops.ResumeBody {
		return timeline.None
	}
	for _, id := range s.callsOf.Of(int(r.ID)) {
		c := &s.t.Calls[id]
		if !c.Cut || c.Arrived != recording.NoTime || c.End <= since || c.End > u.To {
			continue
		}
		if cn := &s.t.Conns[s.in.Calls[id].Conn]; cn.By == recording.ClosedByUs && cn.Closed == c.End {
			return id
		}
	}
	return timeline.None
}

// handedOver tiles the end of a gap by what other strands did for the request. After the loop turned to something else
// and until a strand had begun, the work lay in a queue, or waited in the loop until it could have a thread. If no other
// request was open and the loop itself woke the strand, the loop was on its way to that. When the work was done, the loop
// had to attend to the result. handedOver returns where that ended: where the gap began, if no strand worked for the
// request.
func (s *segmenter) handedOver(r *timeline.Request, g gap, p *painter) recording.Time {
	at := g.tail
	if len(s.in.Parts) == 0 {
		return at
	}
	for i := range s.in.Parts[r.ID] {
		part := &s.in.Parts[r.ID][i]
		from, to := max(part.From, at), min(part.To, g.to)
		if from >= to || part.Strand == r.Strand {
			continue
		}
		if part.By == r.Strand && aloneIn(s, r, at, from) { // it came to that by itself: nobody else had a thread
			wayTo(s, r, span{from: at, to: from}, p)
		} else {
			s.queued(r, part.Strand, follow{strand: r.Strand, from: at, to: from}, p)
		}
		s.follow(r, follow{part.Strand, from, to, s.spans(r.ID, part.Strand), 1}, p)
		at = to
	}
	if at > g.tail {
		wayTo(s, r, span{from: at, to: g.to}, p)
		return g.to
	}
	return at
}

// aloneIn reports whether no other request of its process was open in a span.
func aloneIn(s *segmenter, r *timeline.Request, from, to recording.Time) bool {
	o := s.open[r.Process]
	return o != nil && o.During(from, to) == 1
}

// wayTo tiles a span at whose end the loop did something for the request. If no other request is open, what the loop did
// since it last waited for events leads to that, and is the request's own; otherwise it may have been for others.
func wayTo(s *segmenter, r *timeline.Request, w span, p *painter) {
	own := w.to
	if aloneIn(s, r, w.from, w.to) {
		own = w.from
		for _, iv := range slices.Backward(timeline.Clipped(s.t.Strands[r.Strand].Intervals, w.from, w.to)) {
			if iv.Off != nil && iv.State == timeline.StateSleeping && timeline.PollWait(iv.Off.Syscall) {
				own = min(max(iv.To, w.from), w.to)
				break
			}
		}
	}
	s.readerWait(wait{r, r.Strand, w.from, own, timeline.PhaseHandler, timeline.None}, p)
	s.ownTurn(r, stretch{nil, own, w.to}, p)
}

// pending tiles a span in which a request waited for its call to proceed. Until what it resumed for was ready, the
// phase is the cause; after that, what the loop did instead.
func (s *segmenter) pending(r *timeline.Request, w stretch, p *painter) {
	u, from, to := w.turn, w.from, w.to
	c := &s.t.Calls[u.Call]
	b := &s.in.Calls[u.Call].Bounds
	ready := u.Ready
	if c.DNSTo != recording.NoTime && u.From <= c.ConnectFrom {
		ready = c.DNSTo
	}
	if ready == recording.NoTime || ready > to {
		ready = to
	}
	for ph := timeline.PhaseQueue; ph <= timeline.PhaseReceive; ph++ {
		at, end := max(b[ph], from), min(b[ph+1], to)
		if at >= end {
			continue
		}
		if ph == timeline.PhaseQueue && c.New && c.DNSFrom == recording.NoTime {
			// A name was resolved without a query: that is quick, but when it happened is not known.
			s.readerWait(wait{r, w.of(r), at, end, ph, u.Call}, p)
			continue
		}
		g := timeline.Segment{From: at, To: min(end, max(ready, at)), Phase: ph, Cause: timeline.CauseRemote, Call: u.Call, Strand: w.of(r), Blocker: timeline.None}
		if ph == timeline.PhaseQueue {
			g.Cause, g.Quality = timeline.CausePool, timeline.Inferred
		}
		p.add(g)
		s.readerWait(wait{r, w.of(r), max(g.To, at), end, ph, u.Call}, p)
	}
}

// ownTurn tiles a span in which the loop worked for the request, by the loop's state. Work on a call's connection
// before the call is sent, or on its answer, belongs to that phase. If a call began and ended within one turn in which
// the loop slept, a blocking client made it on the loop's own thread: for that time the loop is treated like any
// thread.
func (s *segmenter) ownTurn(r *timeline.Request, w stretch, p *painter) {
	for _, id := range s.callsOf.Of(int(r.ID)) {
		c, b := &s.t.Calls[id], &s.in.Calls[id].Bounds
		if w.turn == nil || c.Strand != r.Strand || b[0] < max(w.from, w.turn.From) || b[timeline.PhaseReceive+1] > w.to || !timeline.Slept(s.t, r.Strand, b[0], b[timeline.PhaseReceive+1]) {
			continue
		}
		s.turnState(r, stretch{w.turn, w.from, b[0]}, p)
		one := follow{strand: r.Strand, from: b[0], to: b[timeline.PhaseReceive+1]}
		for ph := timeline.PhaseQueue; ph <= timeline.PhaseReceive; ph++ {
			if b[ph] < b[ph+1] {
				one.spans = append(one.spans, span{b[ph], b[ph+1], id, ph})
			}
		}
		s.follow(r, one, p)
		w.from = one.to
	}
	s.turnState(r, w, p)
}

// turnState tiles a span of a turn, or before one, by the loop's state.
func (s *segmenter) turnState(r *timeline.Request, w stretch, p *painter) {
	strand := w.of(r)
	for _, iv := range timeline.Clipped(s.t.Strands[strand].Intervals, w.from, w.to) {
		at, end := max(iv.From, w.from), min(iv.To, w.to)
		for at < end {
			g := timeline.Segment{From: at, To: end, Phase: timeline.PhaseHandler, Call: timeline.None, Strand: strand, Blocker: timeline.None}
			if w.turn != nil && w.turn.Call != timeline.None && s.t.Calls[w.turn.Call].Request == r.ID {
				s.phase(&g, w.turn.Call)
			}
			at = g.To
			var known bool
			if g.Cause, g.Quality, known = s.stateCause(strand, iv); known {
				if w.turn != nil && w.turn.Queued {
					g.Quality = max(g.Quality, timeline.Inferred)
				}
				p.add(g)
			}
		}
	}
}

// phase cuts a piece at the next bound of a call, and gives it the call's phase if what the loop does then is work on
// the call itself.
func (s *segmenter) phase(g *timeline.Segment, id timeline.CallID) {
	b := &s.in.Calls[id].Bounds
	if g.From < b[0] {
		g.To = min(g.To, b[0])
		return
	}
	if g.From >= b[timeline.PhaseReceive+1] {
		return
	}
	ph := b.PhaseAt(g.From)
	g.To = min(g.To, b[ph+1])
	switch ph {
	case timeline.PhaseDNS, timeline.PhaseConnect, timeline.PhaseTLS, timeline.PhaseSend, timeline.PhaseReceive:
		g.Phase, g.Call = ph, id
	}
}

// lastGap tiles the end of a request that was cut: by the pending call, if there is one, and by what other strands did
// for the request. One of those may have answered it. A request that the loop answered ends in a turn of its own.
func (s *segmenter) lastGap(r *timeline.Request, cut, tail recording.Time, p *painter) {
	if cut >= r.End {
		return
	}
	for _, id := range s.callsOf.Of(int(r.ID)) {
		if c := &s.t.Calls[id]; c.End >= r.End && c.Start < r.End {
			u := loops.Turn{From: r.End, Request: r.ID, Strand: r.Strand, How: loops.ResumeCall, Call: id, Ready: c.Arrived}
			s.gap(r, &u, gap{cut, min(tail, r.End), r.End, place{}}, p)
			return
		}
	}
	tail = min(tail, r.End)
	s.ownTurn(r, stretch{nil, cut, tail}, p)
	s.handedOver(r, gap{cut, tail, r.End, place{}}, p)
}
