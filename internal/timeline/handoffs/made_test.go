package handoffs

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// A thread that a request created works for that request alone, or it belongs to a pool that grows: then its first
// task may also belong to another request.
func TestThreadsOfPoolsAreNobodysOwn(t *testing.T) {
	const maker, other = timeline.RequestID(0), timeline.RequestID(1)
	for name, c := range map[string]struct {
		later job
		want  bool
	}{
		"woken by its maker again":  {job{claim: maker}, true},
		"woken by who is not known": {job{claim: timeline.None}, true},
		"woken by another":          {job{claim: other}, false},
		"done for another":          {job{claim: timeline.None, results: []result{{request: other}}}, false},
	} {
		jobs := []job{{claim: maker, made: true, results: []result{{request: maker}}}, c.later}
		h := &decisions{activity: &activity{strands: []strand{{jobs: jobs}}}}
		if got := h.ownThread(&jobs[0]); got != c.want {
			t.Errorf("%s: its maker's own: %v, want %v", name, got, c.want)
		}
	}
}

// That a thread has begun is no result: its next call belongs to the request that created it.
func TestBeginningIsNoResult(t *testing.T) {
	const maker = timeline.StrandID(0)
	h := &jobFinder{activity: &activity{
		o:       timeline.Stints{{{From: 0, To: 100, Request: 7}}, nil},
		serving: make(timeline.Stints, 2),
		strands: []strand{{}, {jobs: []job{
			{strand: 1, from: 10, by: maker, made: true, results: []result{{at: 11, request: 7}, {at: 50, request: 7, calls: 1}}},
			{strand: 1, from: 60, by: maker, results: []result{{at: 61, request: 7}}},
		}}},
	}}
	h.dropBegins()
	if made, woken := h.strands[1].jobs[0].results, h.strands[1].jobs[1].results; len(made) != 1 || made[0].calls != 1 || len(woken) != 1 {
		t.Errorf("results of the thread that was made %+v, of the one that was woken %+v", made, woken)
	}
}
