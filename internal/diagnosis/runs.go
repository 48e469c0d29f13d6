package diagnosis

import (
	"math"
	"sort"
)

// sortedRuns are durations of a symptom's requests, those of each run of consecutive ones
// sorted by themselves: of any choice of runs the quantiles are found without sorting.
type sortedRuns [][]Duration

// quantile returns the nearest-rank quantile of all the runs together; 0 if they are
// empty.
func (s sortedRuns) quantile(percent int) Duration { return s.drawn(nil, percent) }

// drawn is quantile where each run counts as often as it was drawn; nil is once each. It
// halves the range of durations in which the quantile lies, and with it the part of each
// run that is still to be looked at.
func (s sortedRuns) drawn(times []int, percent int) Duration {
	often := func(i int) int {
		if times == nil {
			return 1
		}
		return times[i]
	}
	n, from, to := 0, Duration(math.MaxInt64), Duration(math.MinInt64)
	ends := make([][2]int, len(s)) // of each run: what may be on either side
	for i, run := range s {
		if n += often(i) * len(run); len(run) > 0 && often(i) > 0 {
			from, to = min(from, run[0]), max(to, run[len(run)-1])
		}
		ends[i][1] = len(run)
	}
	if n == 0 {
		return 0
	}
	place := rank(n, percent)
	at := make([]int, len(s))
	for from < to {
		middle, below := from+Duration(uint64(to-from)/2), 0 // their distance may be more than a Duration
		for i, run := range s {
			if often(i) == 0 {
				continue
			}
			e := ends[i]
			at[i] = e[0] + sort.Search(e[1]-e[0], func(k int) bool { return run[e[0]+k] > middle })
			below += often(i) * at[i]
		}
		side := 0
		if below > place {
			to, side = middle, 1
		} else {
			from = middle + 1
		}
		for i := range ends {
			ends[i][side] = at[i]
		}
	}
	return from
}

// apart returns by how much the quantiles of two halves differ: of every other run, so
// that a slow drift is not taken for noise.
func (s sortedRuns) apart(percent int) Duration {
	halves := s.halves()
	a, b := halves[0].quantile(percent), halves[1].quantile(percent)
	return max(a-b, b-a)
}

func (s sortedRuns) halves() (halves [2]sortedRuns) {
	for i, run := range s {
		halves[i%2] = append(halves[i%2], run)
	}
	return halves
}

// fall returns by how much a quantile falls from one set of runs to another.
func fall(before, after sortedRuns, percent int) Duration {
	return before.quantile(percent) - after.quantile(percent)
}
