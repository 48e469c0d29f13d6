package build

// Where promises have ids, what goes on after one runs under the id of a promise that was made where it
// was waited for, and what is asked for there names that as its trigger. So it is told for whom code runs
// that nothing else tells of.

// byPromise reports a move by what went on after a promise that was made in an earlier turn, where promises
// have ids: neither in the turn of a request that was read, nor in that of an answer on the move's own
// connection, where the callbacks of clients are as likely.
func (w *asyncWalk) byPromise(m *move) bool {
	_, read := w.turn.of.request()
	if w.named == nil || read && w.turn.conn != noConn || w.turn.conn == m.conn || !w.fresh(m.exec) {
		return false
	}
	_, handle := w.handles[m.trigger]
	return m.trigger != 0 && !w.fresh(m.trigger) && !w.lasting.has(m.trigger) && !handle && w.ids.find(m.trigger) != nobody
}

// stranger is who goes on in a turn of which nobody is known, where promises have ids.
func (w *asyncWalk) stranger() ref {
	if w.named == nil {
		return nobody
	}
	return w.chains.someone()
}

// noteMade notes whose the execution id of a move is, and all that were given out with it, as its trigger tells:
// what was executed when it was asked for.
func (w *asyncWalk) noteMade(m *move) {
	if w.named == nil || m.exec == 0 || m.trigger == 0 || w.lasting.has(m.exec) || w.lasting.has(m.trigger) || w.causes.has(m.trigger) {
		return
	}
	if _, handle := w.handles[m.trigger]; handle || w.fresh(m.trigger) {
		return
	}
	made := w.ids.find(m.exec)
	if w.fresh(m.exec) {
		made = w.turn.of
	}
	w.chains.meet(made, w.ids.find(m.trigger))
}

// triggered takes for evidence whom the trigger of a call names.
func (w *asyncWalk) triggered(m *move, who ref) bool {
	w.hands.by[m.call] = who
	w.chains.link(m.call, who)
	return true
}

// runs is for whom a callback with an execution id runs, as far as that tells: the id of what calls back again
// and again was once given out for somebody.
func (w *asyncWalk) runs(exec int64) ref {
	if w.lasting.has(exec) {
		return nobody
	}
	return w.ids.find(exec)
}
