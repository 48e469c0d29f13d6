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

// find returns the owner of an id and since when it may have been given out.
func (a *asyncIDs) find(id int64) (RequestID, Time) {
	if id <= 0 || id > a.next {
		return None, recording.NoTime
	}
	i := sort.Search(len(a.last), func(k int) bool { return a.last[k] >= id })
	return a.owner[i], a.since[i]
}

// asyncWalk follows one loop through its moves and gives calls to requests.
//
// A turn begins when the loop reads a request or an answer: until the loop does
// something for another, or sleeps, it works for that request, and ids given out
// meanwhile are the request's own. A write belongs to the owner of its trigger id;
// the execution id alone would mistake a request that waited for a free socket for
// the one whose answer freed it. Where ids are 0 or nobody's, so is the call.
type asyncWalk struct {
	t      *Timeline
	ids    asyncIDs
	owner  RequestID
	slept  bool      // since the last move that told where the ids stood
	carry  RequestID // the owner before that sleep
	opened map[int32]RequestID
	wanted []Time // by call: the move before the ids of its write were given out
}

// associateAsync associates the calls of one Node loop by its async ids, and notes
// when each was wanted.
func associateAsync(t *Timeline, moves []move, wanted []Time) {
	w := asyncWalk{t: t, owner: None, opened: map[int32]RequestID{}, wanted: wanted}
	if len(moves) > 0 {
		w.ids.before = moves[0].at
	}
	for i := range moves {
		w.step(&moves[i])
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

func (w *asyncWalk) step(m *move) {
	if m.counter > w.ids.next {
		w.ids.give(m.counter, w.giver(m), m.at)
	}
	if m.counter > 0 {
		w.slept = false
	}
	switch m.kind {
	case moveRead, moveBody, moveRespond:
		w.owner = m.request
	case moveAnswer:
		w.owner = w.t.Calls[m.call].Request
	case moveConnect:
		owner, _ := w.causer(m)
		w.opened[m.conn] = owner
		w.adopt(m, owner)
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
		w.owner = None
	default:
		w.owner = None
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
	running, _ := w.ids.find(m.exec)
	if m.kind == moveRespond {
		running = m.request
	}
	switch {
	case m.exec > w.ids.next, running == before:
		return before
	case running == None && !w.slept:
		return before // a resource older than all requests: the turn's own
	case before == None:
		return running
	}
	return None
}

// causer is the request that a connect or write is made for, by its trigger id, and
// when that id may have been given out.
func (w *asyncWalk) causer(m *move) (RequestID, Time) {
	if m.exec == 0 {
		return None, recording.NoTime
	}
	return w.ids.find(m.trigger)
}

// adopt makes the request whose callback is running the owner of what follows, if no
// turn is known to run.
func (w *asyncWalk) adopt(m *move, caused RequestID) {
	if running, _ := w.ids.find(m.exec); running != None {
		w.owner = running
	} else if w.owner == None {
		w.owner = caused
	}
}

func (w *asyncWalk) send(m *move) {
	c := &w.t.Calls[m.call]
	owner, since := w.causer(m)
	if c.Why == "" {
		if opener, ok := w.opened[m.conn]; owner == None && ok && c.New {
			owner = opener
		}
		c.Request, c.Why = owner, WhyAsync
		if owner == None {
			c.Why = WhyNoAsync
		} else if at := c.Start; at < w.t.Requests[owner].FirstRead || at > w.t.Requests[owner].End {
			if c.SendFrom < w.t.Requests[owner].FirstRead {
				c.Request, c.Why = None, WhyNoAsync
			}
		}
		w.wanted[m.call] = since
	}
	w.adopt(m, owner)
}
