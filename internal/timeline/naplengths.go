package timeline

import (
	"cmp"
	"slices"
)

// Which lengths the timers of a loop have is found by asking of each wake which naps it may
// have ended, and sharing it out among them by how many others of that length there are,
// again and again: what is no length gets less each time.

const (
	longestNap   = 60_000 // ms; a longer timer is not looked for
	lengthRounds = 60
	lengthWakes  = 4096 // that lengths are found from
	lengthNaps   = 64   // that one wake is shared out among
	mostLengths  = 32
	napShare     = 1 << 16 // of one wake
	napBits      = 30      // after the point, of what it gives for a unit of weight
	leastWakes   = 3       // that a length needs
	leastShare   = 50      // and of how many wakes one at least
)

// naplen is a nap's lengths if one wake ended it, in ms: from and to including.
type naplen struct{ from, to int64 }

// findLengths finds the lengths of what naps and wakes are not put together yet, in ms.
func (d *dozing) findLengths() []int64 {
	var all [][]naplen
	for i := 0; i < len(d.wakes) && len(all) < lengthWakes; i++ {
		if d.wakes[i].nap == None && !d.beside(i) {
			all = append(all, d.spans(&d.wakes[i]))
		}
	}
	weight := make([]int64, longestNap+1)
	for i := range weight[1:] {
		weight[i+1] = 1
	}
	for range lengthRounds {
		weight = shareOut(all, weight)
	}
	votes := map[int64]int{}
	for _, spans := range all {
		if best := heaviest(spans, weight); best > 0 {
			votes[best]++
		}
	}
	found := []int64{}
	for k, n := range votes {
		if n >= leastWakes && n*leastShare >= len(all) {
			found = append(found, k)
		}
	}
	slices.SortFunc(found, func(a, b int64) int { return cmp.Or(cmp.Compare(votes[b], votes[a]), cmp.Compare(a, b)) })
	found = found[:min(len(found), mostLengths)]
	slices.Sort(found)
	return found
}

// shareOut shares each wake out among the lengths that it may have, by their weights. What a
// wake gives for a unit of weight is summed up over the lengths that it is for, in one pass: a
// loop that was blocked for a second makes spans of a thousand lengths.
func shareOut(all [][]naplen, weight []int64) []int64 {
	upTo, gives := make([]int64, len(weight)), make([]int64, len(weight)+1) // sums; the steps of them
	sum := int64(0)
	for k, w := range weight {
		sum += w
		upTo[k] = sum
	}
	for _, spans := range all {
		total := int64(0)
		for _, s := range spans {
			total += upTo[s.to] - upTo[s.from-1]
		}
		if total == 0 {
			continue
		}
		for _, s := range spans {
			gives[s.from] += (napShare << napBits) / total
			gives[s.to+1] -= (napShare << napBits) / total
		}
	}
	next, unit := make([]int64, len(weight)), int64(0)
	for k := range next {
		unit += gives[k]
		next[k] = weight[k] * unit >> napBits
	}
	return next
}

// heaviest returns the length of most weight among those that a wake may have ended, 0 if none has any.
func heaviest(spans []naplen, weight []int64) int64 {
	best := int64(0)
	for _, s := range spans {
		for k := s.from; k <= s.to; k++ {
			if weight[k] > weight[best] {
				best = k
			}
		}
	}
	return best
}

// spans lists the lengths that naps would have if a wake ended them.
func (d *dozing) spans(w *awakening) []naplen {
	var list []naplen
	last := d.last(w.at)
	for i := last - 1; i >= max(0, last-4*lengthNaps) && len(list) < lengthNaps; i-- {
		n := &d.naps[i]
		if w.hi-int64(n.from)/msec > longestNap {
			break
		}
		if s := n.span(w); !n.among && s.from <= s.to && d.fits(n, w) {
			list = append(list, s)
		}
	}
	return list
}

// span returns the lengths of a nap that one wake ended; from is more than to if there are none.
func (n *nap) span(w *awakening) naplen {
	return naplen{max(1, w.lo-int64(n.to)/msec), min(longestNap, w.hi-int64(n.from)/msec)}
}
