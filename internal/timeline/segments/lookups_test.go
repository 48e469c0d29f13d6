package segments

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// A request looks up a name, to which its second call then connects, and another name, to which nothing connects.
func TestTheCallThatALookUpIsFor(t *testing.T) {
	tl := &timeline.Timeline{Calls: []timeline.Call{{Start: 10, End: 20}, {Start: 30, DNSFrom: 31, DNSTo: 60, ConnectFrom: 60, End: 90}}}
	for at, want := range map[timeline.Time]timeline.CallID{32: 1, 62: timeline.None} {
		if got := connectsTo(tl, []timeline.CallID{0, 1}, timeline.Stint{From: at, To: at + 20}); got != want {
			t.Errorf("at %d: call %d, want %d", at, got, want)
		}
	}
}
