package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// TestSendingsAreDisjoint: a timed wait goes on over a send between its parts, and the send then takes no time of its
// own.
func TestSendingsAreDisjoint(t *testing.T) {
	list := []sending{
		{window{10, 100}, sendInterpreter, 0},
		{window{40, 50}, sendCPU, timeline.None}, // within the wait
		{window{95, 110}, sendCPU, timeline.None},
		{window{120, 130}, sendCPU, timeline.None},
	}
	want := []window{{10, 100}, {100, 110}, {120, 130}}
	got := disjoint(list)
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range got {
		if got[i].window != want[i] {
			t.Errorf("%d: %v, want %v", i, got[i].window, want[i])
		}
	}
	tel := &telemetry{on: map[timeline.StrandID][]sending{3: got}}
	for _, x := range tel.within(3, 45, 125) {
		if d := min(x.to, diagnosis.Time(125)) - max(x.from, diagnosis.Time(45)); d <= 0 {
			t.Errorf("%v takes %d", x, d)
		}
	}
}
