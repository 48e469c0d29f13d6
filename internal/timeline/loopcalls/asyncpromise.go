package loopcalls

import "github.com/getdwell/dwell/internal/timeline/loops"

// Where promises have ids, what goes on after one runs under the id of a promise that was made where it
// was waited for, and what is asked for there names that as its trigger. So it is told for whom code runs
// that nothing else tells of.

// byPromise reports a move by what went on after a promise that was made in an earlier turn, where promises
// have ids: neither in the turn of a request that was read, nor in that of an answer on the move's own
// connection, where the callbacks of clients are as likely.
func (w *asyncWalk) byPromise(m *loops.Move) bool {
	_, read := w.turn.of.Request()
	if w.named == nil || read && w.turn.conn != loops.NoConn || w.turn.conn == m.Conn || !w.fresh(m.Exec) {
		return false
	}
	_, handle := w.handles[m.Trigger]
	return m.Trigger != 0 && !w.fresh(m.Trigger) && !w.lasting.has(m.Trigger) && !handle && w.ids.find(m.Trigger) != loops.Nobody
}

// stranger is who goes on in a turn of which nobody is known, where promises have ids.
func (w *asyncWalk) stranger() loops.Owner {
	if w.named == nil {
		return loops.Nobody
	}
	return w.chains.newPlaceholder()
}

// triggered takes for evidence whom the trigger of a call names.
func (w *asyncWalk) triggered(m *loops.Move, who loops.Owner) bool {
	w.hands.by[m.Call] = who
	w.chains.link(m.Call, who)
	return true
}

// runs is for whom a callback with an execution id runs, as far as that tells: the id of what calls back again
// and again was once given out for somebody.
func (w *asyncWalk) runs(exec int64) loops.Owner {
	if w.lasting.has(exec) {
		return loops.Nobody
	}
	return w.ids.find(exec)
}
