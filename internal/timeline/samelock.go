package timeline

import (
	"strings"

	"github.com/getdwell/dwell/recording"
)

// Where only the place in code is known at which a lock is taken, two places may be of
// one lock, and one place of several. Who gets it next tells: the one that was woken,
// or the one that had it, lets it go the next time, unless another one was quicker.
const (
	// handedOver of so many wake-ups, one at least is followed by one of the thread
	// that was woken, if all are of one lock.
	handedOver = 3
	// severalLocks of so many wake-ups, less than one is, if they are of several.
	severalLocks = 10
	// fewReleases say nothing.
	fewReleases = 20
)

// sameLocks returns for each lock the first of those that are one with it, or itself,
// and moves the sleeps of the others to that one.
func (s *sleeper) sameLocks(of [][]int32) []LockID {
	t := s.t
	one, classes, order := make([]LockID, len(of)), map[lockKey][]LockID{}, []lockKey{}
	for id := range of {
		one[id] = LockID(id)
		l := &t.Locks[id]
		if l.Kind != CauseLock || l.Address != 0 || l.Stack == None || len(of[id]) == 0 {
			continue
		}
		k := lockKey{process: l.Process, site: s.class(l.Stack)}
		if classes[k] == nil {
			order = append(order, k)
		}
		classes[k] = append(classes[k], LockID(id))
	}
	for _, k := range order {
		if ids := classes[k]; len(ids) > 1 && k.site != "" {
			s.unite(ids, of, one)
		}
	}
	return one
}

// class returns the class of the method that takes a lock.
func (s *sleeper) class(id StackID) string {
	f := s.t.frameOf(id, beyondLocks)
	if f == None {
		return ""
	}
	name := s.book.names[f]
	return name[:max(0, strings.LastIndexAny(name, ".#"))]
}

// unite finds out which places in one class take one lock.
func (s *sleeper) unite(ids []LockID, of [][]int32, one []LockID) {
	var all []int32
	for _, id := range ids {
		all = append(all, of[id]...)
	}
	s.inOrder(all)
	type pair struct{ a, b LockID }
	type tally struct{ next, handed int }
	counts, order := map[pair]*tally{}, []pair{}
	before := -1
	for k, i := range all {
		x := &s.all[i]
		by := s.releaser(x.off, x.strand)
		if by == None {
			continue
		}
		if before >= 0 {
			y := &s.all[all[before]]
			p := pair{s.t.Waits[y.wait].Lock, s.t.Waits[x.wait].Lock}
			if p.a > p.b {
				p.a, p.b = p.b, p.a
			}
			if p.a != p.b && x.from < y.to {
				n := counts[p]
				if n == nil {
					n = &tally{}
					counts[p] = n
					order = append(order, p)
				}
				n.next++
				if y.strand == by {
					n.handed++
				}
			}
		}
		before = k
	}
	for _, p := range order {
		if n := counts[p]; handedOver*n.handed < n.next {
			continue
		}
		a, b := one[p.a], one[p.b]
		for _, id := range ids {
			if one[id] == max(a, b) {
				one[id] = min(a, b)
			}
		}
	}
	for _, id := range ids {
		if root := one[id]; root != id {
			of[root] = append(of[root], of[id]...)
			s.inOrder(of[root])
		}
	}
}

// several reports that one place takes many locks: one for each object of many.
func (s *sleeper) several(list []int32) bool {
	next, goes := 0, 0
	by := StrandID(None)
	var before *sleepAt
	for _, i := range list {
		x := &s.all[i]
		who := s.releaser(x.off, x.strand)
		if who == None {
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

// chainHolds gives the Waits for locks that cannot be told apart their Holds: who let
// the lock go had it since it last came back from waiting there, and before that who
// had woken it, and so on.
func (s *sleeper) chainHolds(list []int32) {
	for n, i := range list {
		x := &s.all[i]
		w := &s.t.Waits[x.wait]
		if x.to != w.To {
			continue
		}
		end, by := x.to, s.releaser(x.off, x.strand)
		var holds []Hold
		for k := n - 1; by != None && end > w.From && n-k <= manyPieces; k-- {
			if k >= 0 && s.all[list[k]].to > w.From {
				if s.all[list[k]].strand != by {
					continue
				}
				y := &s.all[list[k]]
				holds = append(holds, Hold{Strand: by, From: y.to, To: end, Since: y.to})
				end, by = y.to, s.releaser(y.off, y.strand)
				continue
			}
			holds = append(holds, Hold{Strand: by, From: w.From, To: end, Since: recording.NoTime})
			break
		}
		w.Holds = nil
		for k := len(holds) - 1; k >= 0; k-- {
			if h := holds[k]; h.From < h.To && h.Strand != w.Strand {
				w.Holds = append(w.Holds, h)
			}
		}
	}
}
