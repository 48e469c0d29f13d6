package causality

// Sets groups work that belongs to the same owner, whichever that is. What is known about one member of a set holds
// for all of them. A set for which two owners are known contradicts itself and counts as unattributed.
type Sets[W, O ~int32] struct {
	Work []W // the work that is in a set, in the order in which it came; its index is the work's place

	real   int     // the number of real work items; higher numbers were made
	places []int32 // by work: its place, plus 1
	parent []int
	owner  []O    // by root: Nobody, or the last known owner
	odd    []bool // by root: two owners are known
}

// NewSets returns empty sets for so many work items, numbered from 0.
func NewSets[W, O ~int32](work int) Sets[W, O] {
	return Sets[W, O]{real: work, places: make([]int32, work)}
}

// Reset drops all sets, and the work that was made.
func (s *Sets[W, O]) Reset() {
	for _, w := range s.Work {
		s.places[w] = 0
	}
	s.places = s.places[:s.real]
	s.Work, s.parent, s.owner, s.odd = s.Work[:0], s.parent[:0], s.owner[:0], s.odd[:0]
}

// Make makes a work item that stands for an owner about which nothing is known yet.
func (s *Sets[W, O]) Make() W {
	w := W(len(s.places))
	s.places = append(s.places, 0)
	s.Add(w)
	return w
}

// Made reports whether a work item was made by Make.
func (s *Sets[W, O]) Made(w W) bool { return int(w) >= s.real }

// Find returns the place of a work item; not ok if it is in no set.
func (s *Sets[W, O]) Find(w W) (place int, ok bool) {
	i := int(s.places[w])
	return i - 1, i > 0
}

// Add puts a work item into a set of its own if it is in none, and returns its place.
func (s *Sets[W, O]) Add(w W) int {
	i, ok := s.Find(w)
	if !ok {
		i = len(s.Work)
		s.places[w] = int32(i) + 1
		s.Work, s.parent = append(s.Work, w), append(s.parent, i)
		s.owner, s.odd = append(s.owner, Nobody), append(s.odd, false)
	}
	return i
}

// Root is the place that represents the set of the item at place i.
func (s *Sets[W, O]) Root(i int) int {
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

// Join says that two work items belong to the same owner.
func (s *Sets[W, O]) Join(w, other W) {
	i, j := s.Root(s.Add(w)), s.Root(s.Add(other))
	if i == j {
		return
	}
	s.parent[i], s.odd[j] = j, s.odd[j] || s.odd[i]
	if s.owner[i] != Nobody {
		s.claim(j, s.owner[i])
	}
}

// Claim says that a work item belongs to an owner.
func (s *Sets[W, O]) Claim(w W, o O) { s.claim(s.Root(s.Add(w)), o) }

func (s *Sets[W, O]) claim(root int, o O) {
	s.odd[root] = s.odd[root] || s.owner[root] != Nobody && s.owner[root] != o
	s.owner[root] = o
}

// Claimed is the owner that was last claimed for the set of the item at place i, even if another was claimed before.
func (s *Sets[W, O]) Claimed(i int) O { return s.owner[s.Root(i)] }

// Odd reports whether the set of the item at place i contradicts itself.
func (s *Sets[W, O]) Odd(i int) bool { return s.odd[s.Root(i)] }

// Owner is the owner of a work item; Nobody if it is not known.
func (s *Sets[W, O]) Owner(w W) O {
	if i, ok := s.Find(w); ok && !s.Odd(i) {
		return s.Claimed(i)
	}
	return Nobody
}
