package hypotheses

import (
	"fmt"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// TestPredictedSavingComesTrue plays the same arrivals with and without kept connections. What connection-churn
// predicts from the first must be what the second shows, from a quiet loop to one with twice the work that it can do.
// Without its handshakes this loop always has time to spare.
func TestPredictedSavingComesTrue(t *testing.T) {
	for _, gap := range []recording.Time{700, 1100, 1200, 1400, 1600, 2000, 8000} {
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

// TestOwnWorkIsComparedWithReusedCalls closes every other connection of a service that works 800 us to build a socket
// before it connects. That work is found by comparison with the calls on kept connections, and its saving comes true.
func TestOwnWorkIsComparedWithReusedCalls(t *testing.T) {
	play := func(drop int) *diagnosis.Diagnosis {
		l := newLoop(true)
		l.drop = drop
		c := cheap
		c.dial = 800 * us
		for i := range 1000 {
			l.arrive(10_000*us+recording.Time(i)*4000*us, "/prices/{}", c)
		}
		return diagnosed(t, l.play())
	}
	bad, fixed := play(2), play(0)
	if len(bad.Findings) != 1 || bad.Findings[0].ID != "connection-churn" || bad.Findings[0].AtLeast {
		t.Fatalf("%+v", bad.Findings)
	}
	saved, predicted := bad.Overall.P99-fixed.Overall.P99, bad.Findings[0].Impact.P99
	if off := predicted - saved; off > saved/10 || off < -saved/10 {
		t.Errorf("predicted to save %d us of p99, saved %d", predicted/1000, saved/1000)
	}
}

// TestAloneItIsALowerBound: without a call on a reused connection, the work to build a socket cannot be told from the
// request's own.
func TestAloneItIsALowerBound(t *testing.T) {
	if d := diagnosed(t, loopOf(false, 200, 4000*us, cheap)); len(d.Findings) != 1 || !d.Findings[0].AtLeast {
		t.Errorf("%+v", d.Findings)
	}
}

func diagnosed(t *testing.T, s *scenario) *diagnosis.Diagnosis {
	t.Helper()
	tl, err := build.Recording(done(s, 60))
	if err != nil {
		t.Fatal(err)
	}
	return diagnosis.Diagnose(tl, All(), diagnosis.Options{})
}
