package lists

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// ByTime returns a list sorted by a time of its elements; elements of equal time keep their order. It takes linear
// time.
func ByTime[T any](list []T, at func(*T) recording.Time) []T {
	return InOrder(list, Order(len(list), func(i int) recording.Time { return at(&list[i]) }))
}

// InOrder returns a list in an order; nil means that it is already in that order. For a list that is sorted piece by
// piece this is faster than SortByTime, but it needs a second list.
func InOrder[T any](list []T, order []Key) []T {
	if order == nil {
		return list
	}
	sorted := make([]T, len(list))
	for k, i := range order {
		sorted[k] = list[i.place]
	}
	return sorted
}

// SortByTime sorts a list in place: long lists need no second one.
func SortByTime[T any](list []T, at func(*T) recording.Time) {
	arrange(list, Order(len(list), func(i int) recording.Time { return at(&list[i]) }))
}

// arrange puts a list into an order, which it destroys; nil means that it is already in that order.
func arrange[T any](list []T, order []Key) {
	for k := range order {
		first := list[k]
		i := k
		for from := int(order[i].place); from != k; from = int(order[i].place) { // around the cycle of elements that move
			list[i] = list[from]
			order[i].place = int32(i)
			i = from
		}
		order[i].place = int32(i)
		list[i] = first
	}
}

// Key is the time of an element, since the earliest of all, and its index.
type Key struct {
	since uint64
	place int32
}

// Order returns n elements in order of their times; elements of equal time are in order of their indexes. It returns
// nil if they are in order already.
func Order(n int, at func(int) recording.Time) []Key {
	ordered := 0
	for last := recording.Time(math.MinInt64); ordered < n; ordered++ {
		t := at(ordered)
		if t < last {
			break
		}
		last = t
	}
	if ordered == n {
		return nil
	}
	keys := make([]Key, n)
	first, last := recording.Time(math.MaxInt64), recording.Time(math.MinInt64)
	for i := range keys {
		t := at(i)
		keys[i] = Key{uint64(t), int32(i)}
		first, last = min(first, t), max(last, t)
	}
	for i := range keys {
		keys[i].since -= uint64(first)
	}
	if n < radix {
		slices.SortFunc(keys, func(a, b Key) int {
			return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.place, b.place))
		})
		return keys
	}
	return radixSort(keys, uint64(last)-uint64(first))
}

// Keys are sorted by radixBits bits at a time.
const (
	radixBits = 11
	radix     = 1 << radixBits
)

// radixSort sorts keys up to most, beginning with the lowest digit: each pass keeps the order of the previous one.
func radixSort(keys []Key, most uint64) []Key {
	spare := make([]Key, len(keys))
	for shift := 0; most>>shift > 0; shift += radixBits {
		var next [radix]int32
		for i := range keys {
			next[keys[i].since>>shift%radix]++
		}
		sum := int32(0)
		for d, n := range next {
			next[d], sum = sum, sum+n
		}
		for i := range keys {
			d := keys[i].since >> shift % radix
			spare[next[d]] = keys[i]
			next[d]++
		}
		keys, spare = spare, keys
	}
	return keys
}

// SortNumbers sorts numbers. It takes linear time if there are many.
func SortNumbers[T ~int64](list []T) {
	if len(list) < radix || slices.IsSorted(list) {
		slices.Sort(list)
		return
	}
	first := slices.Min(list)
	most := uint64(slices.Max(list)) - uint64(first)
	from, to := list, make([]T, len(list))
	for shift := 0; most>>shift > 0; shift += radixBits {
		var next [radix]int32
		for _, v := range from {
			next[(uint64(v)-uint64(first))>>shift%radix]++
		}
		sum := int32(0)
		for d, n := range next {
			next[d], sum = sum, sum+n
		}
		for _, v := range from {
			d := (uint64(v) - uint64(first)) >> shift % radix
			to[next[d]] = v
			next[d]++
		}
		from, to = to, from
	}
	copy(list, from)
}

// Sized lays out empty lists of known lengths in one piece of memory; nil for 0.
func Sized[T any](lengths []int32) [][]T {
	sum := 0
	for _, n := range lengths {
		sum += int(n)
	}
	all, out := make([]T, sum), make([][]T, len(lengths))
	for i, n := range lengths {
		if n > 0 {
			out[i], all = all[:0:n], all[n:]
		}
	}
	return out
}

// Groups are numbers grouped by their owner.
type Groups[ID ~int32] struct {
	all  []ID
	from []int32 // by owner: where its numbers begin in all; and one more
}

// Grouped groups the numbers below n by owner, of which there are many; each group is in order. A number with a
// negative owner belongs to no group.
func Grouped[ID ~int32](many, n int, whose func(int) int) Groups[ID] {
	g := Groups[ID]{from: make([]int32, many+1)}
	for i := range n {
		if k := whose(i); k >= 0 {
			g.from[k]++
		}
	}
	sum := int32(0)
	for k, n := range g.from {
		sum += n
		g.from[k] = sum // where they end
	}
	g.all = make([]ID, sum)
	for i := n - 1; i >= 0; i-- {
		if k := whose(i); k >= 0 {
			g.from[k]--
			g.all[g.from[k]] = ID(i)
		}
	}
	return g
}

// Of returns the numbers of one owner, which may be appended to; nil if there are none.
func (g *Groups[ID]) Of(k int) []ID {
	if from, to := g.from[k], g.from[k+1]; from < to {
		return g.all[from:to:to]
	}
	return nil
}

// Lists returns the numbers of every owner.
func (g Groups[ID]) Lists() [][]ID {
	out := make([][]ID, len(g.from)-1)
	for k := range out {
		out[k] = g.Of(k)
	}
	return out
}

// Index maps ids to places in a list. Recorders assign ids one after the other, so nearly all are found in an array;
// but a recording may contain any id.
type Index[ID ~int64] struct {
	near []int32 // by id: its place + 1, or 0
	far  map[ID]int32
	size int
}

// indexSlack bounds how sparse the array near may be.
const indexSlack = 4

// none is the place of an id without one.
const none = -1

// Get returns the place of an id; -1 if it has none.
func (x *Index[ID]) Get(id ID) int {
	if uint64(id) < uint64(len(x.near)) && x.near[id] > 0 {
		return int(x.near[id]) - 1
	}
	if place, ok := x.far[id]; ok {
		return int(place)
	}
	return none
}

// Set gives a place to an id that has none yet.
func (x *Index[ID]) Set(id ID, place int) {
	x.size++
	if id < 0 || int64(id) > int64(indexSlack*x.size+radix) {
		if x.far == nil {
			x.far = map[ID]int32{}
		}
		x.far[id] = int32(place)
		return
	}
	if missing := int(id) + 1 - len(x.near); missing > 0 {
		x.near = append(x.near, make([]int32, missing)...)
	}
	x.near[id] = int32(place) + 1
}

// Sorted returns the numbers below n in order of a time.
func Sorted(n int, at func(int) recording.Time) []int32 {
	list := make([]int32, n)
	keys := Order(n, at)
	for i := range list {
		list[i] = int32(i)
		if keys != nil {
			list[i] = keys[i].place
		}
	}
	return list
}

// Near is sort.Search from an index on, for a result that is close to it.
func Near(n, from int, found func(int) bool) int {
	step := 1
	for from+step < n && !found(from+step) {
		from, step = from+step, 2*step
	}
	return from + sort.Search(min(step+1, n-from), func(k int) bool { return found(from + k) })
}
