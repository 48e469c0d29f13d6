package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A client with a pool, or with a queue of its own before one connection, writes a queued call in a callback of the
// answer that made room. The callback runs in the turn in which that answer was read, or in an immediate that was set
// there. The ids of such a write lead to the request of that answer, and say nothing about the request that had
// waited. The id of a connection's own handle says nothing either: every callback that reads from the connection has
// it, and its trigger is the request that opened the connection long ago.

// askedIn holds what the walks of all loops found about calls that ids alone do not assign to a request, by call.
type askedIn struct {
	over []bool        // sent by a callback of an answer on the call's own connection
	late []bool        // sent by a callback that was asked for in another turn
	made []loops.Owner // the owner of that turn; Nobody: not known
	by   []loops.Owner // the owner that its trigger names; Nobody: none
	room []bool        // another connection to its peer was idle: no request waited for one
}

func newAsked(calls int) askedIn {
	h := askedIn{make([]bool, calls), make([]bool, calls), make([]loops.Owner, calls), make([]loops.Owner, calls), make([]bool, calls)}
	for i := range h.made {
		h.made[i], h.by[i] = loops.Nobody, loops.Nobody
	}
	return h
}

// lasting holds ids that more than one turn had, as execution or trigger id of what was sent in it. They belong to
// handles, not to something that was asked for once.
type lasting map[int64]int32

// many marks ids that several turns had.
const many int32 = -1

// lastingIDs finds the lasting ids in the moves of a loop. If promises have ids, one promise triggers everything that
// is asked for where it continues, whenever each of these is sent. So a trigger then counts by the turn in which
// something was asked for. If requests share connections, that gave worse results, so there a trigger counts by the
// turn of sending, as it does without promise ids.
func lastingIDs(t *timeline.Timeline, moves []loops.Move, named map[int32]bool) lasting {
	seen, given := lasting{}, newIDTurns(moves)
	triggers := lasting{} // by the turn in which something was asked for
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

// handedOver reports a write by a callback of an answer that was read from the same connection: the callback belongs
// to the client, and not to the request of that answer.
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

// byParser reports a write by the callback in which the first request of a connection was parsed. The ids of the
// connection's handle and parser were given out, one after the other, when the connection was accepted.
func (w *asyncWalk) byParser(m *loops.Move) bool {
	r, ok := w.turn.of.Request()
	if !ok || w.turn.conn == loops.NoConn || w.t.Requests[r].Ordinal > 0 || m.Exec != m.Trigger+1 || w.fresh(m.Exec) {
		return false
	}
	return m.Trigger > w.ids.countAt(w.f.Conns[w.turn.conn].At)
}

// given reports whether an id older than the running turn may have been given out in the turn of an answer.
func (w *asyncWalk) given(id int64, in loops.Owner) bool {
	a, b := w.ids.maybe(id)
	return !w.fresh(id) && (w.ids.find(id) == in || a == in || b == in)
}

// deferred reports a write by a callback that was asked for in another turn, and by code that only a promise or a
// connection's handle leads to. The write belongs to that other turn.
func (w *asyncWalk) deferred(m *loops.Move) bool {
	return m.Exec != 0 && !w.fresh(m.Exec) && !w.lasting.has(m.Exec) && (m.Trigger == 0 || w.lasting.has(m.Trigger))
}

// asked uses such a write as evidence.
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

// hint notes in which owner's turn a call was asked for.
func (w *asyncWalk) hint(m *loops.Move, turn loops.Owner) {
	w.chains.hint(m.Call, turn)
	w.hands.made[m.Call] = turn
}

// ownHandle reports whether a move in a request's turn was made by the request's own callback: its trigger id, older
// than the turn, belongs to the connection that the request was read from. If it belongs to a timer instead, another
// request that is still being served asked for the callback.
func (w *asyncWalk) ownHandle(m *loops.Move) bool {
	c := &w.conns[w.turn.conn]
	if c.hasHandle {
		parser := c.handle+1 == m.Trigger || c.handle == m.Exec && m.Exec == m.Trigger+1
		return c.handle == m.Trigger || parser // the parser's id follows its connection's: either may be seen first
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
		return false // a callback that another owner asked for
	}
	own := born.Decl.Existing == 1 || w.t.Requests[r].Ordinal > 0 || c.prompt && m.Trigger == high-1 || // accepted and read at once
		m.Exec == m.Trigger+1 || // the parser's id follows its connection's
		owner == r || owner != timeline.None && w.t.Requests[owner].End < w.t.Requests[r].FirstRead
	if own {
		c.handle, c.hasHandle, w.handles[m.Trigger] = m.Trigger, true, w.turn.conn
	}
	return own
}

// aloneAnswered reports an answer that was read whole and with no other: only the owner that waited for it goes on.
func (w *asyncWalk) aloneAnswered(m *loops.Move) bool {
	return m.Kind == loops.MoveAnswer && w.t.Calls[m.Call].End == m.At && !w.together[m.Call]
}

// reader is the open request whose bytes were read in a callback with a move's trigger id, the id of its connection's
// handle. Nobody if that id is not known to be a handle's.
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

// idle tracks the connections to peers that have no call under way and no transaction.
type idle struct {
	since map[string]map[int32]recording.Time // by peer and connection: since when it is idle
	slept recording.Time                      // when the loop last went to sleep: by then it had done all it could
}

// note follows one move.
func (l *idle) note(w *asyncWalk, m *loops.Move) {
	switch m.Kind {
	case loops.MoveBlock:
		if m.Ready > m.At { // else the loop only polled
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

// other reports whether another connection to the same peer was idle and open when the loop last slept. Then no
// request waits for a connection.
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
