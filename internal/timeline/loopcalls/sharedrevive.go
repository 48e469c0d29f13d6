package loopcalls

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

// revive makes those ready again who may have asked for what a callback sends.
func (w *sharing) revive(exec int64) {
	for _, a := range w.past {
		if a.until != 0 && a.until < exec {
			continue
		}
		a.habit.again, a.habit.over, a.aside, a.revived = a.went, false, false, true
		if n, known := w.habits.At(a.habit); known && n == 0 && !a.asked(exec) {
			continue
		}
		at := slices.IndexFunc(w.ready, func(b actor) bool { return b.turn > a.turn })
		if at < 0 {
			at = len(w.ready)
		}
		w.ready = slices.Insert(w.ready, at, a)
	}
}

// rest lets those be who were made ready again for a batch. If that was of a shared connection, who asked
// before it was sent has nothing left.
func (w *sharing) rest(b *batch) {
	w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.revived })
	if !slices.ContainsFunc(b.calls, w.isShared) {
		return
	}
	for _, a := range w.past {
		if a.until != 0 && a.until < b.exec {
			w.nothingMore(a)
		}
	}
	w.past = w.past[:0]
}

// nothingMore notes that somebody asked for nothing more in a turn than what was seen.
func (w *sharing) nothingMore(a actor) {
	a.habit.again, a.habit.over = a.went, false
	saw(w.habits, []progress{a.habit}, 0, false)
}

// over ends the chance of those who were seen to do something.
func (w *sharing) over() {
	if w.all {
		for _, a := range w.past {
			w.nothingMore(a)
		}
	}
	w.past = w.past[:0]
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
