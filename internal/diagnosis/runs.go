package diagnosis

import (
	"math"
	"slices"
	"sort"
)

// sortedRuns holds the durations of a symptom's requests, each run of consecutive requests sorted separately. The
// quantiles of any selection of runs can be found without sorting.
type sortedRuns [][]Duration

// quantile returns the nearest-rank quantile of all the runs together; 0 if they are empty.
func (s sortedRuns) quantile(percent int) Duration {
	return s.drawn([][]int{slices.Repeat([]int{1}, len(s))}, percent)[0]
}

// drawn returns the quantile for each of some draws; a run counts as often as it was drawn.
func (s sortedRuns) drawn(draws [][]int, percent int) []Duration {
	from, to := Duration(math.MaxInt64), Duration(math.MinInt64)
	ends := make([][2]int, len(s))
	for i, run := range s {
		if ends[i][1] = len(run); len(run) > 0 {
			from, to = min(from, run[0]), max(to, run[len(run)-1])
		}
	}
	h := halving{runs: s, draws: draws, places: make([]int, len(draws)), at: make([]int, len(s)), out: make([]Duration, len(draws))}
	var some []int
	for d, times := range draws {
		n := 0
		for i, often := range times {
			n += often * len(s[i])
		}
		if n > 0 {
			h.places[d], some = rank(n, percent), append(some, d)
		}
	}
	h.find(from, to, ends, some)
	return h.out
}

// halving finds the quantiles of draws from runs.
type halving struct {
	runs   sortedRuns
	draws  [][]int
	places []int      // of the quantiles, by draw
	at     []int      // by run: how many of its durations are not above the middle
	out    []Duration // the quantiles
}

// find finds the quantiles of some draws, which lie in a range of durations. For each run, ends bounds the part that
// may be in that range. It halves the range, and with it those parts, for all draws whose quantiles lie in the same
// half at once.
func (h *halving) find(from, to Duration, ends [][2]int, some []int) {
	for from < to && len(some) > 0 {
		middle := from + Duration(uint64(to-from)/2) // their distance may exceed a Duration
		for i, run := range h.runs {
			e := ends[i]
			h.at[i] = e[0] + sort.Search(e[1]-e[0], func(k int) bool { return run[e[0]+k] > middle })
		}
		lower := 0
		for k, d := range some {
			if h.below(d) > h.places[d] {
				some[lower], some[k] = d, some[lower]
				lower++
			}
		}
		upper := slices.Clone(ends)
		for i, at := range h.at {
			ends[i][1], upper[i][0] = at, at
		}
		h.find(middle+1, to, upper, some[lower:])
		to, some = middle, some[:lower]
	}
	for _, d := range some {
		h.out[d] = from
	}
}

// below returns how many durations of a draw are not above the middle.
func (h *halving) below(draw int) (n int) {
	for i, often := range h.draws[draw] {
		n += often * h.at[i]
	}
	return n
}

// apart returns by how much the quantiles of two halves differ. The halves are alternating runs, so that a slow drift
// does not count as noise.
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
