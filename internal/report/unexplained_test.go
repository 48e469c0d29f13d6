package report

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

func TestUnexplainedWaitIsNamedWithItsPlace(t *testing.T) {
	e := &Endpoint{Open: []Open{{"condition", Pair{669_182, 208_357}, &Frame{Name: "Svc.load", File: "Svc.java", Line: 31, In: "Gate.await"}, timeline.CauseCondition}}}
	want := "For 66.9 % of an ordinary request's time it is waiting for another thread (condition) in Gate.await, called from Svc.load (Svc.java:31), " +
		"which no suspect explains: dwell show REC --slowest 3 shows what goes on meanwhile."
	if got := unexplained(e, map[string]bool{}); got != want {
		t.Errorf("\n%s, want\n%s", got, want)
	}
}
