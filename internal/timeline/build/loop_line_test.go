package build

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/recording"
)

// Tasks of one loop call a peer, never two at once: each is ready 3 ms before the one before
// is answered, every 10 ms, and sends 1 ms after that. If the loop slept before it sent, or if
// many are sent at other times, it did not wait for the other's answer.
func TestTasksWaitForTheirTurnToCall(t *testing.T) {
	const ms = 1_000_000
	for _, test := range []struct {
		what   string
		asleep timeline.State
		wander bool
		late   recording.Time // after the other's answer
		others int            // calls that are sent long after another's answer
		want   recording.Time
	}{
		{"sent as the other is answered", timeline.StateRunning, false, ms, 0, 17 * ms},
		{"sent when the loop had slept", timeline.StateSleeping, false, ms, 0, 21 * ms},
		{"many sent at other times", timeline.StateRunning, false, ms, 6, 21 * ms},
		{"sent on a thread that was woken for it", timeline.StateSleeping, true, ms / 2, 0, 17 * ms},
		{"sent long after on a thread that slept", timeline.StateSleeping, true, 2 * ms, 0, 21 * ms},
	} {
		tl, g := &timeline.Timeline{Strands: []timeline.Strand{{Loop: true}}}, &lined{wander: test.wander}
		var freed []recording.Time
		for i := range recording.Time(12) {
			sent, end := (10*i+11)*ms, (10*i+20)*ms
			tl.Strands[0].Intervals = append(tl.Strands[0].Intervals, timeline.Interval{From: end, To: end + ms, State: test.asleep})
			tl.Calls = append(tl.Calls, timeline.Call{ID: timeline.CallID(i), SendFrom: sent, Start: sent, End: end})
			g.begun, g.over = append(g.begun, sent), append(g.over, end)
			g.calls, g.before = append(g.calls, timeline.CallID(i)), append(g.before, sent-4*ms)
			freed = append(freed, sent-test.late)
		}
		for i := range test.others {
			freed[11-i] = g.before[11-i] - ms
		}
		g.lineUp(tl, make([]exchange.Call, 12), freed)
		if got := tl.Calls[1].Start; got != test.want {
			t.Errorf("%s: the second call begins at %d, want %d", test.what, got, test.want)
		}
	}
}
