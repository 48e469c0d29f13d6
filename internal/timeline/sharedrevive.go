package timeline

import "slices"

// Who was seen to do something may have asked for more in the same turn, that a client writes later: a
// callback that was asked for has an id of that turn.

// mostPast bounds those of whom that is looked for.
const mostPast = 64

// ended notes the last id that was given out in the turn that ends.
func (w *sharing) ended(counter int64) {
	if n := len(w.past) - mostPast; n > 0 {
		w.past = slices.Delete(w.past, 0, n)
	}
	for i := range w.past {
		if a := &w.past[i]; a.until == 0 {
			a.until = counter
		}
	}
}

// asked reports whether an id was given out in the turn of somebody.
func (a *actor) asked(id int64) bool {
	return a.counter < id && (a.until == 0 || id <= a.until)
}

// revive makes ready again who asked for a callback, if nobody did who is, and one alone may have.
func (w *sharing) revive(exec int64) {
	if slices.ContainsFunc(w.ready, func(a actor) bool { return a.asked(exec) }) {
		return
	}
	found := None
	for i := range w.past {
		if a := &w.past[i]; a.asked(exec) {
			if found != None && w.past[found].who != a.who {
				return
			}
			found = i
		}
	}
	if found == None {
		return
	}
	a := w.past[found]
	a.habit.again, a.habit.over, a.aside = true, false, false
	w.past = slices.Delete(w.past, found, found+1)
	at := slices.IndexFunc(w.ready, func(b actor) bool { return b.turn > a.turn })
	if at < 0 {
		at = len(w.ready)
	}
	w.ready = slices.Insert(w.ready, at, a)
}

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
