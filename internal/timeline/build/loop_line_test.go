package build

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// Tasks of one loop call a peer, never two at once. Every 10 ms a task is ready 3 ms before the previous call is
// answered, and sends 1 ms after that answer. If the loop slept before the task sent, or if many calls are sent at
// other times, the task did not wait for the other's answer.
func TestTasksWaitForTheirTurnToCall(t *testing.T) {
	const ms = 1_000_000
	for _, test := range []struct {
		what   string
		asleep timeline.State
		wander bool
		late   recording.Time // after the other's answer
		others int            // calls that are sent long after another's answer
		told   bool           // ids show when those were wanted: as they are sent
		want   recording.Time
	}{
		{"sent as the other is answered", timeline.StateRunning, false, ms, 0, false, 17 * ms},
		{"sent when the loop had slept", timeline.StateSleeping, false, ms, 0, false, 21 * ms},
		{"many sent at other times", timeline.StateRunning, false, ms, 6, false, 21 * ms},
		{"many of which ids tell sent at other times", timeline.StateRunning, false, ms, 3, true, 17 * ms},
		{"sent on a thread that was woken for it", timeline.StateSleeping, true, ms / 2, 0, false, 17 * ms},
		{"sent long after on a thread that slept", timeline.StateSleeping, true, 2 * ms, 0, false, 21 * ms},
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
			if test.told {
				g.late = append([]timeline.CallID{timeline.CallID(11 - i)}, g.late...)
			}
		}
		g.lineUp(tl, make([]exchange.Call, 12), freed)
		if got := tl.Calls[1].Start; got != test.want {
			t.Errorf("%s: the second call begins at %d, want %d", test.what, got, test.want)
		}
	}
}

// The only connection to a peer is unused for 6 ms between two calls. If one request holds it until its second call,
// other requests are ready meanwhile, and the first call of the next is sent as that second call is answered. If the
// two calls belonged to different requests, no request would have had to wait.
func TestAConnectionThatIsHeldIsInUse(t *testing.T) {
	const ms = 1_000_000
	for held, want := range map[bool]recording.Time{true: 15 * ms, false: 21 * ms} {
		tl := &timeline.Timeline{Strands: []timeline.Strand{{Loop: true, Intervals: []timeline.Interval{{From: 0, To: 300 * ms, State: timeline.StateRunning}}}}}
		x, g := lining{t: tl, f: &facts.Facts{Conns: make([]facts.Conn, 1)}}, &lined{}
		for i := range recording.Time(24) {
			at := (10*(i/2) + i%2*8 + 11) * ms // two calls of 2 ms: from 1 to 3 ms, and from 9 to 11
			of := timeline.RequestID(i)
			if held {
				of = timeline.RequestID(i / 2)
			}
			tl.Calls = append(tl.Calls, timeline.Call{ID: timeline.CallID(i), Request: of, SendFrom: at, Start: at, End: at + 2*ms, Why: timeline.WhyAwaited})
			x.calls, x.wanted = append(x.calls, exchange.Call{}), append(x.wanted, recording.NoTime)
			if i%4 == 0 {
				x.wanted[i] = at // the id of an object that the client makes as it sends
			}
		}
		kept, own := x.kept()
		for i := range tl.Calls {
			c := &tl.Calls[i]
			g.begun, g.over = append(g.begun, c.Start), append(g.over, kept[i])
			if own[i] != (held && i%2 == 1) || !x.mayWait(c) {
				t.Errorf("held %v: call %d goes on with its request's connection: %v", held, i, own[i])
			}
			if i%2 == 0 && i > 0 {
				g.calls, g.before = append(g.calls, c.ID), append(g.before, c.SendFrom-6*ms)
			}
		}
		g.lineUp(tl, x.calls, freedAt(tl, x.f, x.calls))
		if got := tl.Calls[2].Start; got != want {
			t.Errorf("held %v: the next request's call begins at %d, want %d", held, got, want)
		}
	}
}

// One connection leads to a peer. A loop reads for a request while it is free, and runs another task first, which takes
// it. The loop sleeps 1 ms later, and sends the request's call when the other is answered: the call waited since the loop
// slept. If the connection was free even then, the request had waited for something else.
func TestARequestWaitsForItsTurnFromWhenItsTaskHasRun(t *testing.T) {
	const ms = 1_000_000
	for slept, want := range map[recording.Time]recording.Time{2 * ms: 12 * ms, 0: 21 * ms} {
		poll := &timeline.Off{OffBy: &timeline.OffBy{Syscall: "epoll_wait"}}
		tl, g := &timeline.Timeline{Strands: []timeline.Strand{{Loop: true}}}, &lined{}
		var freed []recording.Time
		for i := range recording.Time(12) {
			sent, end := (10*i+11)*ms, (10*i+20)*ms
			asleep := sent - ms + slept // the connection is free until 1 ms after sent - ms
			tl.Strands[0].Intervals = append(tl.Strands[0].Intervals,
				timeline.Interval{From: sent - ms, To: asleep, State: timeline.StateRunning},
				timeline.Interval{From: asleep, To: end, State: timeline.StateSleeping, Off: poll})
			tl.Calls = append(tl.Calls, timeline.Call{ID: timeline.CallID(i), SendFrom: sent, Start: sent, End: end})
			g.begun, g.over = append(g.begun, sent), append(g.over, end)
			g.calls, g.before = append(g.calls, timeline.CallID(i)), append(g.before, sent-10*ms-ms/2)
			freed = append(freed, sent-ms)
		}
		g.lineUp(tl, make([]exchange.Call, 12), freed)
		if got := tl.Calls[1].Start; got != want {
			t.Errorf("asleep %d ms after it read: the second call begins at %d, want %d", slept/ms, got, want)
		}
	}
}
