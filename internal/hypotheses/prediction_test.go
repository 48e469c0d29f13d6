package hypotheses

import (
	"fmt"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// TestPredictedSavingComesTrue plays the same arrivals with and without kept
// connections: what connection-churn predicts from the first must be what the second
// shows, from a quiet loop to one with two fifths more work than it can do. Without
// its handshakes this loop always has time to spare.
func TestPredictedSavingComesTrue(t *testing.T) {
	for _, gap := range []recording.Time{1100, 1200, 1400, 1600, 2000, 8000} {
		t.Run(fmt.Sprintf("every %d us", gap), func(t *testing.T) {
			bad, fixed := diagnosed(t, loopOf(false, 2000, gap*us, cheap)), diagnosed(t, loopOf(true, 2000, gap*us, cheap))
			if len(bad.Findings) == 0 || bad.Findings[0].ID != "connection-churn" {
				t.Fatalf("connection-churn does not come first: %+v", bad.Findings)
			}
			if len(fixed.Findings) > 0 {
				t.Errorf("the fixed twin has a finding: %s", fixed.Findings[0].Title)
			}
			saved := bad.Overall.P50 - fixed.Overall.P50
			predicted := bad.Findings[0].Impact.P50
			if off := predicted - saved; off > saved/10 || off < -saved/10 {
				t.Errorf("predicted to save %d us of p50, saved %d", predicted/1000, saved/1000)
			}
		})
	}
}

func diagnosed(t *testing.T, s *scenario) *diagnosis.Diagnosis {
	t.Helper()
	tl, err := timeline.Build(done(s, 60))
	if err != nil {
		t.Fatal(err)
	}
	return diagnosis.Diagnose(tl, All(), diagnosis.Options{})
}
