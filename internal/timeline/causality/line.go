// Package causality decides whose work is, from who waited for what and in which order it was
// given out. It is pure: it knows owners, times and grants, and no runtime, protocol or kernel. Each type has a file of
// its name, and tells one thing to the rules that use it:
//
//	type           tells                                                        used by
//	Sets           which work is of one owner, whichever that is                all rules of loopcalls that know ids or turns
//	Tally          whether a rule is believed                                   all
//	Chain          whose a call is, by what was read right before               loopcalls/loopchain.go
//	Line           who is first in a FIFO line, followed as it happens          Pool, Places; messages of worker threads (loops)
//	Pool           who gets a connection of a full pool; a guess, which is      loopcalls/poolorder.go
//	               mended as owners end
//	Places         who waits, where a peer takes only so many calls at once     loopcalls/told.go
//	Joined         who waits for another's call                                 loopcalls/told.go
//	Counts         how many calls owners make at a point of what they do,       loopcalls/shared*.go
//	               where only sums are seen
//	Deal           who can have made each of some calls that came in order      loopcalls/sharedcounts.go
//	  (portions.go)
//	Order          between which times work was put into a FIFO queue,          handoffs/queue.go
//	               by when it was taken
//	Shares         whose tasks are, where it is known how many each owner has   handoffs/shares.go, callers.go
//
// Callers turn the facts of a runtime into who waits, and for what. So a wrong owner is mended there if somebody waited
// who was not said to, or the other way round; and here if the order was kept wrongly.
package causality

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Waiter is an owner in line.
type Waiter[O comparable] struct {
	Owner  O
	Since  recording.Time
	Grants int // that it waits for
	Depth  int // in the caller's terms, of what it waits for
}

// Line is a FIFO resource, such as a full pool of connections or the queue of an executor: who
// waits for it since longest gets the next grant. The zero Line is one in which nobody waits.
type Line[O comparable] struct {
	// Doubtful says that it is not known who waits: somebody may have joined, or left, unseen.
	// Callers set it, and take it back once nobody can be in line.
	Doubtful bool

	places []*Waiter[O]       // in order of Since; those that left, or got all, have no Grants
	of     map[O][]*Waiter[O] // those that have some
	live   int
}

// Join puts an owner in line for one grant or more, behind all who wait since then or longer. An
// owner may have several places.
func (l *Line[O]) Join(w Waiter[O]) {
	if len(l.places) > 2*l.live+slack { // else those that left from the middle would stay
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

// slack is how many places beyond twice those that count may be kept.
const slack = 64

// Rejoin puts an owner in line for one grant, in one place: any other is given up.
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

// Len is how many places of the line count.
func (l *Line[O]) Len() int { return l.live }

// Each visits who waits, the head of the line first.
func (l *Line[O]) Each(visit func(Waiter[O])) {
	for _, w := range l.places {
		if w.Grants > 0 {
			visit(*w)
		}
	}
}

// Head is who gets the next grant; false if nobody waits.
func (l *Line[O]) Head() (Waiter[O], bool) {
	for len(l.places) > 0 && l.places[0].Grants == 0 {
		l.places = l.places[1:]
	}
	if len(l.places) == 0 {
		return Waiter[O]{}, false
	}
	return *l.places[0], true
}

// Grant gives one grant to the head of the line, and returns who that was; false if nobody waits.
func (l *Line[O]) Grant() (Waiter[O], bool) {
	w, ok := l.Head()
	if ok {
		l.take(w.Owner, slices.Index(l.of[w.Owner], l.places[0]))
	}
	return w, ok
}

// GrantTo gives one to an owner of whom it is known by other means that it got it, wherever in line
// that is; false if it did not wait.
func (l *Line[O]) GrantTo(o O) (Waiter[O], bool) {
	if len(l.of[o]) == 0 {
		return Waiter[O]{}, false
	}
	w := *l.of[o][0]
	l.take(o, 0)
	return w, true
}

// take lets an owner have one grant at its i-th place.
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
