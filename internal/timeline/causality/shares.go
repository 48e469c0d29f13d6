package causality

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Nobody is the owner of what is not known to be anybody's.
const Nobody = -1

// Shares divide tasks among owners, where it is known of each task whose it may be, and of owners how many
// tasks each put into a queue.
type Shares[O ~int32] struct {
	May  [][]O                      // by task: whose it may be; used up
	Blur []recording.Time           // when other tasks were taken that may be anybody's
	Left func(O) (n int, sure bool) // how many of the tasks are an owner's; not sure if that is not known
	Life func(O) (s Span, all bool) // from when to when an owner's tasks are taken; not all if some are beyond what was seen

	Whose []O // by task: what was found; Nobody
	Odd   int // contradictions

	of   map[O][]int // the tasks that may be an owner's
	left map[O]int   // how many of them are, of owners of which that is known
	todo []O         // those of which something changed
}

// Solve draws all conclusions: an owner that has all its tasks has no other; one that may have no more than it
// lacks has all those.
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
