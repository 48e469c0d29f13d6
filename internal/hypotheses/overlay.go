package hypotheses

import (
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// overlay lays waits over what holders did meanwhile. If thousands wait at once, each waits behind thousands of deeds.
// Deeds that lie wholly in a wait are not visited one by one, but counted by sums.
type overlay struct {
	list   []deed                // in order, disjoint
	ends   []diagnosis.Time      // their ends: searched in, far smaller
	before [][deedKinds]Duration // of each deed: the time of those before it, by kind
	starts []int                 // of each deed: how many more waits begin to cover whole deeds with it than stop to
	edges  []Duration            // of each deed: time in waits that cover it in part
}

func newOverlay(list []deed) *overlay {
	n := len(list)
	o := &overlay{list, make([]diagnosis.Time, n), make([][deedKinds]Duration, n+1), make([]int, n+1), make([]Duration, n)}
	for i := range list {
		o.ends[i] = list[i].to
		o.before[i+1] = o.before[i]
		o.before[i+1][list[i].kind] += list[i].to.Sub(list[i].from)
	}
	return o
}

// lay returns how long holders did each kind of thing during a wait; the rest of it is unknown.
func (o *overlay) lay(from, to diagnosis.Time) (parts [deedKinds]Duration) {
	first, _ := slices.BinarySearch(o.ends, from+1)
	end, _ := slices.BinarySearch(o.ends[first:], to)
	if end += first; end < len(o.list) && o.list[end].from < to {
		end++
	}
	for first < end && o.edge(first, from, to, &parts) {
		first++
	}
	for first < end && o.edge(end-1, from, to, &parts) {
		end--
	}
	if first < end {
		o.starts[first]++
		o.starts[end]--
		for kind := range parts {
			parts[kind] += o.before[end][kind] - o.before[first][kind]
		}
	}
	parts[deedUnknown] = to.Sub(from)
	for kind := deedUnknown + 1; kind < deedKinds; kind++ {
		parts[deedUnknown] -= parts[kind]
	}
	return parts
}

// edge books a deed that a wait covers in part, and reports whether this is one.
func (o *overlay) edge(i int, from, to diagnosis.Time, parts *[deedKinds]Duration) bool {
	x := &o.list[i]
	if from <= x.from && x.to <= to {
		return false
	}
	d := min(to, x.to).Sub(max(from, x.from))
	parts[x.kind] += d
	o.edges[i] += d
	return true
}

// weights returns, for each deed, how long waits covered it, in all; 0 for what is not known.
func (o *overlay) weights() []Duration {
	out, covers := make([]Duration, len(o.list)), 0
	for i := range o.list {
		covers += o.starts[i]
		if x := &o.list[i]; x.kind != deedUnknown {
			out[i] = o.edges[i] + Duration(covers)*x.to.Sub(x.from)
		}
	}
	return out
}
