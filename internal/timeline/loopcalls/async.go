package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// asyncWalk follows one loop through its moves and collects evidence about the requests of its calls.
//
// A turn begins when the loop reads a request or an answer. If something is written in the turn under an execution id
// that was given out since the turn began, it belongs to the request that was read, or to the request of the answered
// call. An older trigger id means that the write was asked for earlier and waited for a socket: it belongs to the
// owner that the loop worked for when that id was given out. The execution id alone would confuse that request with
// the one whose answer freed the socket. A trigger id of 0 belongs to a promise: then the turn is only a hint,
// because timers and the like may run in it unseen.
type asyncWalk struct {
	asyncInput
	t      *timeline.Timeline
	f      *facts.Facts
	ids    asyncIDs
	owner  loops.Owner
	slept  bool        // since the last move that showed the id counter
	carry  loops.Owner // the owner before that sleep
	turn   asyncTurn
	last   recording.Time // of the previous move
	oldest int64          // last id given out before the recording

	firstAsked askedAtOnce
	handles    map[int64]int32 // by handle id: the inbound connection
	idle       idle
	again      map[int64]bool           // timers that fired; true: more than once
	ports      map[int64]bool           // of those, the ids under which messages come
	posted     map[int32]loops.Owner    // by number of a message: the owner that sent it
	causes     lasting                  // triggers that called back in several turns
	itself     map[timeline.CallID]bool // answered calls that called back under their own id
	// the most ids that a callback asked for in another turn gives out before it has sent a call; -1: not known
	few    int64
	selves map[string]bool // peers whose client calls back under an id of each call
}

// asyncTurn is what began the running callbacks, if it was a read.
type asyncTurn struct {
	of      loops.Owner
	counter int64 // last id given out before; 0: no turn is known to run
	conn    int32 // read from: index in facts.conns
	timers  bool  // timers run: what they send was wanted when they fired
}

// asyncConn is what the walk knows about one connection.
type asyncConn struct {
	told      tristate    // outbound: whether its connect showed the owner of the first call
	answered  loops.Owner // outbound: the call that was answered last; 0: none
	hasHandle bool
	handle    int64       // inbound: the id of its handle
	request   loops.Owner // inbound: the request read last
	read      bool        // inbound: something was read from it
	first     int64       // last id given out before its first read
	prompt    bool        // it was accepted after the last move before its first read
}

// tristate says what a connect showed; untold if the connect was not seen.
type tristate int8

const (
	untold tristate = iota
	toldNothing
	toldWhose
)

// asyncInput is one Node loop, with what the walks of all loops share.
type asyncInput struct {
	loop   loops.Loop
	wanted []recording.Time // by call: when it was wanted, the last move before the ids of its write were given out
	chains *chains
	conns  []asyncConn // by index in facts.conns
	hands  askedIn
	sends  map[int32]*sentOn // the connections that it sends calls on, by index in facts.conns
	lasting
	shared   map[int32]bool           // connections on which several requests send at once, by index in facts.conns
	together map[timeline.CallID]bool // calls on them that were answered with others at once: what follows may belong to any of these
	atOnce   map[string]int           // by endpoint: how many calls a request has under way at once, if known
	sure     map[timeline.CallID]bool // calls whose requests are certain: turns or promise ids show them
	named    map[int32]bool           // the shared connections, if promises have ids of their own; else nil
	told     recording.Time           // up to here it is known which timers fired; 0: never
}

// associateAsync assigns the calls of one Node loop by its async ids, and notes when each was wanted.
func associateAsync(t *timeline.Timeline, f *facts.Facts, in asyncInput) {
	moves := in.loop.Moves
	if in.named != nil && len(in.named) == 0 {
		in.lasting = lastingIDs(t, moves, in.named)
	}
	again := firedAgain(moves)
	w := asyncWalk{
		asyncInput: in, t: t, f: f, owner: loops.Nobody, carry: loops.Nobody, turn: asyncTurn{of: loops.Nobody, conn: loops.NoConn},
		handles: map[int64]int32{}, idle: idle{since: map[string]map[int32]recording.Time{}}, posted: map[int32]loops.Owner{},
		again: again, ports: portIDs(moves, again), causes: causes(moves, in.named != nil), itself: map[timeline.CallID]bool{},
		few: idsOfSends(moves), selves: selfCalled(t, moves, again),
	}
	if len(moves) > 0 {
		w.ids.before = moves[0].At
	}
	for i := range moves {
		w.step(&moves[i])
		w.idle.note(&w, &moves[i])
		w.last = moves[i].At
	}
	noteSleeps(moves, w.again)
	w.resolvePlaceholders(moves)
	w.chains.settle(t, timeline.OpenAmong(t, func(r *timeline.Request) bool { return r.Strand == in.loop.Strand }))
	w.chains.reset()
	for i := range moves {
		if c := moves[i].Conn; c != loops.NoConn {
			w.conns[c] = asyncConn{}
		}
	}
}

