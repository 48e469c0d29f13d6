package causality

import (
	"cmp"
	"math"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Nobody is the owner of what is not known to be anybody's.
const Nobody = -1

// Shares divide tasks among owners, where it is known of each task whose it may be, and of owners how many
// tasks each put into a FIFO queue.
type Shares[O ~int32] struct {
	Taken []Span                     // by task: when it was taken
	May   [][]O                      // by task: whose it may be; used up
	Blur  []recording.Time           // when other tasks were taken that may be anybody's
	Left  func(O) (n int, sure bool) // how many of the tasks are an owner's; not sure if that is not known
	Put   func(O) Span               // when an owner put its tasks in
	Life  func(O) (s Span, all bool) // from when to when an owner's tasks are taken; not all if some are beyond what was seen

	Whose []O // by task: what was found; Nobody
	Odd   int // contradictions

	of   map[O][]int // the tasks that may be an owner's
	left map[O]int   // how many of them are, of owners of which that is known
	todo []O         // those of which something changed
}

// Solve draws all conclusions: an owner that has all its tasks has no other; one that may have no more than it
// lacks has all those; what is left to several goes in order.
func (s *Shares[O]) Solve() {
	s.of, s.left = map[O][]int{}, map[O]int{}
	slices.Sort(s.Blur)
	for i := range s.May {
		s.Whose = append(s.Whose, Nobody)
		for _, o := range s.May[i] {
			if s.of[o] = append(s.of[o], i); len(s.of[o]) > 1 {
				continue
			}
			if n, sure := s.Left(o); sure {
				s.left[o] = n
				s.todo = append(s.todo, o)
			}
		}
	}
	for i := range s.May {
		s.Settle(i)
	}
	for len(s.todo) > 0 {
		o := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		s.look(o)
	}
	s.inOrder()
}

// Settle gives a task to the only one whose it may be.
func (s *Shares[O]) Settle(i int) {
	if s.Whose[i] != Nobody || len(s.May[i]) != 1 {
		return
	}
	o := s.May[i][0]
	s.Whose[i] = o
	if _, sure := s.left[o]; sure {
		s.left[o]--
		s.todo = append(s.todo, o)
	}
}

// look draws the conclusions for an owner: it has all its tasks, or all that may be its are.
func (s *Shares[O]) look(o O) {
	open := s.of[o][:0]
	for _, i := range s.of[o] {
		if s.Whose[i] == Nobody {
			open = append(open, i)
		}
	}
	s.of[o] = open
	switch left := s.left[o]; {
	case left < 0 || left > len(open) && s.clear(o):
		s.Odd++
	case left == 0:
		s.of[o] = nil
		for _, i := range open {
			s.not(i, o)
		}
	case left == len(open) && s.clear(o):
		s.of[o] = nil
		for _, i := range open {
			s.take(i, o)
		}
	}
}

// clear reports that all tasks that may be an owner's are known as such.
func (s *Shares[O]) clear(o O) bool {
	life, all := s.Life(o)
	before, _ := slices.BinarySearch(s.Blur, life.From)
	upTo, _ := slices.BinarySearch(s.Blur, life.To+1)
	return all && before == upTo
}

// not notes whose a task is not.
func (s *Shares[O]) not(i int, o O) {
	s.May[i] = slices.DeleteFunc(s.May[i], func(x O) bool { return x == o })
	if len(s.May[i]) == 0 {
		s.Odd++
	}
	s.Settle(i)
}

// take gives a task to an owner.
func (s *Shares[O]) take(i int, o O) {
	for _, x := range s.May[i] {
		if _, sure := s.left[x]; sure && x != o {
			s.todo = append(s.todo, x)
		}
	}
	s.May[i] = []O{o}
	s.Settle(i)
}

// inOrder gives what is left in the order in which it was put in: of owners that may have put in nothing
// else than some tasks, the first have the first.
func (s *Shares[O]) inOrder() {
	seen := map[O]bool{}
	for i := range s.May {
		if s.Whose[i] != Nobody {
			continue
		}
		for _, o := range s.May[i] {
			if !seen[o] {
				s.line(s.group(o, seen))
			}
		}
	}
}

// group lists an owner and those with which it shares tasks, and these tasks; nothing if it is not known
// how many one of them lacks, or one has more than its share, or there are too many.
func (s *Shares[O]) group(o O, seen map[O]bool) (owners []O, tasks []int) {
	owners, seen[o] = append(owners, o), true
	in, ok, lacking := map[int]bool{}, true, 0
	for k := 0; k < len(owners); k++ {
		n, sure := s.left[owners[k]]
		ok, lacking = ok && sure && n >= 0 && s.clear(owners[k]), lacking+n
		for _, i := range s.of[owners[k]] {
			if s.Whose[i] != Nobody || in[i] {
				continue
			}
			in[i], tasks = true, append(tasks, i)
			for _, x := range s.May[i] {
				if !seen[x] {
					owners, seen[x] = append(owners, x), true
				}
			}
		}
	}
	if !ok || lacking != len(tasks) {
		return nil, nil
	}
	return owners, tasks
}

// line gives the tasks of a group to its owners where nothing but their order is left: up to where neither
// when they were taken nor when they were put in overlaps.
func (s *Shares[O]) line(owners []O, tasks []int) {
	slices.SortStableFunc(owners, func(a, b O) int { return cmp.Compare(s.Put(a).To, s.Put(b).To) })
	slices.SortStableFunc(tasks, func(a, b int) int { return cmp.Compare(s.Taken[a].To, s.Taken[b].To) })
	puts, takes := make([]recording.Time, len(owners)+1), make([]recording.Time, len(tasks)+1) // the earliest, from each on
	puts[len(owners)], takes[len(tasks)] = math.MaxInt64, math.MaxInt64
	for k := len(owners) - 1; k >= 0; k-- {
		puts[k] = min(puts[k+1], s.Put(owners[k]).From)
	}
	for k := len(tasks) - 1; k >= 0; k-- {
		takes[k] = min(takes[k+1], s.Taken[tasks[k]].From)
	}
	from, certain := 0, true
	for k, o := range owners {
		to := from + s.left[o]
		before := certain
		certain = s.Put(o).To <= puts[k+1] && (to == 0 || s.Taken[tasks[to-1]].To <= takes[to])
		if before && certain {
			for _, i := range tasks[from:to] {
				s.Whose[i] = o
			}
		}
		from = to
	}
}
