package build

import "github.com/getdwell/dwell/internal/timeline"

// Whose a callback is that resolves a promise, where it is not of a timer.

// callsItself reports whether a promise was resolved under the id of a call that was just answered:
// that is whose the call is, wherever in the client it had to wait before it was sent.
func (w *asyncWalk) callsItself(m *move, who ref) bool {
	c, ok := w.turn.of.call()
	if !ok || m.done || w.turn.conn == noConn || m.exec > w.turn.counter || w.itself[c] || !w.selves[w.t.Calls[c].Peer] {
		return false
	}
	w.itself[c] = true
	w.chains.link(c, who)
	return true
}

// asker is who asked for what called back when a promise is resolved in a tick of that callback,
// which is as new as the callback: an answer of the thread pool, as of zlib or crypto. Nobody where
// what called back did so in other turns too, as the handle of a connection does.
func (w *asyncWalk) asker(m *move) ref {
	if m.trigger == 0 || m.exec <= w.ids.next && w.ids.find(m.exec) != nobody && !w.fresh(m.exec) || w.fresh(m.trigger) || w.causes.has(m.trigger) {
		return nobody
	}
	return w.ids.find(m.trigger)
}

// parses reports whether a promise was resolved in the turn of a request by what parses requests on
// its connection, whose id follows the connection's.
func (w *asyncWalk) parses(m *move) bool {
	_, read := w.turn.of.request()
	return read && !m.done && w.turn.conn != noConn && m.exec == m.trigger+1
}

// selfCalled lists peers whose client gives each call an id of its own when it is asked for, and
// calls back under that when it is answered, as undici does: nearly all answers show it.
func selfCalled(t *timeline.Timeline, moves []move) map[string]bool {
	again := firedAgain(moves)
	answers, own := map[string]int{}, map[string]int{}
	last := (*move)(nil) // an answer after which nothing was told yet
	for i := range moves {
		m := &moves[i]
		switch {
		case m.kind == moveFired && last != nil && !again[m.exec]:
			if m.exec <= last.counter {
				own[t.Calls[last.call].Peer]++
			}
			last = nil
		case m.kind == moveAnswer:
			answers[t.Calls[m.call].Peer]++
			last = m
		case m.kind != moveFired && !m.callback():
			last = nil
		}
	}
	selves := map[string]bool{}
	for peer, n := range answers {
		selves[peer] = 10*own[peer] >= 9*n
	}
	return selves
}

// causes are the triggers of callbacks that resolved promises in more than one turn. Where promises have ids,
// one triggers all that was asked for in one turn, whenever each of that calls back: then it counts when
// they were asked for.
func causes(moves []move, named bool) lasting {
	seen, turn, given := lasting{}, int32(0), newIDTurns(moves)
	for i := range moves {
		m := &moves[i]
		if m.kind != moveFired {
			if !m.callback() {
				turn++
			}
			continue
		}
		in := turn
		if named {
			in = int32(given.of(m.exec)) + 1
		}
		seen.see(m.trigger, in)
	}
	return seen
}
