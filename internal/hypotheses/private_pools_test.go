package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Recording paused from 1 to 2 s. A connection whose last call ended at 0.5 s, and of which
// no closing was seen, was idle until the pause; of after it nothing is known.
func TestConnectionsFromBeforeAPauseAreNotIdleAfterIt(t *testing.T) {
	const ms = diagnosis.Time(1_000_000)
	c := &diagnosis.Case{Timeline: &timeline.Timeline{
		End:     3000 * ms,
		Windows: []timeline.Window{{From: 0, To: 1000 * ms}, {From: 2000 * ms, To: 3000 * ms}},
		Conns:   []timeline.Conn{{ID: 7, Side: recording.Outbound, Opened: 300 * ms, Ending: timeline.Ending{Closed: recording.NoTime}}},
		Calls:   []timeline.Call{{Conn: 7, Start: 300 * ms, End: 500 * ms}},
	}}
	idle := idleBeside(c, map[recording.ConnID][]timeline.CallID{7: {0}})
	for at, want := range map[diagnosis.Time]bool{400 * ms: false, 600 * ms: true, 900 * ms: true, 2100 * ms: false, 2900 * ms: false} {
		if got := idle(at); got != want {
			t.Errorf("idle at %d ms: %v, want %v", at/ms, got, want)
		}
	}
}
