package hypotheses

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/recording"
)

// Five calls of one shape, the last of which takes 9 ms: one call in place of them takes
// as long as that one. What is left of them is no time that calls at once would save.
func TestTheLongestCallStaysItself(t *testing.T) {
	d := diagnosed(t, serve(newScenario(recording.RuntimePython), func(t *thread, _ int) {
		for _, ms := range []recording.Time{3, 3, 3, 3, 9} {
			keptCall(t, ms*1000*us)
		}
	}))
	if len(d.Findings) != 1 || d.Findings[0].ID != "n-plus-one" || d.Findings[0].Impact.P50/1_000_000 != 12 {
		t.Errorf("found %+v, want n-plus-one that saves 12 ms", d.Findings)
	}
	if i := slices.IndexFunc(d.Undecided, func(o diagnosis.Outcome) bool { return o.ID == "serial-calls" }); i >= 0 {
		t.Errorf("serial-calls is undecided: %s", d.Undecided[i].Missing)
	}
}
