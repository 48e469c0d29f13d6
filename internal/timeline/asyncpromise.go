package timeline

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

// single reports that one goes on in the turn that runs, whoever that is: a message or a timer began it.
func (w *asyncWalk) single() bool {
	return w.named != nil && w.turn.counter > 0 && w.turn.conn == noConn && w.begun != nil && w.begun.kind == moveFired
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
	switch who := w.ids.find(m.trigger); {
	case who == nobody:
	case w.fresh(m.exec):
		w.goesOn(m, who)
	default:
		w.ids.tellOne(m.exec, who)
	}
}

// triggered takes for evidence whom the trigger of a call names.
func (w *asyncWalk) triggered(m *move, who ref) bool {
	w.hands.by[m.call] = who
	w.chains.link(m.call, who)
	return true
}

// untoldCall is a call of which the trigger told nothing when it was sent.
type untoldCall struct {
	call    CallID
	trigger int64
}

// notTold notes such a call, if that may become known: somebody went on alone.
func (w *asyncWalk) notTold(m *move) {
	if w.ids.ofOne(m.trigger) {
		w.open = append(w.open, untoldCall{m.call, m.trigger})
	}
}

// askedLater takes what became known since of whose the triggers of calls are.
func (w *asyncWalk) askedLater() {
	for _, x := range w.open {
		if who := w.ids.find(x.trigger); who != nobody && w.chains.known(callRef(x.call)) == None {
			w.hands.by[x.call] = who
			w.chains.link(x.call, who)
		}
	}
}

// goesOn notes who goes on in a turn of which nothing was known, as a promise of his tells: who had a message
// of a worker thread, say.
func (w *asyncWalk) goesOn(m *move, who ref) {
	if w.turn.of != nobody || !w.single() || !w.fresh(m.exec) || w.lasting.has(m.trigger) {
		return
	}
	w.turn.of, w.owner, w.begun.by = who, who, who
	w.ids.tell(w.turn.counter+1, m.counter, who)
}

// runs is for whom a callback with an execution id runs, as far as that tells: the id of what calls back again
// and again was once given out for somebody.
func (w *asyncWalk) runs(exec int64) ref {
	if w.lasting.has(exec) {
		return nobody
	}
	return w.ids.find(exec)
}
