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
	r.associate()
	for i, id := range r.calls {
		in.sure[id] = t.Calls[id].Request != timeline.None && r.of[i] == t.Calls[id].Request
	}
	return true
}

// toldTurns is what is known where all turns are: what is sent in the turn of an answer is of whose call that
// was, unless who goes on had waited for the same answer.
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
