package hypotheses

import (
	"cmp"
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// behindTheirOwn are, by request, waits for the one worker that reads their connection, which
// serves others, while another worker of its process slept and had nothing to do from their
// beginning to their end: with one queue for all it would have taken them.
func behindTheirOwn(c *diagnosis.Case) map[diagnosis.RequestID][]diagnosis.Span {
	served, out := servedByThread(c), map[diagnosis.RequestID][]diagnosis.Span{}
	for _, id := range c.With(timeline.CausePool) {
		r := &c.Requests[id]
		if !r.Measured() {
			continue
		}
		for s := r.Segments(); s.Next(); {
			if !forWorker(c, r, &s.Segment) || s.Blocker == timeline.None || s.Strand == timeline.None || c.Strands[s.Strand].Loop {
				continue
			}
			for other, windows := range served {
				if other != s.Strand && c.Strands[other].Process == r.Process && idleAll(c, other, windows, s.From, s.To) {
					out[r.ID] = append(out[r.ID], diagnosis.Span{Request: r.ID, From: s.From, To: s.To})
					break
				}
			}
		}
	}
	return out
}

// servedByThread is when each thread that serves one request at a time served some, in order.
func servedByThread(c *diagnosis.Case) workers {
	w := workers{}
	for i := range c.Requests {
		r := &c.Requests[i]
		if r.Strand != timeline.None && r.FirstRead != recording.NoTime && !c.Strands[r.Strand].Loop && c.Strands[r.Strand].Goroutine == recording.NoGoroutine {
			w[r.Strand] = append(w[r.Strand], window{r.FirstRead, r.End})
		}
	}
	for _, list := range w {
		slices.SortFunc(list, func(a, b window) int { return cmp.Compare(a.from, b.from) })
	}
	return w
}

// idleAll reports whether a worker slept all of a span, between two requests that it served.
func idleAll(c *diagnosis.Case, worker timeline.StrandID, served []window, from, to diagnosis.Time) bool {
	next, _ := slices.BinarySearchFunc(served, from, func(w window, t diagnosis.Time) int { return cmp.Compare(w.from, t) })
	if next == 0 || next == len(served) || served[next-1].to > from || served[next].from < to {
		return false
	}
	ivs := timeline.Clipped(c.Strands[worker].Intervals, from, to)
	return len(ivs) == 1 && ivs[0].State == timeline.StateSleeping
}

// ownWorker says that requests wait for workers of their own; nil if none does.
func ownWorker(c *diagnosis.Case, own map[diagnosis.RequestID][]diagnosis.Span, ev []diagnosis.Evidence) *diagnosis.Candidate {
	if len(own) == 0 {
		return nil
	}
	var spans []diagnosis.Span
	for _, id := range slices.Sorted(maps.Keys(own)) {
		spans = append(spans, own[id]...)
	}
	mean, share := perMean(c, diagnosis.Total(spans))
	return &diagnosis.Candidate{
		Place: "the worker of a connection",
		Title: "Requests wait before the server reads them: for the one worker that has their connection, which serves another, while others have nothing to do",
		Fix:   "one queue that whichever worker is free takes from, in place of one for each; or give a connection to the worker that has least to do when it comes",
		Next:  "dwell show REC --slowest 3 names the request that each wait was behind",
		Spans: spans,
		Evidence: append([]diagnosis.Evidence{
			diagnosis.Part("of all request time", share),
			diagnosis.NS("mean wait of a request", mean),
			diagnosis.Count("requests that waited so", len(own)),
		}, ev...),
	}
}
