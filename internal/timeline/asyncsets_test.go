package timeline

import "testing"

// Calls 0 to 3 are one request's, as who waits for them tells. What else was found of some counts for all, where it nearly agrees.
func TestCallsOfOneRequest(t *testing.T) {
	const no = None
	for name, c := range map[string]struct{ found, want [4]RequestID }{
		"nothing":              {[4]RequestID{no, no, no, no}, [4]RequestID{no, no, no, no}},
		"of one":               {[4]RequestID{no, 1, no, no}, [4]RequestID{1, 1, 1, no}}, // 3 was sent when that was answered
		"of most":              {[4]RequestID{1, 1, 0, no}, [4]RequestID{1, 1, 1, no}},
		"as often of another":  {[4]RequestID{1, 0, no, no}, [4]RequestID{no, no, no, no}},
		"sent before it began": {[4]RequestID{0, no, no, no}, [4]RequestID{0, 0, no, no}},
	} {
		tl := &Timeline{Requests: []Request{{RequestMore: &RequestMore{}, FirstRead: 10, End: 25}, {RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, FirstRead: 5, End: 35}}, Calls: make([]Call, 5)}
		for i := range tl.Calls {
			tl.Calls[i] = Call{Request: None, Why: WhyNoAsync, SendFrom: Time(10 * (i + 1))}
		}
		for i, r := range c.found {
			tl.Calls[i].Request = r
		}
		tl.Calls[4].Request = 0
		agreeInSets(tl, [][]CallID{{0, 1, 2, 3}})
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
