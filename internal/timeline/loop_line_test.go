package timeline

import "testing"

// Tasks of one loop call a peer, never two at once: each is ready 3 ms before the one before
// is answered, every 10 ms, and sends 1 ms after that. If the loop slept before it sent, or if
// many are sent at other times, it did not wait for the other's answer.
func TestTasksWaitForTheirTurnToCall(t *testing.T) {
	const ms = 1_000_000
	for _, test := range []struct {
		what   string
		asleep State
		wander bool
		late   Time // after the other's answer
		others int  // calls that are sent long after another's answer
		want   Time
	}{
		{"sent as the other is answered", StateRunning, false, ms, 0, 17 * ms},
		{"sent when the loop had slept", StateSleeping, false, ms, 0, 21 * ms},
		{"many sent at other times", StateRunning, false, ms, 6, 21 * ms},
		{"sent on a thread that was woken for it", StateSleeping, true, ms / 2, 0, 17 * ms},
		{"sent long after on a thread that slept", StateSleeping, true, 2 * ms, 0, 21 * ms},
	} {
		tl, g := &Timeline{Strands: []Strand{{Loop: true}}}, &lined{wander: test.wander}
		var freed []Time
		for i := range Time(12) {
			sent, end := (10*i+11)*ms, (10*i+20)*ms
			tl.Strands[0].Intervals = append(tl.Strands[0].Intervals, Interval{From: end, To: end + ms, State: test.asleep})
			tl.Calls = append(tl.Calls, Call{ID: CallID(i), SendFrom: sent, Start: sent, End: end})
			g.begun, g.over = append(g.begun, sent), append(g.over, end)
			g.calls, g.before = append(g.calls, CallID(i)), append(g.before, sent-4*ms)
			freed = append(freed, sent-test.late)
		}
		for i := range test.others {
			freed[11-i] = g.before[11-i] - ms
		}
		g.lineUp(tl, make([]made, 12), freed)
		if got := tl.Calls[1].Start; got != test.want {
			t.Errorf("%s: the second call begins at %d, want %d", test.what, got, test.want)
		}
	}
}
