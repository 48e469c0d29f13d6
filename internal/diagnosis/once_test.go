package diagnosis

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// A peer is slow all the time. Only in one run of ten requests is this known to be its own doing: still, it did not
// happen just once.
func TestWhatIsSeenAllTheTimeDidNotHappenOnce(t *testing.T) {
	peer := Hypothesis{ID: "peer", Where: true, Test: func(c *Case) Result {
		all := c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Cause == timeline.CauseRemote })
		return Result{Candidates: []Candidate{{Place: "peer", Spans: all[50:60], Seen: all}}}
	}}
	tl := newTimeline()
	every(tl, "GET /", 200, func(i int) []piece {
		p := []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 4000}, {timeline.PhaseRemote, timeline.CauseRemote, 30_000}}
		if i/10 == 5 {
			p[1].us = 90_000
		}
		return p
	})
	d := Diagnose(tl, []Hypothesis{peer}, Options{})
	if len(d.Leads) != 1 || strings.Contains(d.Leads[0].Why, "happened") || d.Leads[0].When != nil {
		t.Errorf("leads %+v", d.Leads)
	}
}
