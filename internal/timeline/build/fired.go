package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// `await sleep(5)` goes on as a promise's callback, whose ids lead to nobody. But the timer's own
// callback resolves that promise, and has the id that was given out where it was set: in the turn
// of whoever sleeps. So where Node is seen to resolve promises in the callbacks of timers and
// immediates, what a loop does next is of a known turn, as after the read of an answer; so it is of
// what the thread pool has done. That is not so of timers which fire again and again, nor of those
// of no request, nor of a request that was answered long ago. In the turn of a read promises are
// resolved by the handle of its connection, or by what was asked for in it: it goes on.

// firedAgain lists the ids of timers that fired more than once: nobody sleeps for those.
func firedAgain(moves []move) map[int64]bool {
	again := map[int64]bool{}
	for i := range moves {
		if m := &moves[i]; m.kind == moveFired {
			_, before := again[m.exec]
			again[m.exec] = before
		}
	}
	return again
}

// fired notes in a move which shows that a timer fired who waited for that.
func (w *asyncWalk) fired(m *move) {
	switch {
	case m.kind != moveFired:
		return
	case m.post != 0:
		m.by = w.answersMail(m)
		return
	case m.port != 0 || w.ports[m.exec]:
		m.port, m.by = m.exec, w.stranger()
		return
	case w.named[w.turn.conn] && !m.done:
		m.kind = moveAlong // by what goes on after the read, each request under an id of its own
		return
	case w.turn.of != nobody && (w.again[m.exec] && !m.done || w.fresh(m.exec) && w.asker(m) == nobody || w.parses(m)):
		m.kind = moveAlong // of what was read: by the handle of its connection, or a tick
		return
	case w.again[m.exec] && !m.done:
		return
	}
	who := w.ids.find(m.exec)
	if before, _ := w.ids.maybe(m.exec); before != nobody {
		who = before // the other is whose callback a library sent from: promises are not waited for there
	}
	if asker := w.asker(m); asker != nobody {
		who = asker
	}
	if w.turn.of != nobody && w.turn.conn != noConn && !m.done && w.chains.stranger(who) {
		w.chains.meet(who, w.turn.of)
		m.kind = moveAlong // by what goes on after the read
		return
	}
	if w.callsItself(m, who) {
		m.kind = moveAlong
		return
	}
	if c, ok := w.turn.of.call(); ok && w.turn.conn != noConn && (w.chains.same(who, w.turn.of) || who != nobody && who == w.hands.made[c]) {
		m.kind = moveAlong // by what was made when the call was
		return
	}
	if r := w.chains.known(who); r != timeline.None && w.t.Requests[r].End < m.at {
		who = nobody
	}
	if who == nobody && w.named != nil && w.turn.of != nobody && !w.chains.stranger(w.turn.of) && !m.done {
		m.kind = moveAlong // by what goes on after the read, as far as is known: it has not slept since
		return
	}
	if m.by = who; who == nobody {
		m.by = w.stranger()
	}
}

// namedPromises are the shared connections of a loop where promises have async ids of their own, as they have where a program
// follows contexts through them: then what goes on after one is done under its id. Otherwise that has
// none, nor has what it asks for.
func namedPromises(t *timeline.Timeline, moves []move) map[int32]bool {
	with, without, told, handles := 0, 0, false, lastingIDs(t, moves, nil)
	for i := range moves {
		m := &moves[i]
		switch {
		case m.kind == moveFired:
			told = true
		case !m.callback():
			told = false
		case m.kind == moveAlong || m.kind == movePost: // nothing is sent to anybody
		case told && handles.has(m.trigger):
		case told && m.trigger != 0:
			with++
		case told:
			without++
		}
	}
	if with <= mostNameless*(1+without) {
		return nil
	}
	return sharedConns(t, moves).index()
}

// mostNameless is for how many calls and responses that are sent under an id one may be that is not.
const mostNameless = 50

// noteSleeps notes in the moves that begin turns when the first timer fired that was set in them, or the first
// message came that answers one sent in them.
func noteSleeps(moves []move, again map[int64]bool) {
	note := func(set, fired *move) {
		if set.at < fired.at && set.fires == 0 {
			set.fires = fired.at
		}
	}
	eachTimer(moves, again, note)
	eachMail(moves, note)
}

// eachTimer finds for each timer that fired, but for those that fired again, the move that began
// the turn in which it was set.
func eachTimer(moves []move, again map[int64]bool, found func(set, fired *move)) {
	if len(again) == 0 {
		return
	}
	turns := newIDTurns(moves)
	for i := range moves {
		m := &moves[i]
		if m.kind != moveFired || again[m.exec] {
			continue
		}
		if begin := turns.of(m.exec); begin != timeline.None {
			found(&moves[begin], m)
		}
	}
}

// toldMoves are the moves of a loop for as long as timers are seen to fire: none if they never are.
func toldMoves(moves []move) []move {
	last, silent := -1, 0 // how often timers ran since the last that was seen to fire
	for i := range moves {
		switch m := &moves[i]; m.kind {
		case moveFired, moveAlong:
			last, silent = i, 0
		case moveBoundary:
			silent += int(m.trigger)
		case moveUntold:
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

// woke is the turn that begins as a timer fires.
func (p *poolOrder) woke(m *move) poolTurn {
	u := poolTurn{of: timeline.None, call: timeline.None, at: m.at, woke: true, fires: m.fires}
	if r, ok := m.by.request(); ok {
		u.of = r
	} else if c, ok := m.by.call(); ok {
		u.of = p.owner(c)
	}
	return u
}

// sleeps reports whether the request of a turn waits for a timer since.
func (p *poolOrder) sleeps(u *poolTurn) bool {
	if u.fires == 0 {
		return false
	}
	done := p.t.Requests[u.of].FirstWrite
	return done == recording.NoTime || u.fires < done
}

// associateLeft associates the calls of a loop that ids alone do not give to a request. What is
// found where timers are seen to fire confirms nothing of what is guessed where they are not.
func associateLeft(t *timeline.Timeline, in asyncInput) {
	if !anyInLine(t, in) && !idsMislead(t, in) {
		return
	}
	all, told := in.loop.moves, toldMoves(in.loop.moves)
	if in.loop.moves = told; len(told) > 0 {
		turns := associateTold(t, in)
		if !associateInLine(t, in) && !turns {
			associateInTurns(t, in)
		}
		in.told = told[len(told)-1].at
	}
	if len(told) == len(all) {
		return
	}
	rest := in
	in.loop.moves, rest.loop.moves = all, all[len(told):]
	if !associateBesideTimers(t, in) && !associateInLine(t, rest) {
		associateInTurns(t, in)
	}
}
