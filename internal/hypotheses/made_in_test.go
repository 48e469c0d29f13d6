package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// The goroutines of requests make a call each, from 100 until 200, and hand something over as they read the answer, by
// 212 at the latest. The place where they are then is where they make the call. A goroutine that does so later may be
// anywhere.
func TestCallsOfGoroutinesAreMadeWhereTheirAnswersAreRead(t *testing.T) {
	for _, x := range []struct {
		at   []recording.Time
		want string
	}{
		{[]recording.Time{205, 210, 190}, ", called in main.(*shop).get (shop.go)"},
		{[]recording.Time{205, 210, 230}, ""},
		{[]recording.Time{205, 210}, ""},
	} {
		tl := &timeline.Timeline{
			Frames: []recording.Frame{
				{ID: 1, Type: recording.FrameGo, Function: "net/http.(*bodyEOFSignal).Read", File: "net/http/transport.go", Line: 30},
				{ID: 2, Type: recording.FrameGo, Function: "main.(*shop).get", File: "shop.go", Line: 81},
			},
			Stacks:     []timeline.Stack{{Caller: timeline.None, Frame: 1}, {Caller: 0, Frame: 0}},
			Goroutines: timeline.Goroutines{LetGo: map[timeline.StrandID][]timeline.StackAt{}},
		}
		var calls []timeline.CallID
		for i, at := range x.at {
			s := timeline.StrandID(i)
			tl.Strands = append(tl.Strands, timeline.Strand{Goroutine: recording.GoroutineID(i + 7)})
			tl.Requests = append(tl.Requests, timeline.Request{ID: timeline.RequestID(i), Strand: s, RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}})
			tl.Calls = append(tl.Calls, timeline.Call{ID: timeline.CallID(i), Request: timeline.RequestID(i), Strand: timeline.None, Start: 100, End: 200})
			tl.Goroutines.LetGo[s] = []timeline.StackAt{{Time: 50, Stack: 0}, {Time: at, Stack: 1}}
			calls = append(calls, timeline.CallID(i))
		}
		if got := calledIn(&diagnosis.Case{Timeline: tl}, calls); got != x.want {
			t.Errorf("%v: %q, want %q", x.at, got, x.want)
		}
	}
}

// What slow requests compute makes them slow only if it is half of what they take longer.
func TestSlowRequestsComputeIfThatMakesThemSlow(t *testing.T) {
	for took, want := range map[diagnosis.Time]string{
		5_000_000:  "Slow requests compute longer: 3.00 ms on average, ordinary ones 1.00 ms",
		20_000_000: "Requests compute: an ordinary one spends 50 % of its time computing",
	} {
		tl := &timeline.Timeline{Strands: []timeline.Strand{{}}, Requests: []timeline.Request{
			{ID: 0, RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, End: 2_000_000},
			{ID: 1, RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, End: took},
		}}
		s := &diagnosis.Symptom{P50: 2_000_000, Ordinary: []diagnosis.RequestID{0}, Slow: []diagnosis.RequestID{1}}
		if cd := cpuAt(&diagnosis.Case{Timeline: tl}, s, nil, []Duration{1_000_000, 3_000_000}); cd.Title != want {
			t.Errorf("of %d ns: %s", took, cd.Title)
		}
	}
}
