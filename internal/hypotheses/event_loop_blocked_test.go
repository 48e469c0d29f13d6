package hypotheses

import (
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// If callbacks sleep in calls that block the loop, computing elsewhere would help nothing.
func TestFixOfABlockedLoop(t *testing.T) {
	for story, want := range map[string]string{"supported": "worker_threads", "asleep-supported": "fs.promises"} {
		text, err := os.ReadFile("testdata/event-loop-blocked/" + story + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		d := diagnosis.Diagnose(built(t, string(text)), []diagnosis.Hypothesis{eventLoopBlocked()}, diagnosis.Options{})
		if len(d.Findings) != 1 || !strings.Contains(d.Findings[0].Fix, want) {
			t.Errorf("%s: %+v, want %q", story, d.Findings, want)
		}
	}
}
