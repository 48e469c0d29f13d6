// Package lists stores very many things in little memory, and sorts in linear time: by time (ByTime, Sorted) and
// numbers (SortNumbers). It offers an index by id (Index), one list per thing (Sized, Grouped), and storage of equal
// values once (Interned). It does not know what the things are.
package lists

import "slices"

// Interned stores equal values only once, up to manyShared distinct values.
type Interned[T comparable] struct {
	all  map[T]*T
	last *T
}

// manyShared bounds how many distinct values are remembered.
const manyShared = 1 << 14

// Of returns the stored value that equals v.
func (s *Interned[T]) Of(v T) *T {
	if s.last != nil && *s.last == v {
		return s.last
	}
	same := s.all[v]
	if same == nil {
		if s.all == nil {
			s.all = map[T]*T{}
		}
		own := v // v itself stays on the stack if an equal value is found
		if same = &own; len(s.all) < manyShared {
			s.all[v] = same
		}
	}
	s.last = same
	return same
}

// Pile is a list that grows without being copied, except while it is short: there may be millions. Joined returns it
// without spare room.
type Pile[T any] struct {
	full [][]T
	last []T
}

// The pieces of a pile are at least leastPiece long, if there are several, and at most mostPiece.
const (
	leastPiece = 1 << 9
	mostPiece  = 1 << 14
)

// Add appends a value.
func (p *Pile[T]) Add(v T) {
	if n := len(p.last); n == cap(p.last) && n >= leastPiece {
		p.full = append(p.full, p.last)
		p.last = make([]T, 0, min(2*n, mostPiece))
	}
	p.last = append(p.last, v)
}

// Last returns some of the values added last.
func (p *Pile[T]) Last() []T { return p.last }

// Joined returns the whole list.
func (p *Pile[T]) Joined() []T {
	if p.full == nil {
		return slices.Clone(p.last)
	}
	return slices.Concat(append(p.full, p.last)...)
}

// Entry returns what a map has under a key, and makes it if there is nothing.
func Entry[K comparable, V any](m map[K]*V, k K) *V {
	v := m[k]
	if v == nil {
		v = new(V)
		m[k] = v
	}
	return v
}
