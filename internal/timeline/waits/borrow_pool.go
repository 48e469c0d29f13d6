package waits

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// The threads of one pool run the same code from the same depth on, each on its own stack. So what one of them waits
// for at some depth, counted from where its stack begins, the others wait for too. For a single thread, few stacks are
// taken at a place, and one rare exception among them makes the result uncertain; all threads of a pool together have
// many.
const (
	// stackStep is the unit of the distance between stacks: whole pages. The depths of two threads that run different
	// code hardly ever differ by whole pages.
	stackStep = 4096
	// alignPercent is the share of the paths seen in both of two threads that must lie equally far apart to conclude
	// how far apart their stacks are.
	alignPercent = 80
	// poolStacks is how many stacks must have been taken at a place for it to lend one.
	poolStacks = 4
	// alignRounds bounds how many pools of one process are searched for.
	alignRounds = 16
)

// pooled holds the sleeps of one thread, in order, and the distance of its stack from that of the first of its pool.
type pooled struct {
	sleeps []sleepAt
	ways   map[asleepIn]int64 // the depth of each; 0: several depths
	lacks  bool               // stacks of long sleeps
	shift  int64
}

// asleepIn is a path through the code that ends in a system call.
type asleepIn struct {
	path    int32
	syscall string
}

// borrowInPools gives long sleeps without a stack that of other threads of the same pool.
func (s *Sleeps) borrowInPools(threads []pooled) {
	of := map[recording.ProcessID][]*pooled{}
	for i := range threads {
		p := &threads[i]
		if len(p.sleeps) == 0 {
			continue
		}
		if id := s.t.Strands[p.sleeps[0].strand].Process; s.f.Runtime(id) != recording.RuntimeGo {
			p.learn(s.book)
			of[id] = append(of[id], p)
		}
	}
	for _, list := range of {
		slices.SortStableFunc(list, func(a, b *pooled) int { return cmp.Compare(len(b.ways), len(a.ways)) })
		for range alignRounds {
			if len(list) < 2 || !slices.ContainsFunc(list, func(p *pooled) bool { return p.lacks }) {
				break
			}
			var pool, rest []*pooled
			for _, p := range list {
				if p.align(list[0]) {
					pool = append(pool, p)
				} else {
					rest = append(rest, p)
				}
			}
			if len(pool) == 0 {
				break
			}
			s.lend(pool, longWait, poolStacks)
			list = rest
		}
	}
}

// learn finds the ways in which a thread was seen to sleep.
func (p *pooled) learn(book *ruleBook) {
	p.ways = map[asleepIn]int64{}
	for i := range p.sleeps {
		x := &p.sleeps[i]
		at, known := x.place()
		switch {
		case !known:
		case x.stack == timeline.None:
			p.lacks = p.lacks || x.to.Sub(x.from) >= longWait
		case !x.borrowed:
			w := asleepIn{book.paths[x.stack], at.syscall}
			if sp, seen := p.ways[w]; seen && sp != at.sp {
				at.sp = 0
			}
			p.ways[w] = at.sp
		}
	}
}

// align finds the distance of a thread's stack from another's; false if the threads run different code.
func (p *pooled) align(first *pooled) bool {
	far, all := map[int64]int{}, 0
	for w, sp := range p.ways {
		if other := first.ways[w]; sp != 0 && other != 0 {
			far[sp-other]++
			all++
		}
	}
	for d, n := range far {
		if d%stackStep == 0 && n*100 >= all*alignPercent {
			p.shift = d
			return true
		}
	}
	return false
}

// lend gives sleeps without a stack, in the threads of a pool, the stack of others at the same depth, if at least so
// many agree. Sleeps shorter than a limit neither lend nor borrow: next to long sleeps, short ones at the same depth
// may be something else, such as an interpreter's thread whose turn is over.
func (s *Sleeps) lend(pool []*pooled, shortest recording.Duration, least int) {
	votes, lacks := newBallot[int32, timeline.StackID](), false
	each := func(visit func(x *sleepAt, at depth)) {
		for _, p := range pool {
			for i := range p.sleeps {
				x := &p.sleeps[i]
				if at, known := x.place(); known && x.to.Sub(x.from) >= shortest {
					at.sp -= p.shift
					visit(x, at)
				}
			}
		}
	}
	each(func(x *sleepAt, at depth) {
		if x.stack == timeline.None {
			lacks = true
		} else if !x.borrowed {
			votes.cast(x, at, s.book.paths[x.stack], x.stack)
		}
	})
	if !lacks {
		return
	}
	agreed := votes.agreed(least)
	each(func(x *sleepAt, at depth) {
		if stack, ok := agreed[at]; ok && x.stack == timeline.None {
			x.stack, x.borrowed = stack, true
		}
	})
}
