package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline/lists"
)

// merged returns the union of spans, in order and disjoint.
func merged(list []Interval) []Interval {
	slices.SortFunc(list, func(a, b Interval) int { return cmp.Compare(a.From, b.From) })
	out := list[:0]
	for _, iv := range list {
		if n := len(out); n > 0 && iv.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, iv.To)
			continue
		}
		out = append(out, iv)
	}
	return out
}

// Clipped returns the intervals that overlap [from, to); the ends may stick out.
func Clipped(list []Interval, from, to Time) []Interval {
	i := sort.Search(len(list), func(k int) bool { return list[k].To > from })
	j := lists.Near(len(list), i, func(k int) bool { return list[k].From >= to })
	if i >= j {
		return nil
	}
	return list[i:j]
}
