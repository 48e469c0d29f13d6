package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline/loops"
)

// Several requests may go on in one turn: their answers were read at once. If as many timers were
// set in it, and fired, as there are of them who were not seen to do anything, each sleeps, and
// the first set the first.

// nap are the timers that were set in a turn and fired, in order, and who did nothing in it.
type nap struct {
	timers []int64
	asleep []actor
}

// timersSet lists, by the move that begins a turn, the timers that were set in it and fired, in order.
func timersSet(moves []loops.Move) map[*loops.Move][]int64 {
	set := map[*loops.Move][]int64{}
	timers, run := map[*loops.Move]bool{}, false
	for i := range moves {
		switch m := &moves[i]; {
		case m.Kind == loops.MoveFired:
			timers[m] = run
		case !m.Callback():
			run = m.Kind == loops.MoveBoundary && m.Trigger == 1
		}
	}
	eachTimer(moves, firedAgain(moves), func(begin, fired *loops.Move) {
		if timers[fired] {
			set[begin] = append(set[begin], fired.Exec)
		}
	})
	for _, list := range set {
		slices.Sort(list)
	}
	return set
}

// setsTimers notes which timers are set in the turn that a move begins.
func (w *sharing) setsTimers(m *loops.Move) {
	w.turn.nap = nil
	if list := w.set[m]; len(list) > 0 {
		w.turn.nap = &nap{timers: list}
		for _, id := range list {
			w.naps[id] = w.turn.nap
		}
	}
}

// lieDown lets those sleep who did nothing in the turn that ends, if as many timers were set in it.
func (w *sharing) lieDown() {
	n := w.turn.nap
	if n == nil || len(n.asleep) > 0 {
		return
	}
	list := w.inTurn((*actor).idle)
	if len(list) != len(n.timers) {
		return
	}
	for _, i := range list {
		w.goesAway(i)
	}
	w.spend(list)
}

// inTurn lists the places of some of those who may go on in the turn that runs.
func (w *sharing) inTurn(which func(*actor) bool) (list []int) {
	for i := range w.ready {
		if a := &w.ready[i]; a.turn == w.turn.n && which(a) {
			list = append(list, i)
		}
	}
	return list
}

// wakes lets go on who waited for a timer, if that is known.
func (w *sharing) wakes(m *loops.Move) {
	n := w.naps[m.Exec]
	if n == nil || len(n.asleep) != len(n.timers) {
		w.resumes(m)
		return
	}
	a := n.asleep[slices.Index(n.timers, m.Exec)]
	a.who = w.who(a.who)
	if a.who == loops.Nobody {
		w.goesOn(loops.Nobody, progress{}, m)
		return
	}
	delete(w.away, a.who)
	a.habit.woke = true
	w.goesOn(a.who, a.habit, m)
}

// resumes lets go on whom something else called back than a timer that was set in a known turn.
func (w *sharing) resumes(m *loops.Move) {
	who := loops.Nobody
	if m.By != loops.Nobody {
		who = w.who(m.By)
	}
	if who == loops.Nobody {
		w.turn.runs = false
		return
	}
	h := w.returns(who)
	h.woke = true
	w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.who == who && a.until == a.counter && !a.spent })
	w.goesOn(who, h, m)
}
