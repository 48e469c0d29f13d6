package lists

// Interned keeps values, those that are equal once: the first many of them.
type Interned[T comparable] struct {
	all  map[T]*T
	last *T
}

// manyShared bounds how many values are looked for.
const manyShared = 1 << 14

// Of returns the value that is kept for all that equal v.
func (s *Interned[T]) Of(v T) *T {
	if s.last != nil && *s.last == v {
		return s.last
	}
	same := s.all[v]
	if same == nil {
		if s.all == nil {
			s.all = map[T]*T{}
		}
		own := v // v itself stays on the stack where one is found
		if same = &own; len(s.all) < manyShared {
			s.all[v] = same
		}
	}
	s.last = same
	return same
}
