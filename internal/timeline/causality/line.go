// Package causality decides whose work is, from who waited for what and in which order it was
// given out. It is pure: it knows owners, times and grants, and no runtime, protocol or kernel. Each type has a file of
// its name, and tells one thing to the rules that use it:
//
//	type           tells                                                        used by
//	Sets           which work is of one owner, whichever that is                all rules of loopcalls that know ids or turns
//	Tally          whether a rule is believed                                   all
//	Chain          whose a call is, by what was read right before               loopcalls/loopchain.go
//	Line           who is first in a FIFO line, followed as it happens          Pool, Joined; messages of worker threads (loops)
//	Pool           who gets a connection of a full pool; a guess, which is      loopcalls/poolorder.go
//	               mended as owners end
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
	Owner O
	Since recording.Time
}

// Line is a FIFO resource, such as a full pool of connections or the queue of an executor: who
// waits for it since longest gets the next grant. The zero Line is one in which nobody waits.
type Line[O comparable] struct {
	// Doubtful says that it is not known who waits: somebody may have joined, or left, unseen.
	// Callers set it, and take it back once nobody can be in line.
	Doubtful bool

	places []*Waiter[O] // in order of Since, with those that left
	of     map[O]*Waiter[O]
}

// Join puts an owner in line, behind all who wait since then or longer. It gives up the place that it had.
func (l *Line[O]) Join(o O, since recording.Time) {
	l.Leave(o)
	if len(l.places) > 2*len(l.of)+slack { // else those that left from the middle would stay
		l.places = slices.DeleteFunc(l.places, func(w *Waiter[O]) bool { return !l.has(w) })
	}
	i, _ := slices.BinarySearchFunc(l.places, since, func(w *Waiter[O], t recording.Time) int {
		if w.Since <= t {
			return -1
		}
		return 1
	})
	if l.of == nil {
		l.of = map[O]*Waiter[O]{}
	}
	w := &Waiter[O]{o, since}
	l.places, l.of[o] = slices.Insert(l.places, i, w), w
}

// slack is how many places beyond twice those that count may be kept.
const slack = 64

// has reports a place that counts.
func (l *Line[O]) has(w *Waiter[O]) bool { return l.of[w.Owner] == w }

// Leave takes an owner out of line.
func (l *Line[O]) Leave(o O) { delete(l.of, o) }

// Waits returns since when an owner is in line; false if it is not.
func (l *Line[O]) Waits(o O) (since recording.Time, ok bool) {
	if w := l.of[o]; w != nil {
		return w.Since, true
	}
	return recording.NoTime, false
}

// Len is how many are in line.
func (l *Line[O]) Len() int { return len(l.of) }

// Each visits who waits, the head of the line first.
func (l *Line[O]) Each(visit func(Waiter[O])) {
	for _, w := range l.places {
		if l.has(w) {
			visit(*w)
		}
	}
}

// Head is who gets the next grant; false if nobody waits.
func (l *Line[O]) Head() (Waiter[O], bool) {
	for len(l.places) > 0 && !l.has(l.places[0]) {
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
	l.Leave(w.Owner)
	return w, ok
}
