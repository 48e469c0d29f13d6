package causality

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Nobody is the owner of what is not known to belong to any owner.
const Nobody = -1

// Shares divides tasks among owners. It needs, for each task, the owners that it may belong to, and for each owner
// how many tasks it put into a queue.
type Shares[O ~int32] struct {
	May  [][]O                      // by task: the possible owners; used up by Solve
	Blur []recording.Time           // when other tasks were taken that may belong to any owner
	Left func(O) (n int, sure bool) // how many of the tasks belong to an owner; not sure if that is not known
	Life func(O) (s Span, all bool) // the span in which an owner's tasks are taken; not all if some lie outside what was seen

	Whose []O // result, by task: its owner or Nobody
	Odd   int // contradictions

	of   map[O][]int // by owner: the tasks that may belong to it
	left map[O]int   // by owner, if known: how many tasks it still lacks
	todo []O         // owners for which something changed
}

// Solve draws all conclusions. An owner that has all its tasks gets no other. If the candidates of an owner are
// exactly as many as it lacks, it gets all of them.
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
}

// Settle assigns a task that has only one possible owner.
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

// look draws the conclusions for one owner: it has all its tasks, or it gets all its candidates.
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

// clear reports whether all tasks that may belong to an owner are known as candidates.
func (s *Shares[O]) clear(o O) bool {
	life, all := s.Life(o)
	before, _ := slices.BinarySearch(s.Blur, life.From)
	upTo, _ := slices.BinarySearch(s.Blur, life.To+1)
	return all && before == upTo
}

// not notes that a task does not belong to an owner.
func (s *Shares[O]) not(i int, o O) {
	s.May[i] = slices.DeleteFunc(s.May[i], func(x O) bool { return x == o })
	if len(s.May[i]) == 0 {
		s.Odd++
	}
	s.Settle(i)
}

// take assigns a task to an owner.
func (s *Shares[O]) take(i int, o O) {
	for _, x := range s.May[i] {
		if _, sure := s.left[x]; sure && x != o {
			s.todo = append(s.todo, x)
		}
	}
	s.May[i] = []O{o}
	s.Settle(i)
}
