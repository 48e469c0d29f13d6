package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Each request makes calls of the kinds in its plan, one after the other, or, behind '+', at once with the one before.
// Whether the first two need nothing of each other shows in the same two calls of other requests, not in later ones of
// the same kind.
func TestWhichCallsNeedNothingOfEachOther(t *testing.T) {
	for name, c := range map[string]struct {
		plans []string
		want  bool
	}{
		"always in one order":                   {[]string{"ab", "ab"}, false},
		"in either order":                       {[]string{"ab", "ba"}, true},
		"at once, too":                          {[]string{"ab", "a+b"}, true},
		"of one kind, at once, too":             {[]string{"aa", "a+a"}, true},
		"of one kind, the second and third are": {[]string{"aa+a", "aa+a"}, false},
		"the next such two are":                 {[]string{"aba+b", "aba+b"}, false},
		"a second try":                          {[]string{"ab", "aba"}, false},
		"round about, from anywhere":            {[]string{"abc", "bca", "cab"}, true},
		"with others between, in one order":     {[]string{"abc", "acb"}, false},
	} {
		tl := &timeline.Timeline{}
		s := &serial{map[couple]int{}, map[couple]int{}}
		for i := range 20 {
			r := timeline.Request{RequestBy: &timeline.RequestBy{Endpoint: "GET /"}, RequestMore: &timeline.RequestMore{}}
			at := timeline.Time(0)
			for _, kind := range c.plans[i%len(c.plans)] {
				if kind == '+' {
					at -= 10
					continue
				}
				r.Calls = append(r.Calls, timeline.CallID(len(tl.Calls)))
				tl.Calls = append(tl.Calls, timeline.Call{Peer: string(kind), Start: at, End: at + 10})
				at += 10
			}
			tl.Requests = append(tl.Requests, r)
		}
		k := &diagnosis.Case{Timeline: tl}
		for i := range tl.Requests {
			s.note(k, &tl.Requests[i])
		}
		first := &tl.Requests[0]
		if got := s.apart(coupleOf(first, &tl.Calls[0], &tl.Calls[1], ordinals(k, first))); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A call that follows one of the same kind which failed or was given up is another try, not one of several calls.
func TestAnotherTryIsNoCallAfterAnother(t *testing.T) {
	for name, c := range map[string]struct {
		before, next timeline.Call
		want         bool
	}{
		"answered":             {timeline.Call{Peer: "a", Status: 200, Arrived: 5}, timeline.Call{Peer: "a"}, false},
		"refused":              {timeline.Call{Peer: "a", Status: 503, Arrived: 5}, timeline.Call{Peer: "a"}, true},
		"given up":             {timeline.Call{Peer: "a", Cut: true, Arrived: recording.NoTime}, timeline.Call{Peer: "a"}, true},
		"refused, then others": {timeline.Call{Peer: "a", Status: 503, Arrived: 5}, timeline.Call{Peer: "b"}, false},
	} {
		if got := secondTry(diagnosis.NewCase(&timeline.Timeline{}, diagnosis.Options{}), &c.before, &c.next); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
