package waits

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// agreePercent is the share of the stacks taken at one place, by count and by time slept, that must be alike to assume
// the same of other sleeps there. Many places have rare exceptions: for example, an interpreter's thread whose turn is
// over waits for the next turn at the same depth at which it waits for locks.
const agreePercent = 95

// depth is where a thread sleeps, as far as is known without a stack.
type depth struct {
	sp      int64
	syscall string
}

// place returns the depth of a sleep; false if its depth is not known.
func (x *sleepAt) place() (depth, bool) {
	return depth{x.off.SP, x.off.Syscall}, x.off.SP != 0
}

// tally counts stacks, and sums the length of the sleeps they were taken in.
type tally struct {
	n    int
	time recording.Duration
}

func (t *tally) add(x *sleepAt) {
	t.n++
	t.time += x.to.Sub(x.from)
}

// ballot collects what the stacks of some sleeps say about their places. Each stack votes for a K; the first stack for
// a K gives the V that sleeps without a stack receive.
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

// agreed returns the places at which at least so many stacks were taken and nearly all agree, and the V they give.
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

// borrow gives a sleep without a stack the stack of other sleeps. These belong to the same thread, in the same system
// call and at the same depth of its stack, and must follow one path through the code.
func (s *Sleeps) borrow() { s.lend([]*pooled{{sleeps: s.list}}, 0, 1) }

// agree finds sleeps for the interpreter's lock among a Ruby strand's sleeps without a stack: all sleeps at that depth
// are for the lock. The depth of the machine's stack does not show which Ruby method runs, so there may be no stack to
// borrow.
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
