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

// ballot is what the stacks of one strand's sleeps say of their places. They vote for a K.
type ballot[K comparable] struct {
	all map[depth]*tally
	by  map[vote[K]]*tally
}

type vote[K comparable] struct {
	depth
	of K
}

func newBallot[K comparable]() ballot[K] {
	return ballot[K]{map[depth]*tally{}, map[vote[K]]*tally{}}
}

// cast counts a sleep whose stack was taken.
func (b ballot[K]) cast(at depth, of K, x *sleepAt) {
	lists.Entry(b.all, at).add(x)
	lists.Entry(b.by, vote[K]{at, of}).add(x)
}

// agreed are the places where the stacks agree, and on what.
func (b ballot[K]) agreed() map[depth]K {
	most := map[depth]K{}
	for v, mine := range b.by {
		all := b.all[v.depth]
		if mine.n*100 >= all.n*agreePercent && mine.time*100 >= all.time*agreePercent {
			most[v.depth] = v.of
		}
	}
	return most
}

// borrow gives sleeps without a stack that of others of the same thread, in the same
// system call and at the same depth of its stack, if those are of one path through the
// code.
func (s *Sleeps) borrow() {
	votes, one, missing := newBallot[int32](), map[vote[int32]]timeline.StackID{}, false
	for i := range s.list {
		x := &s.list[i]
		at, known := x.place()
		switch {
		case x.stack == timeline.None:
			missing = true
		case known:
			path := s.book.paths[x.stack]
			votes.cast(at, path, x)
			if _, ok := one[vote[int32]{at, path}]; !ok {
				one[vote[int32]{at, path}] = x.stack
			}
		}
	}
	if !missing || len(one) == 0 {
		return
	}
	agreed := votes.agreed()
	for i := range s.list {
		x := &s.list[i]
		at, known := x.place()
		if path, ok := agreed[at]; ok && known && x.stack == timeline.None {
			x.stack, x.borrowed = one[vote[int32]{at, path}], true
		}
	}
}

// agree finds the sleeps for the interpreter's lock of a strand of Ruby among those without
// a stack: all at that depth are for it. Which of its methods Ruby is in, the depth of the
// machine's stack does not tell, so there may be none to borrow.
func (s *Sleeps) agree() {
	votes, verdicts := newBallot[string](), map[vote[string]]verdict{}
	for i := range s.list {
		x := &s.list[i]
		if at, known := x.place(); known && x.stack != timeline.None && !x.borrowed && futexSyscall(at.syscall) {
			votes.cast(at, x.verdict.code, x)
			verdicts[vote[string]{at, x.verdict.code}] = x.verdict
		}
	}
	agreed := votes.agreed()
	for i := range s.list {
		x := &s.list[i]
		at, known := x.place()
		if x.stack != timeline.None || !known || !futexSyscall(at.syscall) {
			continue
		}
		code, ok := agreed[at]
		if v := verdicts[vote[string]{at, code}]; ok && v.cause == timeline.CauseInterpreterLock {
			x.verdict, x.quality = v, timeline.Inferred
		}
	}
}
