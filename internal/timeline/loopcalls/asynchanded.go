package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A client with a pool, or with a queue of its own before one connection, writes a queued call in a callback of the
// answer that made room: in the turn in which that was read, or in an immediate that was set there. The ids of such a
// write lead to the request whose answer it was, and say nothing of the request that had waited. Nor does the id of
// a connection's own handle, which every callback has in which something was read from the connection, and whose
// trigger is the request that opened it, long ago.

// askedIn is what the walks of all loops tell about calls that ids alone do not give to
// a request; by call.
type askedIn struct {
	over []bool        // sent by a callback of an answer on its own connection
	late []bool        // sent by a callback that was asked for in another turn
	made []loops.Owner // in whose turn that was; nobody: not known
	by   []loops.Owner // whom its trigger names; nobody: none
	room []bool        // another connection to its peer was idle: nobody waited for one
}

func newAsked(calls int) askedIn {
	h := askedIn{make([]bool, calls), make([]bool, calls), make([]loops.Owner, calls), make([]loops.Owner, calls), make([]bool, calls)}
	for i := range h.made {
		h.made[i], h.by[i] = loops.Nobody, loops.Nobody
	}
	return h
}

// lasting are the ids that more than one turn had, as execution or trigger id of what was
// sent in it: those of handles, and not of something that was asked for once.
type lasting map[int64]int32

// many is the turn of ids that several turns had.
const many int32 = -1

// lastingIDs finds them among the moves of a loop. Where promises have ids, one triggers all that is asked for
// where it goes on, whenever each of that is sent; but that made recordings of services worse in which requests
// share connections, so there it is as elsewhere.
func lastingIDs(t *timeline.Timeline, moves []loops.Move, named map[int32]bool) lasting {
	seen, given := lasting{}, newIDTurns(moves)
	triggers := lasting{} // by when it was asked for
	turn := int32(0)
	for i := range moves {
		m := &moves[i]
		if !m.Callback() {
			turn++
			continue
		}
		if m.Kind != loops.MoveSend || t.Calls[m.Call].SendFrom != m.At {
			continue
		}
		seen.see(m.Exec, turn)
		if named != nil && len(named) == 0 {
			triggers.see(m.Trigger, int32(given.of(m.Exec))+1)
		} else {
			seen.see(m.Trigger, turn)
		}
	}
	for id, in := range triggers {
		if in == many {
			seen[id] = many
		}
	}
	return seen
}

// see notes that a turn had an id.
func (l lasting) see(id int64, turn int32) {
	if before, ok := l[id]; id != 0 && ok && before != turn {
		l[id] = many
	} else if id != 0 && !ok {
		l[id] = turn
	}
}

func (l lasting) has(id int64) bool { return id != 0 && l[id] == many }

// handedOver reports a write by a callback of an answer that was read from the same
// connection: of the client's, rather than of whose answer it was.
func (w *asyncWalk) handedOver(m *loops.Move) bool {
	last := w.conns[m.Conn].answered
	if _, ok := last.Call(); !ok || m.Exec == 0 || w.byParser(m) {
		return false
	}
	if w.turn.of == last && !w.hands.room[m.Call] && (w.lasting.has(m.Exec) || w.fresh(m.Exec) && (m.Trigger == 0 || w.fresh(m.Trigger) || w.lasting.has(m.Trigger))) {
		return true
	}
	return !w.lasting.has(m.Exec) && (w.given(m.Exec, last) || w.named == nil && w.given(m.Trigger, last))
}

// byParser reports a write by the callback in which the first request of a connection was parsed: the ids
// of its handle and its parser were given out, one behind the other, when it was accepted.
func (w *asyncWalk) byParser(m *loops.Move) bool {
	r, ok := w.turn.of.Request()
	if !ok || w.turn.conn == loops.NoConn || w.t.Requests[r].Ordinal > 0 || m.Exec != m.Trigger+1 || w.fresh(m.Exec) {
		return false
	}
	return m.Trigger > w.ids.countAt(w.f.Conns[w.turn.conn].At)
}

// given reports whether an id older than the turn that runs may have been given out in that of an answer.
func (w *asyncWalk) given(id int64, in loops.Owner) bool {
	a, b := w.ids.maybe(id)
	return !w.fresh(id) && (w.ids.find(id) == in || a == in || b == in)
}

// deferred reports a write by a callback that was asked for in another turn, and by code
// that only a promise or the handle of a connection leads to: it is of that turn.
func (w *asyncWalk) deferred(m *loops.Move) bool {
	return m.Exec != 0 && !w.fresh(m.Exec) && !w.lasting.has(m.Exec) && (m.Trigger == 0 || w.lasting.has(m.Trigger))
}

