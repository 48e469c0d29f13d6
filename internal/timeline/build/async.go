package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// asyncWalk follows one loop through its moves and collects the evidence about whose
// its calls are.
//
// A turn begins when the loop reads a request or an answer. What is written in a turn
// with an execution id given out since is of the request that was read, or of the same
// request as the call that was answered. An older trigger id says that the write was
// asked for earlier, and waited for a socket: it belongs to whom the loop worked for
// when that id was given out. The execution id alone would mistake such a request for
// the one whose answer freed the socket. A trigger id of 0 is a promise's: then the
// turn is only a hint, for timers and the like may run in it unseen.
type asyncWalk struct {
	t      *timeline.Timeline
	f      *facts.Facts
	ids    asyncIDs
	owner  ref
	slept  bool // since the last move that told where the ids stood
	carry  ref  // the owner before that sleep
	turn   asyncTurn
	conns  []asyncConn    // by index in facts.conns
	last   recording.Time // of the move before
	oldest int64          // last id given out before the recording
	chains *chains
	wanted []recording.Time // by call: the move before the ids of its write were given out
	hands  askedIn
	lasting
	together       askedAtOnce
	handles        map[int64]int32 // of inbound connections: which those are
	idle           idle
	again          map[int64]bool           // timers that fired: more than once
	ports          map[int64]bool           // of them, the ids under which messages come
	posted         map[int32]ref            // who sent messages, by their numbers
	causes         lasting                  // what called back
	itself         map[timeline.CallID]bool // answered calls of which it did
	named          map[int32]bool           // as in asyncInput
	few            int64                    // ids, at most, are given out by a callback that was asked for in another turn until it has sent a call; -1: not known
	selves         map[string]bool          // peers whose client calls back under an id of each call
	atOnceAnswered map[timeline.CallID]bool // on shared connections, where promises have ids: with others
}

// asyncTurn is what began the callbacks that run, if it was a read.
type asyncTurn struct {
	of      ref
	counter int64 // last id given out before; 0: no turn is known to run
	conn    int32 // read from, index in facts.conns
}

// asyncConn is what the walk knows of one connection.
type asyncConn struct {
	told      tristate // outbound: whether its connect told whose the first call is
	answered  ref      // outbound: the last call that was answered; 0: none
	hasHandle bool
	handle    int64 // inbound: the id of its handle
	request   ref   // inbound: that was read last
	read      bool  // inbound: it was read from
	first     int64 // last id given out before its first read
	prompt    bool  // accepted since the move before that read
}

// tristate says what is known of a connect; untold if it was not seen.
type tristate int8

const (
	untold tristate = iota
	toldNothing
	toldWhose
)

// asyncInput is one Node loop, and what is shared by the walks of all.
type asyncInput struct {
	loop   loopMoves
	wanted []recording.Time
	chains *chains
	conns  []asyncConn
	hands  askedIn
	atOnce map[string]int           // by endpoint: how many calls a request has under way at once, where that is known
	sure   map[timeline.CallID]bool // of calls on connections that are not shared: turns tell whose they are
	named  map[int32]bool           // shared connections, where promises have ids of their own
	told   recording.Time           // up to here it is told which timers fired; 0: never
}

// associateAsync associates the calls of one Node loop by its async ids, and notes
// when each was wanted.
func associateAsync(t *timeline.Timeline, f *facts.Facts, in asyncInput) {
	moves := in.loop.moves
	w := asyncWalk{
		t: t, f: f, owner: nobody, carry: nobody, turn: asyncTurn{of: nobody, conn: noConn},
		conns: in.conns, wanted: in.wanted, chains: in.chains, hands: in.hands,
		lasting: lastingIDs(t, moves, in.named), handles: map[int64]int32{}, idle: idle{since: map[string]map[int32]recording.Time{}},
		again: firedAgain(moves), causes: causes(moves, in.named != nil), selves: selfCalled(t, moves), itself: map[timeline.CallID]bool{},
		named: in.named, posted: map[int32]ref{},
	}
	w.ports = portIDs(moves, w.again)
	w.few = idsOfSends(moves)
	if len(in.named) > 0 {
		w.atOnceAnswered = sharedConns(t, moves).answeredAtOnce(t)
	}
	if len(moves) > 0 {
		w.ids.before = moves[0].at
	}
	w.ids.expect(moves)
	for i := range moves {
		w.step(&moves[i])
		w.idle.note(&w, &moves[i])
		w.last = moves[i].at
	}
	noteSleeps(moves, w.again)
	w.toldStrangers(moves)
	w.chains.settle(t, openAmong(t, func(r *timeline.Request) bool { return r.Strand == in.loop.strand }))
	w.chains.reset()
	for i := range moves {
		if c := moves[i].conn; c != noConn {
			w.conns[c] = asyncConn{}
		}
	}
}

