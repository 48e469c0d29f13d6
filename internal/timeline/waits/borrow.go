package waits

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// agreePercent is how much of the stacks taken at one place must be alike, by their number
// and by the time slept in them, for other sleeps there to have been the same. A rare
// other is met at many places: an interpreter's thread whose turn is over waits for the
// next at the depth at which it waits for locks.
const agreePercent = 95

// depth is where a thread sleeps, as far as is known without a stack.
type depth struct {
	sp      int64
	syscall string
}

// place is the depth that a sleep was at; false if its depth is not known.
func (x *sleepAt) place() (depth, bool) {
	return depth{x.off.SP, x.off.Syscall}, x.off.SP != 0
}

// tally is how many stacks were taken, in how long sleeps.
type tally struct {
	n    int
	time recording.Duration
}

func (t *tally) add(x *sleepAt) {
	t.n++
	t.time += x.to.Sub(x.from)
}

// ballot is what the stacks of some sleeps say of their places. They vote for a K; the first
// of them gives what the others lack, a V.
type ballot[K comparable, V any] struct {
	all   map[depth]*tally
	by    map[vote[K]]*tally
	first map[vote[K]]V
}

type vote[K comparable] struct {
	depth
	of K
}

func newBallot[K comparable, V any]() ballot[K, V] {
	return ballot[K, V]{map[depth]*tally{}, map[vote[K]]*tally{}, map[vote[K]]V{}}
}

// cast counts a sleep whose stack was taken.
func (b ballot[K, V]) cast(x *sleepAt, at depth, of K, gives V) {
	lists.Entry(b.all, at).add(x)
	mine := lists.Entry(b.by, vote[K]{at, of})
	if mine.add(x); mine.n == 1 {
		b.first[vote[K]{at, of}] = gives
	}
}

// agreed are the places where so many stacks agree, and what they give.
func (b ballot[K, V]) agreed(least int) map[depth]V {
	most := map[depth]V{}
	for v, mine := range b.by {
		all := b.all[v.depth]
		if all.n >= least && mine.n*100 >= all.n*agreePercent && mine.time*100 >= all.time*agreePercent {
			most[v.depth] = b.first[v]
		}
	}
	return most
}

// borrow gives sleeps without a stack that of others of the same thread, in the same
// system call and at the same depth of its stack, if those are of one path through the
// code.
func (s *Sleeps) borrow() { s.lend([]*pooled{{sleeps: s.list}}, 0, 1) }

// agree finds the sleeps for the interpreter's lock of a strand of Ruby among those without
// a stack: all at that depth are for it. Which of its methods Ruby is in, the depth of the
// machine's stack does not tell, so there may be none to borrow.
func (s *Sleeps) agree() {
	votes := newBallot[string, verdict]()
	for i := range s.list {
		x := &s.list[i]
		if at, known := x.place(); known && x.stack != timeline.None && !x.borrowed && timeline.FutexWait(at.syscall) {
			votes.cast(x, at, x.verdict.code, x.verdict)
		}
	}
	agreed := votes.agreed(1)
	for i := range s.list {
		x := &s.list[i]
		at, known := x.place()
		if v := agreed[at]; known && x.stack == timeline.None && v.cause == timeline.CauseInterpreterLock {
			x.verdict, x.quality = v, timeline.Inferred
		}
	}
}
