package waits

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// If only the place in the code where a lock is taken is known, two places may belong to one lock, and one place to
// several locks. The order of releases shows which: the next strand to release a lock is the one that was woken or the
// one that had the lock before, unless another strand was quicker.
const (
	// handedOver: if all wake-ups belong to one lock, at least one in this many is followed by a wake-up by the thread
	// that was woken.
	handedOver = 3
	// severalLocks: if they belong to several locks, fewer than one in this many is.
	severalLocks = 10
	// fewReleases: fewer releases than this prove nothing.
	fewReleases = 20
	// manyCandidates is how often two places in different classes must follow each other to be checked; in one class,
	// once suffices.
	manyCandidates = 4
	// fewChanges: with fewer changes from one place to the other than this, the two directions are counted together.
	fewChanges = 4
)

// sameLocks returns, for each lock, the first lock that is the same one, or the lock itself. It moves the sleeps of the
// others to that first lock.
func (s *Sleeps) sameLocks(of [][]int32) []timeline.LockID {
	one := make([]timeline.LockID, len(of))
	var places []int32 // sleeps for locks that are known only by place
	for id := range of {
		one[id] = timeline.LockID(id)
		if l := &s.t.Locks[id]; l.Kind == timeline.CauseLock && l.Address == 0 && l.Stack != timeline.None {
			places = append(places, of[id]...)
		}
	}
	s.inOrder(places)
	pairs, proven := s.candidates(places)
	for _, p := range pairs {
		if proven[p] || s.same(p, of) {
			a, b := one[p.a], one[p.b]
			for id := range one {
				if one[id] == max(a, b) {
					one[id] = min(a, b)
				}
			}
		}
	}
	for id, root := range one {
		if root != timeline.LockID(id) {
			of[root] = append(of[root], of[id]...)
			s.inOrder(of[root])
		}
	}
	return one
}

// lockPair is a pair of places at which locks are taken, the lower id first.
type lockPair struct{ a, b timeline.LockID }

// candidates returns pairs of places that may take one lock: a thread was woken at one of them, and its next release
// was at the other. It also returns the pairs for which this is proven.
func (s *Sleeps) candidates(places []int32) (list []lockPair, proven map[lockPair]bool) {
	counts, proven := map[lockPair]int{}, map[lockPair]bool{}
	woken := map[timeline.StrandID]*sleepAt{}    // and has released nothing since
	last := map[timeline.LockID]recording.Time{} // when it was last released
	for _, i := range places {
		x := &s.all[i]
		by, lock := s.releaser(x.off, x.strand), s.t.Waits[x.wait].Lock
		if by == timeline.None {
			continue
		}
		y := woken[by]
		delete(woken, by)
		woken[x.strand] = x
		before := last[lock]
		last[lock] = x.to
		if y == nil {
			continue
		}
		at := s.t.Waits[y.wait].Lock
		if at == lock || s.t.Locks[at].Process != s.t.Locks[lock].Process {
			continue
		}
		p := lockPair{min(at, lock), max(at, lock)}
		counts[p]++
		if before <= x.from && y.from <= x.from && x.from < y.to && s.without(y.stack, lock) {
			proven[p] = true
			list = append(list, p)
		}
		if n := counts[p]; n == manyCandidates || n == 1 && s.class(s.t.Locks[p.a].Stack) == s.class(s.t.Locks[p.b].Stack) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(x, y lockPair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	list = slices.Compact(list)
	return list[:min(len(list), manyHolds)], proven
}

// without reports whether a thread, judging by the stack it slept with, had not taken a lock at its place before: the
// method that takes the lock is not on the stack. Assume that nothing released that lock after another thread began to
// wait for it, and that this thread then did. Then it must have obtained the lock when it woke, so both locks are one.
func (s *Sleeps) without(id timeline.StackID, lock timeline.LockID) bool {
	site := s.t.FrameOf(s.t.Locks[lock].Stack, symbol.IsBeyondLocks)
	if id == timeline.None || site == timeline.None {
		return false
	}
	for ; id != timeline.None; id = s.t.Stacks[id].Caller {
		if s.book.names[s.t.Stacks[id].Frame] == s.book.names[site] {
			return false
		}
	}
	return true
}

// class returns the class of the method that takes a lock.
func (s *Sleeps) class(id timeline.StackID) string {
	f := s.t.FrameOf(id, symbol.IsBeyondLocks)
	if f == timeline.None {
		return ""
	}
	name := s.book.names[f]
	return name[:max(0, strings.LastIndexAny(name, ".#"))]
}

// same reports whether two places take one lock. Then a thread that is woken at one of them is often the next to
// release at the other, in both directions. If this happens in one direction only, one lock may be taken while the
// other is held.
func (s *Sleeps) same(p lockPair, of [][]int32) bool {
	both := slices.Concat(of[p.a], of[p.b])
	s.inOrder(both)
	var next, handed [2]int // at the lower id after the higher, and the other way round
	var before *sleepAt
	for _, i := range both {
		x := &s.all[i]
		by := s.releaser(x.off, x.strand)
		if by == timeline.None {
			continue
		}
		if y := before; y != nil && s.t.Waits[x.wait].Lock != s.t.Waits[y.wait].Lock && x.from < y.to {
			way := 0
			if s.t.Waits[x.wait].Lock == p.b {
				way = 1
			}
			next[way]++
			if y.strand == by {
				handed[way]++
			}
		}
		before = x
	}
	if next[0]+next[1] < fewChanges {
		return handedOver*(handed[0]+handed[1]) >= next[0]+next[1]
	}
	return handedOver*handed[0] >= next[0] && handedOver*handed[1] >= next[1] && next[0] > 0 && next[1] > 0
}

// several reports whether one place takes many locks, one for each of many objects.
func (s *Sleeps) several(list []int32) bool {
	next, goes := 0, 0
	by := timeline.StrandID(timeline.None)
	var before *sleepAt
	for _, i := range list {
		x := &s.all[i]
		who := s.releaser(x.off, x.strand)
		if who == timeline.None {
			continue
		}
		if before != nil && x.from < before.to {
			next++
			if who == before.strand || who == by {
				goes++
			}
		}
		before, by = x, who
	}
	return next >= fewReleases && severalLocks*goes < next
}
