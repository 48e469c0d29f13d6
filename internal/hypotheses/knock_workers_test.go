package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// While a request sleeps, its thread reads no other; a loop does, and who waits there for a
// connection waits as long.
func TestALoopIsNotHeldUpByARequestThatWaits(t *testing.T) {
	tl := &timeline.Timeline{Strands: []timeline.Strand{{}, {Loop: true}}}
	for _, c := range []struct {
		phase  timeline.Phase
		strand timeline.StrandID
		want   bool
	}{
		{timeline.PhaseUnread, 0, true},
		{timeline.PhaseUnread, timeline.None, true},
		{timeline.PhaseHandler, 0, false}, // an executor's thread
		{timeline.PhaseQueue, 1, false},
	} {
		s := timeline.Segment{Cause: timeline.CausePool, Phase: c.phase, Strand: c.strand}
		if got := behindAWorker(tl, &s); got != c.want {
			t.Errorf("%v on strand %d: a wait for a worker: %v, want %v", c.phase, c.strand, got, c.want)
		}
	}
}
