package causality

// Sets are sets of work that is of one owner, whichever that is. What is known of some of a set is known of all.
// A set of which two owners are known contradicts itself, and is nobody's.
type Sets[W, O ~int32] struct {
	Work []W // that is in a set, in the order in which it came: by place

	real   int     // how much work there is; what is beyond was made
	places []int32 // by work: its place in the lists, plus 1
	parent []int
	owner  []O    // by root: Nobody, or the last that was known
	odd    []bool // by root: two are known
}

// NewSets returns sets of so much work, numbered from 0, none of which is in one.
func NewSets[W, O ~int32](work int) Sets[W, O] {
	return Sets[W, O]{real: work, places: make([]int32, work)}
}

// Reset forgets all sets, and work that was made.
func (s *Sets[W, O]) Reset() {
	for _, w := range s.Work {
		s.places[w] = 0
	}
	s.places = s.places[:s.real]
	s.Work, s.parent, s.owner, s.odd = s.Work[:0], s.parent[:0], s.owner[:0], s.odd[:0]
}

// Make makes work that stands for an owner of whom nothing is known yet.
func (s *Sets[W, O]) Make() W {
	w := W(len(s.places))
	s.places = append(s.places, 0)
	s.Add(w)
	return w
}

// Made reports work that was made.
func (s *Sets[W, O]) Made(w W) bool { return int(w) >= s.real }

// Find returns the place of some work; not ok if it is in no set.
func (s *Sets[W, O]) Find(w W) (place int, ok bool) {
	i := int(s.places[w])
	return i - 1, i > 0
}

// Add makes a set of work that is in none, and returns its place.
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

// Root is the place that stands for the set of what is at a place.
func (s *Sets[W, O]) Root(i int) int {
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

// Join says that some work is of the same owner as other.
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

// Claim says whose some work is.
func (s *Sets[W, O]) Claim(w W, o O) { s.claim(s.Root(s.Add(w)), o) }

func (s *Sets[W, O]) claim(root int, o O) {
	s.odd[root] = s.odd[root] || s.owner[root] != Nobody && s.owner[root] != o
	s.owner[root] = o
}

// Claimed is the last of whom it was said that the set of what is at a place is, though another may have been before.
func (s *Sets[W, O]) Claimed(i int) O { return s.owner[s.Root(i)] }

// Odd reports that the set of what is at a place contradicts itself.
func (s *Sets[W, O]) Odd(i int) bool { return s.odd[s.Root(i)] }

// Owner is whose some work is; Nobody if that is not known.
func (s *Sets[W, O]) Owner(w W) O {
	if i, ok := s.Find(w); ok && !s.Odd(i) {
		return s.Claimed(i)
	}
	return Nobody
}