// asked takes such a write for evidence.
func (w *asyncWalk) asked(m *loops.Move) bool {
	who := w.ids.find(m.Exec)
	w.hands.late[m.Call] = true
	if a, b := w.ids.maybe(m.Exec); a != loops.Nobody {
		w.hint(m, a)
		w.chains.doubt(m.Call, b)
		return true
	}
	if r, ok := who.Request(); ok && m.Trigger != 0 {
		if w.t.Requests[r].End < m.At {
			return false
		}
		w.chains.link(m.Call, who)
		return true
	}
	if who != loops.Nobody {
		w.hint(m, who)
	}
	return who != loops.Nobody
}

// hint notes in whose turn a call was asked for.
func (w *asyncWalk) hint(m *loops.Move, turn loops.Owner) {
	w.chains.hint(m.Call, turn)
	w.hands.made[m.Call] = turn
}

// ownHandle reports whether a move that was made in a request's turn was made by the
// request's own callback: its trigger id, older than the turn, is that of the connection
// that the request was read from. If it is a timer's instead, somebody who is still
// being served asked for it.
func (w *asyncWalk) ownHandle(m *loops.Move) bool {
	c := &w.conns[w.turn.conn]
	if c.hasHandle {
		parser := c.handle+1 == m.Trigger || c.handle == m.Exec && m.Exec == m.Trigger+1
		return c.handle == m.Trigger || parser // whose id follows its connection's: either was seen first
	}
	born := &w.f.Conns[w.turn.conn]
	low, high := w.ids.countAt(born.At), c.first
	if born.Decl.Existing == 1 {
		low, high = 0, w.oldest
	}
	if m.Trigger <= low || m.Trigger > high {
		return false
	}
	owner := w.chains.known(w.ids.find(m.Trigger))
	r, _ := w.turn.of.Request()
	if who := w.ids.find(m.Exec); !w.fresh(m.Exec) && m.Exec != m.Trigger+1 && who != loops.Nobody && who != w.turn.of {
		return false // a callback that somebody else asked for
	}
	own := born.Decl.Existing == 1 || w.t.Requests[r].Ordinal > 0 || c.prompt && m.Trigger == high-1 || // accepted and read at once
		m.Exec == m.Trigger+1 || // the parser's id follows its connection's
		owner == r || owner != timeline.None && w.t.Requests[owner].End < w.t.Requests[r].FirstRead
	if own {
		c.handle, c.hasHandle, w.handles[m.Trigger] = m.Trigger, true, w.turn.conn
	}
	return own
}

// aloneAnswered reports an answer that came whole, and with no other: only who waited for that goes on.
func (w *asyncWalk) aloneAnswered(m *loops.Move) bool {
	return m.Kind == loops.MoveAnswer && w.t.Calls[m.Call].End == m.At && !w.together[m.Call]
}

// reader is the request being served whose bytes were read in a callback that has the trigger id of a
// move: that of its connection's handle. Nobody if it is not known to be one.
func (w *asyncWalk) reader(m *loops.Move) loops.Owner {
	k, ok := w.handles[m.Trigger]
	if !ok || m.Exec == 0 {
		return loops.Nobody
	}
	r, ok := w.conns[k].request.Request()
	if !ok || w.t.Requests[r].FirstRead > m.At || w.t.Requests[r].End < m.At {
		return loops.Nobody
	}
	return loops.OfRequest(r)
}

// idle follows which connections to peers have no call under way, and no transaction.
type idle struct {
	since map[string]map[int32]recording.Time // by peer and connection: since when
	slept recording.Time                      // when the loop last went to sleep: by then it had done all it could
}

// note follows a move.
func (l *idle) note(w *asyncWalk, m *loops.Move) {
	switch m.Kind {
	case loops.MoveBlock:
		if m.Ready > m.At { // else it only looked
			l.slept = m.At
		}
	case loops.MoveSend:
		delete(l.since[w.f.Conns[m.Conn].Decl.Peer], m.Conn)
	case loops.MoveAnswer:
		if c := &w.t.Calls[m.Call]; c.End == m.At && !c.Cut && !timeline.InTransaction(c) {
			peer := w.f.Conns[m.Conn].Decl.Peer
			if l.since[peer] == nil {
				l.since[peer] = map[int32]recording.Time{}
			}
			l.since[peer][m.Conn] = m.At
		}
	}
}

// other reports whether another connection than that of a move was idle, and open, already
// when the loop last slept: then nobody waits for one.
func (l *idle) other(w *asyncWalk, m *loops.Move) bool {
	conns := l.since[w.f.Conns[m.Conn].Decl.Peer]
	for i, since := range conns {
		if c := &w.f.Conns[i]; i != m.Conn && since < l.slept {
			if c.Closed == nil || c.ClosedAt > m.At {
				return true
			}
			delete(conns, i)
		}
	}
	return false
}
