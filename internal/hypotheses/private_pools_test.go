package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Recording paused from 1 to 2 s. The last call of a connection ended at 0.5 s, and its closing was not seen. It was
// idle until the pause; nothing is known of it after that.
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