// hasAsyncIDs reports whether a loop's moves carry async ids at all.
func hasAsyncIDs(moves []loops.Move) bool {
	return slices.ContainsFunc(moves, func(m loops.Move) bool { return m.Counter > 0 && m.Kind != loops.MoveBoundary })
}

func (w *asyncWalk) step(m *loops.Move) {
	if m.Counter > w.ids.next {
		if w.ids.next == 0 {
			w.oldest = m.Counter
		}
		w.ids.give(m.Counter, w.giveBefore(m, w.giver(m)), m.At)
	}
	if m.Counter > 0 {
		w.slept = false
	}
	w.fired(m)
	switch {
	case m.Kind == loops.MoveBlock:
		if m.Counter == 0 && !w.slept {
			w.slept, w.carry = true, w.owner
		}
		w.owner, w.turn = loops.Nobody, asyncTurn{of: loops.Nobody, conn: loops.NoConn}
	case !m.Callback(): // a read, or something else that begins callbacks
		if m.Kind == loops.MoveAnswer && w.t.Calls[m.Call].End == m.At {
			w.conns[m.Conn].answered = loops.OfCall(m.Call)
		}
		whose := m.Whose()
		if m.Several || m.Same && w.named != nil || w.named[m.Conn] && !w.aloneAnswered(m) {
			whose = loops.Nobody // of several requests, which the ids of their connection do not distinguish
		}
		w.owner, w.turn = whose, asyncTurn{whose, m.Counter, m.Conn, m.Kind == loops.MoveBoundary && m.Trigger == 1}
		if m.Kind == loops.MoveRead {
			w.conns[m.Conn].request = whose
		}
		if m.Kind == loops.MoveRead && !w.conns[m.Conn].read {
			c := &w.conns[m.Conn]
			c.read, c.first, c.prompt = true, m.Counter, w.f.Conns[m.Conn].At >= w.last
		}
	case m.Kind == loops.MoveRespond:
		w.responded(m)
		w.owner = m.Whose()
	case m.Kind == loops.MoveAside, m.Kind == loops.MoveAlong:
	case m.Kind == loops.MovePost:
		w.posts(m)
		w.adopt(m)
	case m.Kind == loops.MoveConnect:
		if m.Call != timeline.None {
			w.conns[m.Conn].told = toldNothing
			if w.evidence(m) {
				w.conns[m.Conn].told = toldWhose
			}
			if !w.fresh(m.Exec) {
				w.wanted[m.Call] = w.ids.asked(m.Exec)
			}
		}
		w.adopt(m)
	case m.Kind == loops.MoveSend:
		w.sent(m)
		w.adopt(m)
	default:
		w.adopt(m)
	}
}

// sent learns from a write of a call, and notes when the call was wanted.
func (w *asyncWalk) sent(m *loops.Move) {
	w.chains.add(m.Call)
	told, opener := w.conns[m.Conn].told, w.t.Calls[m.Call].New
	first := w.t.Calls[m.Call].SendFrom == m.At
	w.hands.room[m.Call] = w.hands.room[m.Call] || first && w.idle.other(w, m)
	if first && !opener && w.handedOver(m) {
		w.hands.over[m.Call] = true
	} else if told != toldWhose || !opener {
		w.evidence(m)
	}
	switch {
	case told != untold && opener, w.hands.over[m.Call]:
	case w.deferred(m), w.hands.late[m.Call]:
		w.wanted[m.Call] = w.ids.asked(m.Exec)
	case !w.fresh(m.Trigger) && !w.turn.timers:
		w.wanted[m.Call] = w.ids.asked(m.Trigger)
	}
}

// giver is the owner for which the ids up to this move's counter were given out. Reads come before their callback, so
// all ids since the last move belong to the last owner. A write or connect may be made by a callback that began
// unseen. If that callback works for another owner, the ids in between belong to one of the two, and it is not known
// to which.
func (w *asyncWalk) giver(m *loops.Move) giver {
	before := w.owner
	if w.slept {
		before = w.carry
	}
	if !m.Callback() {
		if w.slept && (m.Kind == loops.MoveBoundary || m.Kind == loops.MoveFired) {
			return sole(loops.Nobody)
		}
		return sole(before)
	}
	running := w.runs(m.Exec)
	if m.Kind == loops.MoveRespond {
		running = m.Whose()
	}
	switch {
	case w.chains.same(running, before):
		return sole(before)
	case !w.slept && (m.Exec > w.ids.next || running == loops.Nobody || !w.foreign(m)):
		return sole(before)
	case before == loops.Nobody:
		return sole(running)
	}
	return giver{loops.Nobody, [2]loops.Owner{before, running}}
}

