package diagnosis

import "github.com/getdwell/dwell/internal/timeline/lists"

// Sort sorts durations: there may be as many as requests.
func Sort(list []Duration) { lists.SortNumbers(list) }

// Quantile returns the nearest-rank quantile of sorted values: the smallest value
// that at least percent of them do not exceed. It is 0 for no values.
func Quantile(sorted []Duration, percent int) Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[rank(len(sorted), percent)]
}

// rank is the index of the nearest-rank quantile among n > 0 sorted values.
func rank(n, percent int) int {
	i := (n*percent+99)/100 - 1
	return max(0, min(n-1, i))
}

// band returns the half-open range of indexes within 5 percentile points of percent.
func band(n, percent int) (from, to int) {
	if n == 0 {
		return 0, 0
	}
	return rank(n, max(percent-5, 0)), rank(n, min(percent+5, 100)) + 1
}
