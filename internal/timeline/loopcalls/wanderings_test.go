package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// Request 0 was read on loop 0 and request 1 on loop 1, which makes a call while both are open. The call belongs to
// request 1, unless requests continue on other loops than the ones that read them.
func TestRequestsThatWanderBetweenLoops(t *testing.T) {
	for name, c := range map[string]struct {
		others int // of 64 requests: answered on the other loop
		wander bool
		why    string
	}{
		"each stays on its loop":  {0, false, timeline.WhyLoopSingle},
		"one is an exception":     {1, false, timeline.WhyLoopSingle},
		"they go on on any of it": {20, true, timeline.WhyAmbiguous},
	} {
		tl := &timeline.Timeline{
			Strands:  []timeline.Strand{{Process: 1, Loop: true}, {Process: 1, Loop: true}},
			Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: 0, Process: 1, Strand: 0, FirstRead: 10, End: 100}, {RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: 1, Process: 1, Strand: 1, FirstRead: 20, End: 90}},
			Calls:    []timeline.Call{{ID: 0, Request: timeline.None, Strand: 1, Start: 30}},
		}
		var requests []exchange.Request
		for i := range 64 {
			s := exchange.Request{Reader: 0, Writer: 0}
			if i < c.others {
				s.Writer = 1
			}
			requests = append(requests, s)
			if i > 1 {
				tl.Requests = append(tl.Requests, timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: timeline.RequestID(i), Process: 1, Strand: 0, FirstRead: 200, End: 300})
			}
		}
		wander := loops.Wandering(tl, requests)[recording.ProcessID(1)]
		associateSingle(tl, loops.Loop{Strand: 1, Wander: wander, Moves: []loops.Move{{At: 30, Call: 0}}})
		if got := tl.Calls[0].Why; wander != c.wander || got != c.why {
			t.Errorf("%s: wander %v, the call is %s; want %v, %s", name, wander, got, c.wander, c.why)
		}
	}
}
