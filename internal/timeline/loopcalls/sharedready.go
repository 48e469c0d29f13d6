package loopcalls

import (
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// A request is ready, which means that it may send calls, from when it was read, or its calls were answered, until
// the loop sleeps. A request that was not seen to send anything by then is away: it waits for a timer, or for
// something that no fact shows.
//
// Several requests may be ready in one turn, if their answers were read at once. If as many timers were set in that
// turn, and fired, as there are requests that sent nothing, each of these requests sleeps, and the first one set the
// first timer. A request that sent something may have asked in the same turn for more, which the client writes later,
// in a callback with an id of that turn.

// actor is an owner that may go on: a request, or the unknown request of a call.
type actor struct {
	who     loops.Owner
	point   progress
	turn    int   // the turn in which it may
	until   int64 // last id given out before the next turn; 0: that turn has not come yet
	counter int64 // last id given out before its turn
	at      recording.Time
	went    turnActivity // what it was seen to do
	nap     *nap         // the short sleep begun in its turn; nil: no timer was set
	spent   bool         // it sends nothing more, except what it already asked for in its turn
	told    bool         // the owner of its calls is known from ids
}

// nap is a short sleep: the timers that were set in a turn and fired, in order, and the owners that did nothing in
// that turn.
type nap struct {
	timers []int64
	asleep []actor
}

// unnamed is an owner whose request is not known. It has ended when all requests have ended that it may be.
type unnamed struct {
	who  loops.Owner
	ends recording.Time
}

// mostReady bounds the owners that may go on and do nothing, if nothing shows that a loop's turn is over. mostAway is
// up to how many owners that are away the candidates for an unseen call are kept.
const (
	mostReady = 1024
	mostAway  = 64
)

// idle reports whether an owner did nothing in its turn and has not ended.
func (a *actor) idle() bool { return a.went == nothingSent && !a.point.over && !a.point.some }

// asked reports whether an id was given out in the owner's turn.
func (a *actor) asked(id int64) bool {
	return a.counter < id && (a.until == 0 || id <= a.until)
}

// isAt is the point that an owner has come to; an owner that sent something may have asked for more.
func (a *actor) isAt() progress {
	h := a.point
	if a.spent {
		h.again, h.over = a.went, false
	}
	return h
}

// inTurn lists the indexes of some of the owners that may go on in the running turn.
func (w *sharing) inTurn(which func(*actor) bool) (list []int) {
	for i := range w.ready {
		if a := &w.ready[i]; a.turn == w.turn.n && which(a) {
			list = append(list, i)
		}
	}
	return list
}

// goesOn notes that an owner may go on.
func (w *sharing) goesOn(who loops.Owner, h progress, m *loops.Move) {
	if len(w.ready) >= mostReady {
		w.leave()
	}
	if w.holds && who != loops.Nobody {
		w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.who == who })
	}
	w.ready = append(w.ready, actor{who: who, point: h, turn: w.turn.n, counter: m.Counter, at: m.At, nap: w.turn.nap})
}

// spend ends the turn of the owners at some indexes, except for what they may have asked for already.
func (w *sharing) spend(places []int) {
	for _, i := range places {
		w.ready[i].spent = true
	}
	w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.spent && (a.went == nothingSent || !w.all || w.holds) })
}

// settle ends, after a batch was sent, the wait for more calls of owners that sent something. An owner that asked
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

// nothingMore notes that an owner asked for nothing more in a turn than what was seen.
func (w *sharing) nothingMore(a *actor) { saw(w.counts, []progress{a.isAt()}, 0, false) }

// leave ends the turn of owners that were not seen to do anything: they wait for something else, unless what they
// asked for may be held back.
func (w *sharing) leave() {
	if w.holds && w.beside > 0 && len(w.ready) < mostReady {
		return
	}
	for i := range w.ready {
		if a := &w.ready[i]; a.spent {
			w.nothingMore(a)
		} else {
			w.goesAway(i)
		}
	}
	w.ready = w.ready[:0]
}

// goesAway notes that one of the ready owners sent nothing.
func (w *sharing) goesAway(place int) {
	a := &w.ready[place]
	if !a.told {
		w.saw([]int{place}, 0, true)
	}
	if !a.idle() {
		return
	}
	if a.nap != nil {
		a.nap.asleep = append(a.nap.asleep, *a)
	}
	if r, ok := a.who.Request(); a.who == loops.Nobody || ok && w.answeredBefore(r, w.now) {
		return
	}
	if _, ok := a.who.Call(); ok {
		w.unnamed = append(w.unnamed, unnamed{a.who, w.allEnd})
	}
	w.away[a.who] = a.point
}

// stillAway is how many owners are away that have not ended.
func (w *sharing) stillAway() int {
	for len(w.unnamed) > 0 && (w.unnamed[0].ends < w.now || len(w.unnamed) > mostAway) {
		delete(w.away, w.unnamed[0].who)
		w.unnamed = w.unnamed[1:]
	}
	return len(w.away)
}

// unseen assigns calls of owners that went on after something that no fact shows, such as a timer: to the owner that
// ids show, or to the only one that is away.
func (w *sharing) unseen(calls []timeline.CallID) {
	if len(calls) == 0 {
		return
	}
	list := []loops.Owner{loops.Nobody} // any owner
	if w.stillAway() <= mostAway {
		list = slices.Collect(maps.Keys(w.away))
	}
	for _, id := range calls {
		who := loops.Nobody
		if r := w.t.Calls[id].Request; r != timeline.None {
			who = loops.OfRequest(r)
			w.told[id] = true
		} else if len(list) == 1 {
			who = list[0]
		}
		w.gets(id, who)
		if who == loops.Nobody {
			w.either[id] = list
			continue
		}
		h := w.returns(who)
		h.steps = min(h.steps+1, 100)
		w.did[who] = h
	}
}

// returns ends the time in which an owner is away, if it was, and returns the point that it has come to.
func (w *sharing) returns(who loops.Owner) progress {
	h := w.did[who]
	if at, away := w.away[who]; away {
		h = at
		delete(w.away, who)
	}
	if r, ok := who.Request(); ok {
		h.endpoint = w.t.Requests[r].Endpoint
	}
	return h
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
	if list := w.set[m]; len(list) > 0 {
		w.turn.nap = &nap{timers: list}
		for _, id := range list {
			w.naps[id] = w.turn.nap
		}
	}
}

// lieDown marks the owners as asleep that did nothing in the turn that ends, if as many timers were set in it.
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

// wakes lets the owner go on that waited for a timer, or that something else called back, if it is known.
func (w *sharing) wakes(m *loops.Move) {
	if n := w.naps[m.Exec]; n != nil && len(n.asleep) == len(n.timers) {
		a := n.asleep[slices.Index(n.timers, m.Exec)]
		if a.who = w.who(a.who); a.who == loops.Nobody {
			a.point = progress{}
		} else {
			a.point.woke = true
		}
		delete(w.away, a.who)
		w.goesOn(a.who, a.point, m)
		return
	}
	who := w.who(m.By)
	if who == loops.Nobody {
		w.turn.runs = false
		return
	}
	h := w.returns(who)
	h.woke = true
	w.ready = slices.DeleteFunc(w.ready, func(a actor) bool { return a.who == who && a.until == a.counter })
	w.goesOn(who, h, m)
}
