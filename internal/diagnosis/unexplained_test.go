package diagnosis

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// Requests compute 2 ms and wait 6 ms for another thread.
func TestWaitsThatNothingExplainsAreListed(t *testing.T) {
	waits := func(int) []piece {
		return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 2000}, {timeline.PhaseHandler, timeline.CauseCondition, 6000}}
	}
	part := but(taking("part", timeline.CauseCondition), func(_ *Case, cd *Candidate) {
		for i := range cd.Spans {
			cd.Spans[i].From += 3_000_000
		}
	})
	for _, c := range []struct {
		what string
		hyps []Hypothesis
		want int
	}{
		{"no mechanism has the wait", []Hypothesis{taking("cpu", timeline.CauseOnCPU)}, 1},
		{"a mechanism has all of it", []Hypothesis{taking("all", timeline.CauseCondition)}, 0},
		{"a mechanism explains it and promises half", []Hypothesis{part}, 0},
	} {
		tl := newTimeline()
		every(tl, "GET /", 100, waits)
		open := Diagnose(tl, c.hyps, Options{}).Open
		if len(open) != c.want {
			t.Fatalf("%s: %+v", c.what, open)
		}
		if c.want == 1 && (open[0].Cause != timeline.CauseCondition || open[0].Ordinary != Whole*3/4) {
			t.Errorf("%s: %+v, want 75 %% of a condition", c.what, open[0])
		}
	}
}
