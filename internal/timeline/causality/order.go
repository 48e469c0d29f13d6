package causality

import (
	"cmp"
	"math"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Span is a time span.
type Span struct{ From, To recording.Time }

// Passage is one item that went through a FIFO queue: the spans in which it was put in and taken out.
type Passage struct{ Put, Taken Span }

// Order bounds the time at which work was put into a FIFO queue, by other work whose passage is known: what was taken
// later was put in later.
type Order struct {
	taken   []recording.Time // ends of the spans in which known work was taken, in order
	after   []recording.Time // up to each: the latest time before which nothing was put in that is taken later
	begun   []recording.Time // beginnings of the spans in which known work was taken, in order
	earlier []recording.Time // from each: the earliest time after which nothing was put in that was taken before
}

// NewOrder builds an Order from the known passages of a queue, in any sequence.
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

// Put returns the span in which work was put in that was taken in a given span: not before From (NoTime if nothing is
// known) and not after To.
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
