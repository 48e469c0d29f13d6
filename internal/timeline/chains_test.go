package timeline

import "testing"

// TestContradictedClaims: where many sets of calls are claimed by two requests, a claim counts
// only if the request's answer was written in the turn of one of its calls.
func TestContradictedClaims(t *testing.T) {
	for name, c := range map[string]struct {
		odd  bool
		want RequestID // of a call that was claimed, and not confirmed
	}{"nothing contradicts": {false, 1}, "one set in three is claimed by two": {true, None}} {
		tl := &Timeline{Requests: make([]Request, 3), Calls: make([]Call, 3)}
		chains := newChains(3)
		chains.answered(0, 0)
		chains.link(1, requestRef(1))
		chains.link(2, requestRef(2))
		if c.odd {
			chains.link(2, requestRef(0))
		}
		chains.settle(tl, openOn(tl, 0))
		if got := tl.Calls[0].Request; got != 0 {
			t.Errorf("%s: a confirmed call is of request %d, not of 0", name, got)
		}
		if got := tl.Calls[1].Request; got != c.want {
			t.Errorf("%s: a claimed call is of request %d, want %d", name, got, c.want)
		}
	}
}
