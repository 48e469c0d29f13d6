package timeline

import (
	"sort"

	"github.com/getdwell/dwell/recording"
)

// asyncIDs remembers which request was being worked for when Node gave out each async
// id: ranges in order of id.
type asyncIDs struct {
	last   []int64 // last id of each range
	owner  []RequestID
	since  []Time // the move before they were given out
	next   int64  // ids up to here are known
	before Time   // the move at which next was seen
}

// give notes that the ids up to counter were given out while working for owner.
func (a *asyncIDs) give(counter int64, owner RequestID, at Time) {
	if counter <= a.next {
		return
	}
	if n := len(a.last); n > 0 && a.owner[n-1] == owner && a.since[n-1] == a.before {
		a.last[n-1] = counter
	} else {
		a.last, a.owner, a.since = append(a.last, counter), append(a.owner, owner), append(a.since, a.before)
	}
	a.next, a.before = counter, at
}

// find returns the request that was worked for when an id was given out, or None.
func (a *asyncIDs) find(id int64) RequestID {
	if id <= 0 || id > a.next {
		return None
	}
	return a.owner[sort.Search(len(a.last), func(k int) bool { return a.last[k] >= id })]
}

// asked returns the last move before an id was given out, NoTime if it is not known.
func (a *asyncIDs) asked(id int64) Time {
	if id <= 0 || id > a.next {
		return recording.NoTime
	}
	return a.since[sort.Search(len(a.last), func(k int) bool { return a.last[k] >= id })]
}

// asyncWalk follows one loop through its moves and gives calls to requests.
//
// A turn begins when the loop reads a request or an answer. What is written in a turn
// with an execution id given out since is of the request that was read. With the
// trigger id given out since, too, it is of the same request as the answer: and if it
// is that request's response, the answered call was its own. An older trigger id says
// that the write was asked for earlier, and waited for a socket: it belongs to the
// request that was worked for when that id was given out. The execution id alone would
// mistake such a request for the one whose answer freed the socket. Where ids are 0 or
// nobody's, or the evidence is at odds, so is the call.
type asyncWalk struct {
	t      *Timeline
	ids    asyncIDs
	owner  RequestID
	slept  bool      // since the last move that told where the ids stood
	carry  RequestID // the owner before that sleep
	turn   asyncTurn
	opened map[int32]RequestID
	chains *chains
	wanted []Time // by call: the move before the ids of its write were given out
}

// asyncTurn is what began the callbacks that run, if it was a read.
type asyncTurn struct {
	request RequestID // whose bytes were read, or None
	call    CallID    // whose answer was read, or None
	counter int64     // last id given out before; 0: no turn is known to run
}

// associateAsync associates the calls of one Node loop by its async ids, and notes
// when each was wanted.
func associateAsync(t *Timeline, moves []move, wanted []Time) {
	w := asyncWalk{t: t, owner: None, opened: map[int32]RequestID{}, wanted: wanted, chains: newChains()}
	if len(moves) > 0 {
		w.ids.before = moves[0].at
	}
	for i := range moves {
		w.step(&moves[i])
	}
	w.chains.settle(t)
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

func (w *asyncWalk) step(m *move) {
	if m.counter > w.ids.next {
		w.ids.give(m.counter, w.giver(m), m.at)
	}
	if m.counter > 0 {
		w.slept = false
	}
	if !m.callback() {
		w.turn = asyncTurn{request: m.request, call: m.call, counter: m.counter}
	}
	switch m.kind {
	case moveRead, moveBody:
		w.owner = m.request
	case moveRespond:
		w.owner = m.request
		w.responded(m)
	case moveAnswer:
		w.owner = w.chains.request(m.call)
	case moveConnect:
		w.opened[m.conn] = w.causer(m)
		w.adopt(m, w.opened[m.conn])
	case moveHandshake:
		owner, ok := w.opened[m.conn]
		switch {
		case m.callback():
			w.adopt(m, owner)
		case ok:
			w.owner = owner
		default:
			w.owner = None
		}
	case moveSend:
		w.send(m)
	case moveBlock:
		if m.counter == 0 && !w.slept {
			w.slept, w.carry = true, w.owner
		}
		w.owner, w.turn = None, asyncTurn{}
	default:
		w.owner, w.turn = None, asyncTurn{}
	}
}

// callback reports a move that was made by a callback, rather than by the loop on the
// way to one.
func (m *move) callback() bool {
	switch m.kind {
	case moveConnect, moveSend, moveRespond:
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
func (w *asyncWalk) giver(m *move) RequestID {
	before := w.owner
	if w.slept {
		before = w.carry
	}
	if !m.callback() {
		if w.slept && m.kind == moveBoundary {
			return None
		}
		return before
	}
	running := w.ids.find(m.exec)
	if m.kind == moveRespond {
		running = m.request
	}
	switch {
	case running == before, m.exec > w.ids.next && !w.slept:
		return before
	case running == None && !w.slept:
		return before // a resource older than all requests: the turn's own
	case before == None:
		return running
	}
	return None
}

// fresh reports whether an id was given out in the turn that runs.
func (w *asyncWalk) fresh(id int64) bool { return w.turn.counter > 0 && id > w.turn.counter }

// causer is the request that a connect or write is made for, or None: the one that was
// read in this turn, else the owner of the trigger id, which must still be open.
func (w *asyncWalk) causer(m *move) RequestID {
	if m.exec == 0 {
		return None
	}
	if w.turn.request != None && w.fresh(m.exec) {
		return w.turn.request
	}
	if w.turn.call != None && w.fresh(m.exec) && w.fresh(m.trigger) {
		return w.chains.request(w.turn.call)
	}
	r := w.ids.find(m.trigger)
	if r != None && w.t.Requests[r].End < m.at {
		return None
	}
	return r
}

// adopt makes the request whose callback is running the owner of what follows, if no
// turn is known to run.
func (w *asyncWalk) adopt(m *move, caused RequestID) {
	if running := w.ids.find(m.exec); running != None {
		w.owner = running
	} else if w.owner == None {
		w.owner = caused
	}
}

// responded learns from a response that was written in the turn of an answer.
func (w *asyncWalk) responded(m *move) {
	if w.turn.call != None && w.fresh(m.exec) && w.fresh(m.trigger) {
		w.chains.claim(w.turn.call, m.request)
	}
}

func (w *asyncWalk) send(m *move) {
	if m.exec != 0 && w.turn.call != None && w.fresh(m.exec) && w.fresh(m.trigger) {
		w.chains.join(m.call, w.turn.call)
	}
	owner := w.causer(m)
	if opener, ok := w.opened[m.conn]; owner == None && ok && w.t.Calls[m.call].New {
		owner = opener
	}
	w.chains.add(m.call)
	if owner != None {
		w.chains.claim(m.call, owner)
	}
	if !w.fresh(m.trigger) {
		w.wanted[m.call] = w.ids.asked(m.trigger)
	}
	w.adopt(m, owner)
}
