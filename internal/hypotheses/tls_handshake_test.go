package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
)

// Each request of a loop makes a handshake of 0.9 ms of own work. Without the handshakes the others wait less for the
// loop, too.
func TestHandshakesKeepOthersFromTheLoop(t *testing.T) {
	tl, err := build.Recording(done(loopOf(false, 80, 1200*us, cheap), 60))
	if err != nil {
		t.Fatal(err)
	}
	look := diagnosis.Hypothesis{ID: "look", Test: func(c *diagnosis.Case) diagnosis.Result {
		spans, cpu, _ := handshakes(c)
		gone := c.Merged(testTLSHandshake(c).Candidates[0].Spans)
		if own := diagnosis.Total(spans); len(cpu) == 0 || diagnosis.Total(gone) < 2*own {
			t.Errorf("%d pieces of own work in handshakes of %d ns, of which %d ns would go", len(cpu), own, diagnosis.Total(gone))
		}
		return diagnosis.Result{}
	}}
	diagnosis.Diagnose(tl, []diagnosis.Hypothesis{look}, diagnosis.Options{})
}