// hasAsyncIDs reports whether a loop's moves carry async ids at all.
func hasAsyncIDs(moves []move) bool {
	for i := range moves {
		if moves[i].counter > 0 && moves[i].kind != moveBoundary {
			return true
		}
	}
	return false
}

// whose says whom a move itself is known to be for.
func (m *move) whose() ref {
	switch {
	case m.kind == moveFired:
		return m.by
	case m.request != timeline.None:
		return requestRef(m.request)
	case m.call != timeline.None:
		return callRef(m.call)
	}
	return nobody
}

func (w *asyncWalk) step(m *move) {
	if m.counter > w.ids.next {
		if w.ids.next == 0 {
			w.oldest = m.counter
		}
		w.ids.give(m.counter, w.giveBefore(m, w.giver(m)), m.at)
	}
	if m.counter > 0 {
		w.slept = false
	}
	w.noteMade(m)
	w.fired(m)
	switch {
	case m.kind == moveBlock:
		if m.counter == 0 && !w.slept {
			w.slept, w.carry = true, w.owner
		}
		w.owner, w.turn = nobody, asyncTurn{of: nobody, conn: noConn}
	case !m.callback(): // a read, or what begins other callbacks
		if m.kind == moveAnswer && w.t.Calls[m.call].End == m.at {
			w.conns[m.conn].answered = callRef(m.call)
		}
		whose := m.whose()
		if m.several || m.same && w.named != nil || w.named[m.conn] && !w.aloneAnswered(m) {
			whose = nobody // of several requests, which the ids of their connection do not tell apart
		}
		w.owner, w.turn = whose, asyncTurn{whose, m.counter, m.conn}
		if m.kind == moveRead {
			w.conns[m.conn].request = whose
		}
		if m.kind == moveRead && !w.conns[m.conn].read {
			c := &w.conns[m.conn]
			c.read, c.first, c.prompt = true, m.counter, w.f.Conns[m.conn].At >= w.last
		}
	case m.kind == moveRespond:
		w.responded(m)
		w.owner = m.whose()
	case m.kind == moveAside, m.kind == moveAlong:
	case m.kind == movePost:
		w.posts(m)
		w.adopt(m)
	case m.kind == moveConnect:
		if m.call != timeline.None {
			w.conns[m.conn].told = toldNothing
			if w.evidence(m) {
				w.conns[m.conn].told = toldWhose
			}
			if !w.fresh(m.exec) {
				w.wanted[m.call] = w.ids.asked(m.exec)
			}
		}
		w.adopt(m)
	case m.kind == moveSend:
		w.sent(m)
		w.adopt(m)
	default:
		w.adopt(m)
	}
}

// sent learns from a write of a call, and notes when that was wanted.
func (w *asyncWalk) sent(m *move) {
	w.chains.add(m.call)
	told, opener := w.conns[m.conn].told, w.t.Calls[m.call].New
	first := w.t.Calls[m.call].SendFrom == m.at
	w.hands.room[m.call] = w.hands.room[m.call] || first && w.idle.other(w, m)
	if first && !opener && w.handedOver(m) {
		w.hands.over[m.call] = true
	} else if told != toldWhose || !opener {
		w.evidence(m)
	}
	switch {
	case told != untold && opener, w.hands.over[m.call]:
	case w.deferred(m), w.hands.late[m.call]:
		w.wanted[m.call] = w.ids.asked(m.exec)
	case !w.fresh(m.trigger):
		w.wanted[m.call] = w.ids.asked(m.trigger)
	}
}

// callback reports a move that was made by a callback, rather than by the loop on the
// way to one.
func (m *move) callback() bool {
	switch m.kind {
	case moveConnect, moveSend, moveRespond, moveAside, moveAlong, movePost:
		return true
	case moveHandshake:
		return m.exec != 0
	}
	return false
}

