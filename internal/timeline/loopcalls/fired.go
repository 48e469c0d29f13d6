package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// What follows `await sleep(5)` runs as a promise's callback, whose ids lead to no request. But the timer's own
// callback resolves that promise, and has the id that was given out where the timer was set: in a turn of the request
// that sleeps. So if Node is seen to resolve promises in the callbacks of timers and immediates, what the loop does
// next is in a turn of a known request, as after the read of an answer. The same holds for what the thread pool has
// done.
//
// It does not hold for timers that fire again and again, for timers that no request set, or for those of a request
// that was answered before. Promises that are resolved in the turn of a read, by the handle of its connection or by
// something that was asked for in the turn, begin no turn of their own: the turn of the read continues (MoveAlong).

// firedAgain lists the ids of timers that fired; true: more than once. No request sleeps for those.
func firedAgain(moves []loops.Move) map[int64]bool {
	again := map[int64]bool{}
	for i := range moves {
		if m := &moves[i]; m.Kind == loops.MoveFired {
			_, before := again[m.Exec]
			again[m.Exec] = before
		}
	}
	return again
}

// fired notes, in a move which shows that a timer fired, the owner that waited for the timer.
func (w *asyncWalk) fired(m *loops.Move) {
	switch {
	case m.Kind != loops.MoveFired:
		return
	case m.Post != 0:
		m.By = w.answersMail(m)
		return
	case m.Port != 0 || w.ports[m.Exec]:
		m.Port, m.By = m.Exec, w.stranger()
		return
	case w.named[w.turn.conn] && !m.Done:
		m.Kind = loops.MoveAlong // by code that continues after the read, each request under an id of its own
		return
	case w.turn.of != loops.Nobody && (w.again[m.Exec] && !m.Done || w.fresh(m.Exec) && w.asker(m) == loops.Nobody || w.parses(m)):
		m.Kind = loops.MoveAlong // part of the read's turn: by the handle of its connection, or by a tick
		return
	case w.again[m.Exec] && !m.Done:
		return
	}
	who := w.ids.find(m.Exec)
	if before, _ := w.ids.maybe(m.Exec); before != loops.Nobody {
		who = before // the other owner is the one whose callback a library sent from: promises are not awaited there
	}
	if asker := w.asker(m); asker != loops.Nobody {
		who = asker
	}
	if w.turn.of != loops.Nobody && w.turn.conn != loops.NoConn && !m.Done && w.chains.isPlaceholder(who) {
		w.chains.meet(who, w.turn.of)
		m.Kind = loops.MoveAlong // by code that continues after the read
		return
	}
	if w.callsItself(m, who) {
		m.Kind = loops.MoveAlong
		return
	}
	if c, ok := w.turn.of.Call(); ok && w.turn.conn != loops.NoConn && (w.chains.same(who, w.turn.of) || who != loops.Nobody && who == w.hands.made[c]) {
		m.Kind = loops.MoveAlong // by something that was made when the call was
		return
	}
	if r := w.chains.known(who); r != timeline.None && w.t.Requests[r].End < m.At {
		who = loops.Nobody
	}
	if who == loops.Nobody && w.named != nil && w.turn.of != loops.Nobody && !w.chains.isPlaceholder(w.turn.of) && !m.Done {
		m.Kind = loops.MoveAlong // by code that continues after the read, as far as is known: the loop has not slept since
		return
	}
	if m.By = who; who == loops.Nobody {
		m.By = w.stranger()
	}
}

// namedPromises reports whether promises have async ids of their own. They have if a program follows contexts through
// promises: then what continues after a promise runs under its id. Otherwise that code has no id, and neither has
// what it asks for.
func namedPromises(moves []loops.Move, handles lasting) bool {
	sent, told := causality.Tally{}, false // odd: under no id
	for i := range moves {
		m := &moves[i]
		switch {
		case m.Kind == loops.MoveFired:
			told = true
		case !m.Callback():
			told = false
		case m.Kind == loops.MoveAlong || m.Kind == loops.MovePost: // nothing is sent to a peer or client
		case told && handles.has(m.Trigger):
		case told:
			sent.Add(m.Trigger == 0)
		}
	}
	return sent.Holds(manyNamed, causality.Surely)
}

// manyNamed is how many calls and responses must be sent under an id before promises are taken to have ids.
const manyNamed = 50

// noteSleeps notes, in the moves that begin turns, when the first timer fired that was set in the turn, or when the
// first message came that answers one sent in it.
func noteSleeps(moves []loops.Move, again map[int64]bool) {
	note := func(set, fired *loops.Move) {
		if set.At < fired.At && set.Fires == 0 {
			set.Fires = fired.At
		}
	}
	eachTimer(moves, again, note)
	loops.EachMail(moves, note)
}

// eachTimer finds, for each timer that fired only once, the move that began the turn in which it was set.
func eachTimer(moves []loops.Move, again map[int64]bool, found func(set, fired *loops.Move)) {
	if len(again) == 0 {
		return
	}
	turns := newIDTurns(moves)
	for i := range moves {
		m := &moves[i]
		if m.Kind != loops.MoveFired || again[m.Exec] {
			continue
		}
		if begin := turns.of(m.Exec); begin != timeline.None {
			found(&moves[begin], m)
		}
	}
}

// toldMoves returns the moves of a loop for as long as timers are seen to fire: none if they never are.
func toldMoves(moves []loops.Move) []loops.Move {
	last, silent := -1, 0 // how often timers ran since one was last seen to fire
	for i := range moves {
		switch m := &moves[i]; m.Kind {
		case loops.MoveFired, loops.MoveAlong:
			last, silent = i, 0
		case loops.MoveBoundary:
			silent += int(m.Trigger)
		case loops.MoveUntold:
			silent = silentTimers
		}
		if last >= 0 && silent >= silentTimers {
			return moves[:last+1]
		}
	}
	if last < 0 {
		return nil
	}
	return moves
}

// silentTimers is how often timers must run without one being seen to resolve a promise, before we assume that this
// is no longer recorded.
const silentTimers = 100
