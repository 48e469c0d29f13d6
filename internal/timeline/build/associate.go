package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// associate gives calls of strands that serve one request at a time to that request.
// Calls of loops are left to the rules for loops.
func associate(t *timeline.Timeline, f *facts.Facts, work []exchange.Call, o timeline.Stints) {
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Strand == timeline.None || t.Strands[c.Strand].Loop || c.Why != "" {
			continue
		}
		r := o.At(c.Strand, c.SendFrom)
		if c.SendFrom == recording.NoTime {
			r = o.At(c.Strand, c.Start)
		}
		if r == timeline.None {
			t.Assign(c, timeline.None, timeline.WhyNoOwner)
			continue
		}
		rule := timeline.WhyThread
		if t.Strands[c.Strand].Goroutine != recording.NoGoroutine {
			rule = timeline.WhyGoroutine
		}
		t.Assign(c, r, rule)
		if c.Start < t.Requests[r].FirstRead {
			exchange.Warmed(c, &work[i].Bounds)
		}
	}
}
