package timeline

// askedAtOnce is the first of the calls that one callback asked for at once, as promises do
// whose functions run together: what is to write each is queued before any is written.
type askedAtOnce struct {
	turn    int64 // the last id given out before that turn
	exec    int64 // the id of the tick that wrote it
	counter int64 // the last id given out by then
	call    CallID
}

// atOnce notes a call that was asked for in a turn by a promise. Node empties its queue
// of ticks after each callback: if the id of the tick that writes the call was given out
// before another call was written by such a tick, one callback asked for both. (What node:http
// writes takes an id of its own. Immediates, in which other clients write, do not run at once.)
func (w *asyncWalk) atOnce(m *move) {
	if m.exec == 0 {
		return
	}
	first := &w.together
	if first.turn == w.turn.counter && m.exec > first.exec && m.exec <= first.counter && m.counter > first.counter {
		w.chains.beside(m.call, first.call)
		return
	}
	*first = askedAtOnce{w.turn.counter, m.exec, m.counter, m.call}
}

// beside says that a call was asked for at once with another.
func (c *chains) beside(id, first CallID) {
	i, head := c.add(id), c.add(first)
	if c.groups == nil {
		c.groups = map[int][]int{}
	}
	if c.groups[head] == nil {
		c.groups[head] = append(c.groups[head], head)
	}
	c.groups[head] = append(c.groups[head], i)
}

// agree makes what is known of what followed calls that were asked for at once count for
// all of them: of those that a request waits for together only the last answer is followed
// by anything. One callback may also ask for calls of several requests, which all waited
// for the same: then the answers lead to several, or something follows one and not even
// that is known to lead anywhere, or one comes after what should have waited for it.
func (h *hinted) agree(t *Timeline, members []int) {
	whose, last := RequestID(None), Time(0)
	for _, i := range members {
		switch to := h.to[h.c.root(i)]; {
		case to == None && h.c.after[i] != nobody, to != None && whose != None && to != whose:
			return
		case to != None:
			whose, last = to, max(last, t.Calls[h.c.calls[i]].End)
		}
	}
	if whose == None {
		return
	}
	for _, i := range members {
		if t.Calls[h.c.calls[i]].End > last {
			return
		}
	}
	for _, i := range members {
		h.to[h.c.root(i)] = whose
	}
}

// sibling joins calls that were made one after the other in the turn of a request for the
// same older id: whoever that is, it is one. Of calls made at once, none but the one that is
// answered last is followed by something that tells whose they are.
func (w *asyncWalk) sibling(m *move) {
	if w.beside.turn == w.turn.counter && w.beside.trigger == m.trigger && !w.lasting.has(m.trigger) {
		w.chains.link(m.call, callRef(w.beside.call))
	}
	w.beside = beside{w.turn.counter, m.trigger, m.call}
}

// beside is the last call that was made in the turn of a request for an older id.
type beside struct {
	turn, trigger int64 // the last id given out before that turn; the older one
	call          CallID
}
