// Package causality decides which owner some work belongs to, from which owner waited for what and in which order it
// was given out. An owner is a request, or whatever else a caller assigns work to. The package is pure: it knows
// owners, times and grants, and no runtime, protocol or kernel. Each type has a file of its own name and answers one
// question for the rules that use it:
//
//	type           answers                                                      used by
//	Sets           which work belongs to the same owner, whichever that is      all rules of loopcalls that know ids or turns
//	Tally          whether a rule may be believed                               all
//	Chain          which owner sent a call, by what was read right before       loopcalls/loopchain.go
//	Line           which owner is first in a FIFO line, followed as it happens  Pool, Places; messages of worker threads (loops)
//	Pool           which owner gets a connection of a full pool: a guess that   loopcalls/poolorder.go
//	               is corrected as owners end
//	Places         which owners wait, if a peer takes only so many calls at     loopcalls/told.go
//	               once
//	Joined         which owners wait for another owner's call                   loopcalls/told.go
//	Counts         how many calls owners make at a point of their work, if      loopcalls/shared*.go
//	               only sums are seen
//	Deal           which owners can have made each of some calls that came in   loopcalls/sharedcounts.go
//	 (portions.go)  order
//	Order          between which times work was put into a FIFO queue, by when  handoffs/queue.go
//	               it was taken
//	Shares         which owner each task belongs to, if it is known how many    handoffs/shares.go, callers.go
//	               tasks each owner has
//
// points.go says what a point is: how far an owner has come in its work, by what it did so far.
//
// Callers translate the facts of a runtime into owners that wait for something. So if a wrong owner was chosen
// because the caller missed an owner that waited, or named one that did not wait, fix the caller. If the order was
// kept wrongly, fix this package.
package causality

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Waiter is an owner's place in line.
type Waiter[O comparable] struct {
	Owner  O
	Since  recording.Time
	Grants int // how many grants it waits for
	Depth  int // depth, in the caller's terms, of what it waits for
}

// Line is a FIFO resource, such as a full pool of connections or the queue of an executor: the owner that has waited
// longest gets the next grant. The zero Line is empty.
type Line[O comparable] struct {
	// Doubtful says that the waiting owners are not known: one may have joined or left unseen. Callers set it, and
	// clear it once no owner can be in line.
	Doubtful bool

	places []*Waiter[O]       // in order of Since; places that were left or fully granted have no Grants
	of     map[O][]*Waiter[O] // by owner: its places that have Grants
	live   int
}

// Join puts an owner in line for one or more grants, behind all that have waited since the same time or longer. An
// owner may have several places.
func (l *Line[O]) Join(w Waiter[O]) {
	if len(l.places) > 2*l.live+slack { // without this, places that were left in the middle would pile up
		l.places = slices.DeleteFunc(l.places, func(w *Waiter[O]) bool { return w.Grants == 0 })
	}
	i, _ := slices.BinarySearchFunc(l.places, w.Since, func(w *Waiter[O], t recording.Time) int {
		if w.Since <= t {
			return -1
		}
		return 1
	})
	w.Grants = max(w.Grants, 1)
	if l.of == nil {
		l.of = map[O][]*Waiter[O]{}
	}
	l.places, l.of[w.Owner] = slices.Insert(l.places, i, &w), append(l.of[w.Owner], &w)
	l.live++
}

// slack is how many places beyond twice the live ones may be kept.
const slack = 64

// Rejoin puts an owner in line for one grant, in one place: any other place of that owner is given up.
func (l *Line[O]) Rejoin(o O, since recording.Time) {
	l.Leave(o)
	l.Join(Waiter[O]{Owner: o, Since: since})
}

// Leave takes an owner out of line, from all its places.
func (l *Line[O]) Leave(o O) {
	for _, w := range l.of[o] {
		w.Grants = 0
		l.live--
	}
	delete(l.of, o)
}

// Waits returns since when an owner is in line; false if it is not.
func (l *Line[O]) Waits(o O) (since recording.Time, ok bool) {
	if list := l.of[o]; len(list) > 0 {
		return list[0].Since, true
	}
	return recording.NoTime, false
}

// Len is how many places are live.
func (l *Line[O]) Len() int { return l.live }

// Each visits the waiting owners, the head of the line first.
func (l *Line[O]) Each(visit func(Waiter[O])) {
	for _, w := range l.places {
		if w.Grants > 0 {
			visit(*w)
		}
	}
}

// Head is the place that gets the next grant; false if the line is empty.
func (l *Line[O]) Head() (Waiter[O], bool) {
	for len(l.places) > 0 && l.places[0].Grants == 0 {
		l.places = l.places[1:]
	}
	if len(l.places) == 0 {
		return Waiter[O]{}, false
	}
	return *l.places[0], true
}

// Grant gives one grant to the head of the line and returns it; false if the line is empty.
func (l *Line[O]) Grant() (Waiter[O], bool) {
	w, ok := l.Head()
	if ok {
		l.take(w.Owner, slices.Index(l.of[w.Owner], l.places[0]))
	}
	return w, ok
}

// GrantTo gives one grant to an owner that is known by other means to have got it, wherever in line it is; false if
// that owner did not wait.
func (l *Line[O]) GrantTo(o O) (Waiter[O], bool) {
	if len(l.of[o]) == 0 {
		return Waiter[O]{}, false
	}
	w := *l.of[o][0]
	l.take(o, 0)
	return w, true
}

// take uses one grant of an owner's i-th place.
func (l *Line[O]) take(o O, i int) {
	w := l.of[o][i]
	if w.Grants--; w.Grants > 0 {
		return
	}
	l.live--
	if l.of[o] = slices.Delete(l.of[o], i, i+1); len(l.of[o]) == 0 {
		delete(l.of, o)
	}
}
