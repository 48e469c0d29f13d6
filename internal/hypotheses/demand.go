package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/recording"
)

// needed is the share of the host's processors that the arriving requests take at the rate at which they come. That is
// the service's load, and not what it got of the processors.
func needed(c *diagnosis.Case) diagnosis.Share {
	var work Duration
	for _, s := range ownSpans(c) {
		if !c.Requests[s.Request].Queued {
			work += s.To.Sub(s.From)
		}
	}
	in, _ := arriving(c)
	return diagnosis.ShareOf(int64(work), int64(in)*max(1, c.Manifest.CPUs))
}

// paced reports whether clients send as fast as they are answered. The connections that carry one request at a time
// must carry half of all requests and be more than there are processors, and must have a request under way for as much
// of the time as counts as saturated. How many requests would come to a faster service is then not known, only that it
// would be more.
func paced(c *diagnosis.Case) bool {
	type line struct {
		first, last diagnosis.Time
		busy        Duration
		requests    int
	}
	lines := map[recording.ConnID]line{}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		l, known := lines[r.Conn]
		if !known {
			l.first = r.Start
		}
		lines[r.Conn] = line{min(l.first, r.Start), max(l.last, r.End), l.busy + r.Duration(), l.requests + 1}
	}
	var busy, open Duration
	carried, used := 0, 0
	for _, l := range lines {
		if lasts := l.last.Sub(l.first); l.requests > 1 && l.busy <= lasts { // else several requests are under way at once
			busy, open, carried = busy+l.busy, open+lasts, carried+l.requests
			used++
		}
	}
	return 2*carried >= len(c.Measured()) && int64(used) > c.Manifest.CPUs && diagnosis.ShareOf(int64(busy), int64(open)) >= c.Saturated
}
