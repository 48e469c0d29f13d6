package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/recording"
)

// needed is how much of the host's processors the requests that arrive take at the rate at which
// they do: that, and not what the service got of them, is its load.
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

// paced reports whether clients send as fast as they are answered: of the connections that carry
// most requests, one at a time and more than there are processors, each has one under way for as
// much of the time as counts as saturated. How many would come to a faster service is not known
// then, but that it is more.
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
		if lasts := l.last.Sub(l.first); l.requests > 1 && l.busy <= lasts { // else several are under way at once
			busy, open, carried = busy+l.busy, open+lasts, carried+l.requests
			used++
		}
	}
	return 2*carried >= len(c.Measured()) && int64(used) > c.Manifest.CPUs && diagnosis.ShareOf(int64(busy), int64(open)) >= c.Saturated
}