// foreign reports a move of a callback that cannot belong to the running turn: its execution id is older than the
// turn, was given out for another owner, and is not that of the connection that was read from.
func (w *asyncWalk) foreign(m *loops.Move) bool {
	if m.Exec == 0 || w.turn.counter == 0 || w.fresh(m.Exec) {
		return w.turn.counter == 0
	}
	if c := w.turn.conn; c != loops.NoConn && (w.conns[c].hasHandle && w.conns[c].handle == m.Trigger || w.byParser(m)) {
		return false
	}
	running := w.runs(m.Exec)
	return running != loops.Nobody && !w.chains.same(running, w.turn.of)
}

// fresh reports whether an id was given out in the running turn.
func (w *asyncWalk) fresh(id int64) bool { return w.turn.counter > 0 && id > w.turn.counter }

// evidence collects what a connect or write shows about the request of its call, and reports whether it shows
// anything.
func (w *asyncWalk) evidence(m *loops.Move) bool {
	inTurn := w.turn.of != loops.Nobody && (w.fresh(m.Exec) || m.Exec == 0 && w.turn.counter > 0)
	_, answered := w.turn.of.Call()
	_, read := w.turn.of.Request()
	switch {
	case read && w.turn.conn != loops.NoConn && m.Trigger != 0 && !w.fresh(m.Trigger) && w.ownHandle(m):
		w.chains.link(m.Call, w.turn.of)
		return true
	case w.reader(m) != loops.Nobody:
		w.hands.made[m.Call] = w.reader(m)
		w.chains.link(m.Call, w.reader(m))
		return true
	case inTurn && w.byPromise(m):
		return w.triggered(m, w.ids.find(m.Trigger))
	case inTurn && m.Trigger == 0:
		w.hint(m, w.turn.of)
		w.askedBeside(m)
		return true
	case m.Exec == 0:
		return false
	case inTurn && answered && w.fresh(m.Trigger):
		w.hint(m, w.turn.of) // an application with a limit on concurrent calls may ask for another request's call there
		return true
	case inTurn && w.fresh(m.Trigger):
		w.chains.link(m.Call, w.turn.of)
		return true
	case inTurn && !answered:
		w.chains.hint(m.Call, w.turn.of)
		return true
	case w.lasting.has(m.Exec):
		return answered
	case w.deferred(m):
		return w.asked(m)
	}
	who := w.ids.find(m.Trigger)
	if who == loops.Nobody && m.Kind == loops.MoveConnect {
		who = w.ids.find(m.Exec) // the look-up's own
	}
	if a, b := w.ids.maybe(m.Trigger); who == loops.Nobody && a != loops.Nobody {
		w.chains.hint(m.Call, a)
		w.chains.doubt(m.Call, b)
		return true
	}
	if r, ok := who.Request(); who == loops.Nobody || ok && w.t.Requests[r].End < m.At {
		if m.Kind == loops.MoveSend && m.Exec != 0 && !w.fresh(m.Exec) {
			return w.asked(m) // the request of its trigger ended long ago: it belongs to a handle
		}
		return false
	}
	return w.triggered(m, who)
}

// responded learns from a response that was written in the turn of an answer.
func (w *asyncWalk) responded(m *loops.Move) {
	answered, ok := w.turn.of.Call()
	switch {
	case !ok || w.turn.counter == 0 || m.Several:
	case m.Exec == 0 && m.Trigger == 0:
		w.chains.resumed(answered, m.Request)
	case w.fresh(m.Exec) && w.fresh(m.Trigger):
		w.chains.link(answered, loops.OfRequest(m.Request))
	case m.Trigger != 0: // promises have ids if contexts are followed through them
		m.Own = w.chains.known(w.ids.find(m.Trigger)) == m.Request && (w.fresh(m.Exec) || w.chains.known(w.ids.find(m.Exec)) == m.Request)
	}
}

// adopt makes the owner of the running callback the owner of what follows, if no turn is known to run.
func (w *asyncWalk) adopt(m *loops.Move) {
	if !w.foreign(m) {
		return
	}
	w.turn = asyncTurn{of: loops.Nobody, conn: loops.NoConn, timers: w.turn.timers}
	w.owner = w.runs(m.Exec)
	if w.owner == loops.Nobody && m.Call != timeline.None {
		w.owner = loops.OfCall(m.Call)
	}
}
