package loopcalls

import (
	"maps"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// associateTold associates the calls of a loop of which all turns are known, as far as responses
// confirm it. It reports whether they do.
func associateTold(t *timeline.Timeline, in asyncInput) bool {
	defer in.chains.reset()
	r := tellTurns(t, in)
	if !r.confirmed {
		return false
	}
	r.associate(timeline.WhyTurnTold)
	for i, id := range r.calls {
		in.sure[id] = t.Calls[id].Request != timeline.None && r.of[i] == t.Calls[id].Request
	}
	return true
}

// toldTurns is what is known where it is told whose each turn is: what is sent in the turn of an answer is of the request
// whose call was answered, unless several requests had waited for the same answer (joined).
type toldTurns struct {
	joined *causality.Joined[timeline.RequestID, timeline.CallID]
	ahead  []int32                  // by move that begins a turn: calls that are sent in it
	shared map[int32]bool           // connections on which several requests send at once, by index in facts.conns: left to associateShared
	atOnce map[timeline.CallID]bool // calls that were answered with others at once: what follows may be of any of them
}

// tellTurns goes over what a loop did; and once more, if responses do not confirm what that tells, with requests that may go
// on in the turns of others' calls, too.
func tellTurns(t *timeline.Timeline, in asyncInput) *reading {
	in.loop.Moves = whereAskedFor(t, in.loop.Moves, in.lasting)
	joined := causality.NewJoined[timeline.RequestID, timeline.CallID]()
	turns := toldTurns{joined: joined, shared: in.shared, atOnce: in.together, ahead: sendsAhead(t, in.loop.Moves, in.shared)}
	play := func(others bool) *reading {
		in.chains.reset()
		joined.Begin(others)
		w := newInTurns(t, in.chains)
		w.told, w.by = &turns, in.hands.by
		w.play(in)
		return w.reading(causality.Surely)
	}
	r := play(false)
	maps.Copy(in.atOnce, joined.Most)
	if !r.confirmed {
		r = play(true)
	}
	return r
}

// sendsAhead counts, by move that begins a turn, the calls that are sent in it, but for those on some connections.
func sendsAhead(t *timeline.Timeline, moves []loops.Move, but map[int32]bool) []int32 {
	ahead, n := make([]int32, len(moves)), int32(0)
	for i := len(moves) - 1; i >= 0; i-- {
		switch m := &moves[i]; {
		case !m.Callback():
			ahead[i], n = n, 0
		case sendsFirst(t, m) && !but[m.Conn]:
			n++
		}
	}
	return ahead
}

// goesOn is who goes on in the turn that a move begins in which a promise is resolved.
func (w *inTurns) goesOn(m *loops.Move) loops.Owner {
	switch {
	case w.told == nil:
		return m.By
	case m.Post != 0:
		return w.answersMail(m)
	}
	return w.alone(m.By)
}

// follow tells who may wait, before a move counts.
func (w *inTurns) follow(m *loops.Move) {
	if m.Kind == loops.MoveFired {
		w.wakes = w.goesOn(m)
	}
	if w.told == nil || w.isShared(m) {
		return
	}
	next, from := loops.Nobody, w.sets.known(w.turn.of)
	if !m.Callback() {
		w.told.joined.End()
	}
	switch m.Kind {
	case loops.MoveRead, loops.MoveBody:
		w.told.joined.Come(m.Request, w.t.Requests[m.Request].Endpoint)
		next = m.Whose()
	case loops.MoveAnswer:
		if w.t.Calls[m.Call].End == m.At {
			w.told.joined.Answer(m.Call)
		}
		next = loops.OfCall(m.Call)
	case loops.MoveFired:
		next = w.wakes
		w.told.joined.Wake(w.sets.known(next))
	case loops.MoveRespond:
		w.stood = w.told.joined.Stands(m.Request)
		w.told.joined.Over(m.Request)
		return
	case loops.MoveBlock, loops.MoveBoundary, loops.MoveUntold, loops.MoveForeign:
	default:
		return
	}
	w.told.joined.Turn(from, w.sets.known(next), m.At, m.Fires)
	if m.Kind == loops.MoveAnswer && w.t.Calls[m.Call].End == m.At {
		w.told.joined.Sends(w.sets.known(next), int(w.told.ahead[w.place]))
	}
}

// sendTold links a call where all turns are known.
func (w *inTurns) sendTold(m *loops.Move, here bool) {
	if w.sets.known(loops.OfCall(m.Call)) == timeline.None {
		switch r, decided := w.told.joined.Next(); {
		case decided && r != timeline.None:
			w.sets.link(m.Call, loops.OfRequest(r))
		case !decided && here:
			w.sets.link(m.Call, w.turn.of)
		}
	}
	w.told.joined.Send(m.Call, w.sets.known(loops.OfCall(m.Call)))
}

// idSpan are the ids from the beginning of the turn in which a call was sent up to that.
type idSpan struct{ after, to int64 }

// same reports whether who goes on where a promise is resolved, of whom nothing else is known, is who has just
// been answered: its id was given out as that call was asked for, or since the answer.
func (w *inTurns) same(m *loops.Move) bool {
	answered, ok := w.turn.of.Call()
	if w.told == nil || !ok || w.wakes != loops.Nobody {
		return false
	}
	s, sent := w.spans[answered]
	return sent && (m.Exec > s.after && m.Exec <= s.to || m.Exec > w.turn.counter)
}

// alone is somebody, unless that is who asked for a call that was answered with others at once.
func (w *inTurns) alone(by loops.Owner) loops.Owner {
	if id, ok := by.Call(); ok && w.told.atOnce[id] {
		return loops.Nobody
	}
	return by
}

// elsewhere reports a response that tells nothing of whose turn it was written in.
func (w *inTurns) elsewhere(m *loops.Move) bool {
	if w.told == nil {
		return false
	}
	return w.turn.of == loops.Nobody || w.stood && w.sets.known(w.turn.of) != m.Request
}

// isShared reports a move on a connection that is left to associateShared.
func (w *inTurns) isShared(m *loops.Move) bool { return w.told != nil && w.told.shared[m.Conn] }
