package loopcalls

import "slices"

// Who was seen to send something may have asked for more in the same turn, that a client writes later: a
// callback that was asked for has an id of that turn.

// asked reports whether an id was given out in the turn of somebody.
func (a *actor) asked(id int64) bool {
	return a.counter < id && (a.until == 0 || id <= a.until)
}

// again is where somebody is who sent something, and may have asked for more.
func (a *actor) again() progress {
	h := a.habit
	if a.spent {
		h.again, h.over = a.went, false
	}
	return h
}

// askedMore reports whether somebody who sent something may have asked for more in the same turn, which a callback
// sends that was asked for in that or later.
func (w *sharing) askedMore(a *actor, exec int64) bool {
	n, known := w.habits.At(a.again())
	return !known || n > 0 || a.asked(exec)
}

// spend lets those at some places go on no more, but for what they may have asked for already.
func (w *sharing) spend(places []int) {
	for _, i := range places {
		a := &w.ready[i]
		a.gone, a.spent = a.went == nothingSent || !w.all || w.holds, true
	}
	w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.gone })
}

// settle ends, as a batch was sent, that those who sent something may have asked for more. Who asked
// before a call on a shared connection was sent has nothing left.
func (w *sharing) settle(b *batch) {
	if w.all && b.late && b.exec > 0 && slices.ContainsFunc(b.calls, w.isShared) {
		w.ready = slices.DeleteFunc(w.ready, func(a actor) bool {
			if a.spent && a.until != 0 && a.until < b.exec {
				w.nothingMore(&a)
			}
			return a.spent
		})
	}
}

// nothingMore notes that somebody asked for nothing more in a turn than what was seen.
func (w *sharing) nothingMore(a *actor) { saw(w.habits, []progress{a.again()}, 0, false) }

// asker reports whether the callback that sent a batch was asked for in the turn of the first of some who are
// ready, and of nobody else.
func (w *sharing) asker(b *batch, list []int) bool {
	if !b.late || b.exec == 0 || !w.all || !w.ready[list[0]].asked(b.exec) {
		return false
	}
	for _, i := range list[1:] {
		if a := &w.ready[i]; a.who != w.ready[list[0]].who && a.asked(b.exec) {
			return false
		}
	}
	return true
}
