package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// What follows `await sleep(5)` runs as a promise's callback, whose ids lead to no request. But the timer's own
// callback resolves that promise, and has the id that was given out where the timer was set: in a turn of the
// request that sleeps. So where Node is seen to resolve promises in the callbacks of timers and immediates, what
// the loop does next is in a turn of a known request, as after the read of an answer. The same holds for what the
// thread pool has done. It does not hold for timers that fire again and again, for those that no request set, and for
// those of a request that was answered before. Promises that are resolved in the turn of a read, by the handle of its
// connection or by what was asked for in it, begin no turn: that of the read goes on (MoveAlong).

// firedAgain lists the ids of timers that fired more than once: nobody sleeps for those.
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

// fired notes in a move which shows that a timer fired who waited for that.
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
		m.Kind = loops.MoveAlong // by what goes on after the read, each request under an id of its own
		return
	case w.turn.of != loops.Nobody && (w.again[m.Exec] && !m.Done || w.fresh(m.Exec) && w.asker(m) == loops.Nobody || w.parses(m)):
		m.Kind = loops.MoveAlong // of what was read: by the handle of its connection, or a tick
		return
	case w.again[m.Exec] && !m.Done:
		return
	}
	who := w.ids.find(m.Exec)
	if before, _ := w.ids.maybe(m.Exec); before != loops.Nobody {
		who = before // the other is whose callback a library sent from: promises are not waited for there
	}
	if asker := w.asker(m); asker != loops.Nobody {
		who = asker
	}
	if w.turn.of != loops.Nobody && w.turn.conn != loops.NoConn && !m.Done && w.chains.isPlaceholder(who) {
		w.chains.meet(who, w.turn.of)
		m.Kind = loops.MoveAlong // by what goes on after the read
		return
	}
	if w.callsItself(m, who) {
		m.Kind = loops.MoveAlong
		return
	}
	if c, ok := w.turn.of.Call(); ok && w.turn.conn != loops.NoConn && (w.chains.same(who, w.turn.of) || who != loops.Nobody && who == w.hands.made[c]) {
		m.Kind = loops.MoveAlong // by what was made when the call was
		return
	}
	if r := w.chains.known(who); r != timeline.None && w.t.Requests[r].End < m.At {
		who = loops.Nobody
	}
	if who == loops.Nobody && w.named != nil && w.turn.of != loops.Nobody && !w.chains.isPlaceholder(w.turn.of) && !m.Done {
		m.Kind = loops.MoveAlong // by what goes on after the read, as far as is known: it has not slept since
		return
	}
	if m.By = who; who == loops.Nobody {
		m.By = w.stranger()
	}
}

// namedPromises reports whether promises have async ids of their own, as they have where a program
// follows contexts through them: then what goes on after one is done under its id. Otherwise that has
// none, nor has what it asks for.
func namedPromises(moves []loops.Move, handles lasting) bool {
	sent, told := causality.Tally{}, false // odd: under no id
	for i := range moves {
		m := &moves[i]
		switch {
		case m.Kind == loops.MoveFired:
			told = true
		case !m.Callback():
			told = false
		case m.Kind == loops.MoveAlong || m.Kind == loops.MovePost: // nothing is sent to anybody
		case told && handles.has(m.Trigger):
		case told:
			sent.Add(m.Trigger == 0)
		}
	}
	return sent.Holds(manyNamed, causality.Surely)
}

// manyNamed is how many calls and responses must be sent under an id before promises are said to have them.
const manyNamed = 50

// noteSleeps notes in the moves that begin turns when the first timer fired that was set in them, or the first
// message came that answers one sent in them.
func noteSleeps(moves []loops.Move, again map[int64]bool) {
	note := func(set, fired *loops.Move) {
		if set.At < fired.At && set.Fires == 0 {
			set.Fires = fired.At
		}
	}
	eachTimer(moves, again, note)
	loops.EachMail(moves, note)
}

// eachTimer finds for each timer that fired, but for those that fired again, the move that began
// the turn in which it was set.
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

// toldMoves are the moves of a loop for as long as timers are seen to fire: none if they never are.
func toldMoves(moves []loops.Move) []loops.Move {
	last, silent := -1, 0 // how often timers ran since the last that was seen to fire
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

// silentTimers is how often timers run, with none that is seen to resolve a promise, until it is
// taken that this is not told any longer.
const silentTimers = 100
