package causality

import (
	"cmp"
	"math"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Span is from one time to another.
type Span struct{ From, To recording.Time }

// Passage is what went through a FIFO queue: between which times it was put in, and taken.
type Passage struct{ Put, Taken Span }

// Order bounds, by passages that are known, when other work was put into a queue: what was taken
// later was put in later.
type Order struct {
	taken   []recording.Time // ends of when known work was, in order
	after   []recording.Time // up to each: the latest time before which nothing was put in that is taken later
	begun   []recording.Time // beginnings of when it was taken, in order
	earlier []recording.Time // from each: the earliest time after which nothing was put in that was taken before
}

// NewOrder takes the known passages of a queue, in any order.
func NewOrder(known []Passage) Order {
	var o Order
	byEnd, byBegin := slices.Clone(known), slices.Clone(known)
	slices.SortFunc(byEnd, func(a, b Passage) int { return cmp.Compare(a.Taken.To, b.Taken.To) })
	slices.SortFunc(byBegin, func(a, b Passage) int { return cmp.Compare(a.Taken.From, b.Taken.From) })
	latest := recording.NoTime
	for _, p := range byEnd {
		latest = max(latest, p.Put.From)
		o.taken, o.after = append(o.taken, p.Taken.To), append(o.after, latest)
	}
	o.begun, o.earlier = make([]recording.Time, len(byBegin)), make([]recording.Time, len(byBegin))
	earliest := recording.Time(math.MaxInt64)
	for i, p := range slices.Backward(byBegin) {
		earliest = min(earliest, p.Put.To)
		o.begun[i], o.earlier[i] = p.Taken.From, earliest
	}
	return o
}

// Put returns between which times work was put in that was taken in a span: not before From (NoTime if
// nothing tells), and not after To.
func (o *Order) Put(taken Span) Span {
	put := Span{recording.NoTime, taken.To}
	if n, _ := slices.BinarySearch(o.taken, taken.From+1); n > 0 {
		put.From = o.after[n-1]
	}
	if i, _ := slices.BinarySearch(o.begun, taken.To); i < len(o.earlier) {
		put.To = min(put.To, o.earlier[i])
	}
	return put
}
