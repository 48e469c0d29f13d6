package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// This file finds the owner of a callback that resolves a promise and is not a timer's.

// callsItself reports whether a promise was resolved under the id of a call that was just answered. The owner of that
// id is the call's owner, wherever in the client the call had to wait before it was sent.
func (w *asyncWalk) callsItself(m *loops.Move, who loops.Owner) bool {
	c, ok := w.turn.of.Call()
	if !ok || m.Done || w.turn.conn == loops.NoConn || m.Exec > w.turn.counter || w.itself[c] || !w.selves[w.t.Calls[c].Peer] {
		return false
	}
	w.itself[c] = true
	w.chains.link(c, who)
	return true
}

// asker is the owner that asked for what called back, if a promise is resolved in a tick of that callback, which is
// as new as the callback. This is the case for answers of the thread pool, as of zlib or crypto. Nobody if what
// called back did so in other turns too, as the handle of a connection does.
func (w *asyncWalk) asker(m *loops.Move) loops.Owner {
	if m.Trigger == 0 || m.Exec <= w.ids.next && w.ids.find(m.Exec) != loops.Nobody && !w.fresh(m.Exec) || w.fresh(m.Trigger) || w.causes.has(m.Trigger) {
		return loops.Nobody
	}
	return w.ids.find(m.Trigger)
}

// parses reports whether a promise was resolved in the turn of a request by the parser of requests on its connection,
// whose id follows the connection's.
func (w *asyncWalk) parses(m *loops.Move) bool {
	_, read := w.turn.of.Request()
	return read && !m.Done && w.turn.conn != loops.NoConn && m.Exec == m.Trigger+1
}

// selfCalled lists peers whose client gives each call an id of its own when the call is asked for, and calls back
// under that id when it is answered, as undici does. Nearly all answers must show it. Timers that fired again show
// nothing.
func selfCalled(t *timeline.Timeline, moves []loops.Move, again map[int64]bool) map[string]bool {
	answers := map[string]*causality.Tally{} // odd: nothing called back under an older id right after the answer
	last := (*loops.Move)(nil)               // an answer after which nothing was resolved yet
	for i := range moves {
		m := &moves[i]
		switch {
		case m.Kind == loops.MoveFired && last != nil && !again[m.Exec]:
			if m.Exec <= last.Counter {
				answers[t.Calls[last.Call].Peer].Odd--
			}
			last = nil
		case m.Kind == loops.MoveAnswer:
			lists.Entry(answers, t.Calls[m.Call].Peer).Add(true)
			last = m
		case m.Kind != loops.MoveFired && !m.Callback():
			last = nil
		}
	}
	selves := map[string]bool{}
	for peer, n := range answers {
		selves[peer] = n.Holds(1, causality.Surely)
	}
	return selves
}

// causes returns the triggers of callbacks that resolved promises in more than one turn. If promises have ids, one
// promise triggers everything that was asked for in one turn, whenever each of these calls back. Then the turns count
// in which they were asked for.
func causes(moves []loops.Move, named bool) lasting {
	seen, turn, given := lasting{}, int32(0), newIDTurns(moves)
	for i := range moves {
		m := &moves[i]
		if m.Kind != loops.MoveFired {
			if !m.Callback() {
				turn++
			}
			continue
		}
		in := turn
		if named {
			in = int32(given.of(m.Exec)) + 1
		}
		seen.see(m.Trigger, in)
	}
	return seen
}
