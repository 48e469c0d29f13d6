package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline/loops"
)

// Several requests may go on in one turn: their answers were read at once. If as many timers were
// set in it, and fired, as there are of them who were not seen to do anything, each sleeps, and
// the first set the first.

// timerWaiters are who sleeps in the loop that is followed.
type timerWaiters struct {
	set    map[*loops.Move][]int64 // by the move that begins a turn: the timers that were set in it and fired
	timers map[int64]timerPlace
	asleep map[int][]actor // by turn: who did nothing in it, in order
	timed  map[int]int     // by turn: how many timers were set in it
}

// timerPlace is in which turn a timer was set, and as which.
type timerPlace struct{ turn, place int }

func newTimerWaiters(set map[*loops.Move][]int64) timerWaiters {
	return timerWaiters{set, map[int64]timerPlace{}, map[int][]actor{}, map[int]int{}}
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
	list := w.set[m]
	for k, id := range list {
		w.timers[id] = timerPlace{w.turn.n, k}
	}
	if len(list) > 0 {
		w.timed[w.turn.n] = len(list)
	}
}

// lieDown lets those sleep who did nothing in the turn that ends, if as many timers were set in it.
func (w *sharing) lieDown() {
	many := w.timed[w.turn.n]
	if many == 0 || len(w.asleep[w.turn.n]) > 0 {
		return
	}
	var list []int
	for i := range w.ready {
		if a := &w.ready[i]; a.turn == w.turn.n && a.idle() {
			list = append(list, i)
		}
	}
	if len(list) != many {
		return
	}
	for _, i := range list {
		w.goesAway(i)
	}
	w.remove(list)
}

// sleeps notes that somebody did nothing in a turn in which timers were set.
func (w *sharing) sleeps(a *actor) {
	if w.timed[a.turn] > 0 && a.idle() {
		w.asleep[a.turn] = append(w.asleep[a.turn], *a)
	}
}

// wakes lets go on who waited for a timer, if that is known.
func (w *sharing) wakes(m *loops.Move) {
	b, ok := w.timers[m.Exec]
	list := w.asleep[b.turn]
	if !ok || len(list) != w.timed[b.turn] {
		w.resumes(m)
		return
	}
	a := list[b.place]
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
	w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.who == who && a.until == a.counter })
	w.goesOn(who, h, m)
}
