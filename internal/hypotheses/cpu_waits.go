package hypotheses

import (
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// behindComputing returns what of requests' waits for a processor went by while every processor of
// the host computed for requests: those waits are for each other's work, and go with it.
func behindComputing(c *diagnosis.Case) []diagnosis.Span {
	if diagnosis.ShareOf(int64(c.TimeOf(timeline.CauseRunnable)), int64(c.Time())) < c.Worth {
		return nil
	}
	full := allAtOnce(ownSpans(c), int(max(1, c.Manifest.CPUs)))
	during := func(from, to diagnosis.Time) []window {
		i, _ := slices.BinarySearchFunc(full, from, func(f window, at diagnosis.Time) int { return int(min(1, max(-1, f.to-at-1))) })
		k := i
		for k < len(full) && full[k].from < to {
			k++
		}
		return full[i:k]
	}
	var out []diagnosis.Span
	for _, w := range c.SpansOf(timeline.CauseRunnable, func(_ *timeline.Request, s *timeline.Segment) bool { return len(during(s.From, s.To)) > 0 }) {
		for _, f := range during(w.From, w.To) {
			out = append(out, diagnosis.Span{Request: w.Request, From: max(w.From, f.from), To: min(w.To, f.to)})
		}
	}
	return out
}

// allAtOnce returns the times, in order and disjoint, in which so many spans were under way.
func allAtOnce(spans []diagnosis.Span, n int) (out []window) {
	starts, ends := make([]diagnosis.Time, len(spans)), make([]diagnosis.Time, len(spans))
	for i, s := range spans {
		starts[i], ends[i] = s.From, s.To
	}
	slices.Sort(starts)
	slices.Sort(ends)
	for i, k := 0, 0; i < len(starts); {
		if starts[i] < ends[k] {
			if i++; i-k == n {
				out = append(out, window{from: starts[i-1]})
			}
			continue
		}
		if i-k == n {
			out[len(out)-1].to = ends[k]
		}
		k++
	}
	if last := len(out) - 1; last >= 0 && out[last].to == 0 { // none begins after it
		out[last].to = ends[len(ends)-n]
	}
	return out
}
