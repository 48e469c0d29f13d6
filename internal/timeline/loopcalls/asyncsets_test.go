package loopcalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Calls 0 to 3 belong to one request, as their waiter shows. What else was found about some of them holds for all, if
// it nearly agrees.
func TestCallsOfOneRequest(t *testing.T) {
	const no = timeline.None
	for name, c := range map[string]struct{ found, want [4]timeline.RequestID }{
		"nothing":              {[4]timeline.RequestID{no, no, no, no}, [4]timeline.RequestID{no, no, no, no}},
		"of one":               {[4]timeline.RequestID{no, 1, no, no}, [4]timeline.RequestID{1, 1, 1, no}}, // call 3 was sent after that request was answered
		"of most":              {[4]timeline.RequestID{1, 1, 0, no}, [4]timeline.RequestID{1, 1, 1, no}},
		"as often of another":  {[4]timeline.RequestID{1, 0, no, no}, [4]timeline.RequestID{no, no, no, no}},
		"sent before it began": {[4]timeline.RequestID{0, no, no, no}, [4]timeline.RequestID{0, 0, no, no}},
	} {
		tl := &timeline.Timeline{Requests: []timeline.Request{{RequestMore: &timeline.RequestMore{}, FirstRead: 10, End: 25}, {RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, FirstRead: 5, End: 35}}, Calls: make([]timeline.Call, 5)}
		for i := range tl.Calls {
			tl.Calls[i] = timeline.Call{Request: timeline.None, Why: timeline.WhyNoAsync, SendFrom: recording.Time(10 * (i + 1))}
		}
		for i, r := range c.found {
			tl.Calls[i].Request = r
		}
		tl.Calls[4].Request = 0
		agreeInSets(tl, [][]timeline.CallID{{0, 1, 2, 3}})
		for i, want := range c.want {
			if got := tl.Calls[i].Request; got != want {
				t.Errorf("%s: call %d is of %d, want %d", name, i, got, want)
			}
		}
		if tl.Calls[4].Request != 0 {
			t.Errorf("%s: who is in no set stays", name)
		}
	}
}