// giver is for whom the ids up to this move's counter were given out. Reads come
// before their callback, so everything since the last move was the last owner's. A
// write or connect may be made by a callback that began unseen: if that works for
// somebody else, the ids between are of both, and so nobody's.
func (w *asyncWalk) giver(m *move) giver {
	sure := func(r ref) giver { return giver{r, [2]ref{nobody, nobody}} }
	before := w.owner
	if w.slept {
		before = w.carry
	}
	if !m.callback() {
		if w.slept && (m.kind == moveBoundary || m.kind == moveFired) {
			return sure(nobody)
		}
		return sure(before)
	}
	running := w.runs(m.exec)
	if m.kind == moveRespond {
		running = m.whose()
	}
	switch {
	case w.chains.same(running, before):
		return sure(before)
	case !w.slept && (m.exec > w.ids.next || running == nobody || !w.foreign(m)):
		return sure(before)
	case before == nobody:
		return sure(running)
	}
	return giver{nobody, [2]ref{before, running}}
}

// foreign reports a move of a callback that cannot be of the turn that runs: its
// execution id is older, was given out for somebody else, and is not that of the
// connection which was read from.
func (w *asyncWalk) foreign(m *move) bool {
	if m.exec == 0 || w.turn.counter == 0 || w.fresh(m.exec) {
		return w.turn.counter == 0
	}
	if c := w.turn.conn; c != noConn && (w.conns[c].hasHandle && w.conns[c].handle == m.trigger || w.byParser(m)) {
		return false
	}
	running := w.runs(m.exec)
	return running != nobody && !w.chains.same(running, w.turn.of)
}

// fresh reports whether an id was given out in the turn that runs.
func (w *asyncWalk) fresh(id int64) bool { return w.turn.counter > 0 && id > w.turn.counter }

// evidence collects what a connect or write tells about whose its call is, and reports
// whether it tells anything.
func (w *asyncWalk) evidence(m *move) bool {
	inTurn := w.turn.of != nobody && (w.fresh(m.exec) || m.exec == 0 && w.turn.counter > 0)
	_, answered := w.turn.of.call()
	_, read := w.turn.of.request()
	switch {
	case read && w.turn.conn != noConn && m.trigger != 0 && !w.fresh(m.trigger) && w.ownHandle(m):
		w.chains.link(m.call, w.turn.of)
		return true
	case w.reader(m) != nobody:
		w.hands.made[m.call] = w.reader(m)
		w.chains.link(m.call, w.reader(m))
		return true
	case inTurn && w.byPromise(m):
		return w.triggered(m, w.ids.find(m.trigger))
	case inTurn && m.trigger == 0:
		w.hint(m, w.turn.of)
		w.atOnce(m)
		return true
	case m.exec == 0:
		return false
	case inTurn && answered && w.fresh(m.trigger):
		w.hint(m, w.turn.of) // an application that lets so many calls run at once asks for another's there
		return true
	case inTurn && w.fresh(m.trigger):
		w.chains.link(m.call, w.turn.of)
		return true
	case inTurn && !answered:
		w.chains.hint(m.call, w.turn.of)
		return true
	case w.lasting.has(m.exec):
		return answered
	case w.deferred(m):
		return w.asked(m)
	}
	who := w.ids.find(m.trigger)
	if who == nobody && m.kind == moveConnect {
		who = w.ids.find(m.exec) // the look-up's own
	}
	if a, b := w.ids.maybe(m.trigger); who == nobody && a != nobody {
		w.chains.hint(m.call, a)
		w.chains.doubt(m.call, b)
		return true
	}
	if r, ok := who.request(); who == nobody || ok && w.t.Requests[r].End < m.at {
		if m.kind == moveSend && m.exec != 0 && !w.fresh(m.exec) {
			return w.asked(m) // its trigger is long gone: a handle's
		}
		return false
	}
	return w.triggered(m, who)
}

// responded learns from a response that was written in the turn of an answer.
func (w *asyncWalk) responded(m *move) {
	answered, ok := w.turn.of.call()
	switch {
	case !ok || w.turn.counter == 0 || m.several:
	case m.exec == 0 && m.trigger == 0:
		w.chains.resumed(answered, m.request)
	case w.fresh(m.exec) && w.fresh(m.trigger):
		w.chains.link(answered, requestRef(m.request))
	case m.trigger != 0: // promises have ids where contexts are followed through them
		m.own = w.chains.known(w.ids.find(m.trigger)) == m.request && (w.fresh(m.exec) || w.chains.known(w.ids.find(m.exec)) == m.request)
	}
}

// adopt makes the one whose callback is running the owner of what follows, if no turn
// is known to run.
func (w *asyncWalk) adopt(m *move) {
	if !w.foreign(m) {
		return
	}
	w.turn = asyncTurn{of: nobody, conn: noConn}
	w.owner = w.runs(m.exec)
	if w.owner == nobody && m.call != timeline.None {
		w.owner = callRef(m.call)
	}
}
