// Package lists holds what is kept of very many things in little memory, and sorts it in linear
// time: by time (ByTime, Sorted), numbers (SortNumbers), by an id (Index), one list per thing (Sized,
// Grouped), equal values once (Interned). It knows nothing of what the things are.
package lists

import "slices"

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

// Pile is a list that grows without being copied, but for a short one: there may be millions. Once it is joined it is as
// long as it must be.
type Pile[T any] struct {
	full [][]T
	last []T
}

// Pieces of a pile are so long at least, where it has several, and at most.
const (
	leastPiece = 1 << 9
	mostPiece  = 1 << 14
)

// Add adds one behind the others.
func (p *Pile[T]) Add(v T) {
	if n := len(p.last); n == cap(p.last) && n >= leastPiece {
		p.full = append(p.full, p.last)
		p.last = make([]T, 0, min(2*n, mostPiece))
	}
	p.last = append(p.last, v)
}

// Last are some of those added last.
func (p *Pile[T]) Last() []T { return p.last }

// Joined is the list.
func (p *Pile[T]) Joined() []T {
	if p.full == nil {
		return slices.Clone(p.last)
	}
	return slices.Concat(append(p.full, p.last)...)
}

// Entry is what a map has under a key, made if it has nothing.
func Entry[K comparable, V any](m map[K]*V, k K) *V {
	v := m[k]
	if v == nil {
		v = new(V)
		m[k] = v
	}
	return v
}
