package loopcalls

import "github.com/getdwell/dwell/internal/timeline/loops"

// If promises have ids, the code that continues after a promise runs under the id of a promise that was made where it
// was awaited, and what that code asks for names this id as its trigger. So the owner of running code is known where
// nothing else shows it.

// byPromise reports a move by code that continues after a promise made in an earlier turn, if promises have ids. It
// excludes turns of a request that was read, and turns of an answer on the move's own connection: there the callbacks
// of clients are just as likely.
func (w *asyncWalk) byPromise(m *loops.Move) bool {
	_, read := w.turn.of.Request()
	if w.named == nil || read && w.turn.conn != loops.NoConn || w.turn.conn == m.Conn || !w.fresh(m.Exec) {
		return false
	}
	_, handle := w.handles[m.Trigger]
	return m.Trigger != 0 && !w.fresh(m.Trigger) && !w.lasting.has(m.Trigger) && !handle && w.ids.find(m.Trigger) != loops.Nobody
}

// stranger is the owner of a turn about which nothing is known: a placeholder if promises have ids, else Nobody.
func (w *asyncWalk) stranger() loops.Owner {
	if w.named == nil {
		return loops.Nobody
	}
	return w.chains.newPlaceholder()
}

// triggered uses the owner that the trigger of a call names as evidence.
func (w *asyncWalk) triggered(m *loops.Move, who loops.Owner) bool {
	w.hands.by[m.Call] = who
	w.chains.link(m.Call, who)
	return true
}

// runs is the owner of a callback, as far as its execution id shows it. The id of something that calls back again and
// again was given out for one owner only, and shows nothing.
func (w *asyncWalk) runs(exec int64) loops.Owner {
	if w.lasting.has(exec) {
		return loops.Nobody
	}
	return w.ids.find(exec)
}
