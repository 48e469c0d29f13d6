package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// A thread runs until 10, is preempted until 20, runs, sleeps from 30 to 40, and gets a processor at 50. With less to
// compute it would be preempted less often: the first wait goes with the work, the second does not.
func TestWhoComputesIsPutOff(t *testing.T) {
	c := &diagnosis.Case{Timeline: &timeline.Timeline{Strands: []timeline.Strand{{Intervals: []timeline.Interval{
		{From: 0, To: 10, State: timeline.StateRunning},
		{From: 10, To: 20, State: timeline.StateRunnable},
		{From: 20, To: 30, State: timeline.StateRunning},
		{From: 30, To: 40, State: timeline.StateSleeping},
		{From: 40, To: 50, State: timeline.StateRunnable},
	}}}}}
	for _, x := range []struct {
		from diagnosis.Time
		want bool
	}{{10, true}, {15, true}, {20, false}, {40, false}, {50, false}} {
		if got := ranBefore(c, &timeline.Segment{Strand: 0, From: x.from}); got != x.want {
			t.Errorf("from %d on: %v", x.from, got)
		}
	}
	if ranBefore(c, &timeline.Segment{Strand: timeline.None}) {
		t.Error("nobody's wait")
	}
}
