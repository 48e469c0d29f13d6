package handoffs

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// A worker with a queue of its own that a loop woke in the context of a request works for that request. If two
// workers wait at one word, the woken one may take what was meant for the other.
func TestWokenInTheContextOfARequest(t *testing.T) {
	const loop, one, two = timeline.StrandID(0), timeline.StrandID(1), timeline.StrandID(2)
	const context = recording.ContextID(7)
	tl := &timeline.Timeline{
		Strands:  []timeline.Strand{{Process: 1}, {Process: 1}, {Process: 1}},
		Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: 0, Process: 1, FirstRead: 10, End: 100}},
	}
	x := &contexts{
		t: tl, f: &facts.Facts{}, loops: map[timeline.StrandID]bool{loop: true},
		uses: map[facts.ContextKey]*contextUse{{Process: 1, ID: context}: {wrote: []contextOf{{request: 0}}}},
	}
	woken := func(strand, by timeline.StrandID, word int64, in recording.ContextID) job {
		return job{strand: strand, slept: 10, from: 20, to: 90, by: by, word: word, context: in, claim: timeline.None}
	}
	for name, c := range map[string]struct {
		job, other job
		want       timeline.RequestID
	}{
		"its own queue":             {woken(one, loop, 500, context), woken(two, loop, 600, context), 0},
		"one queue for two":         {woken(one, loop, 500, context), woken(two, loop, 500, context), timeline.None},
		"the lock that another had": {woken(one, loop, 500, context), job{strand: two, slept: 3, from: 7, by: loop, word: 500, context: context}, 0},
		"in no request's context":   {woken(one, loop, 500, 8), woken(two, loop, 600, 8), timeline.None},
		"by another worker":         {woken(one, two, 500, context), woken(two, loop, 600, context), timeline.None},
	} {
		h := &jobFinder{activity: &activity{t: tl, contexts: x, strands: []strand{{}, {jobs: []job{c.job}}, {jobs: []job{c.other}}}}}
		h.findQueues()
		if got := h.tellsOf(&h.strands[one].jobs[0]); got != c.want {
			t.Errorf("%s: it works for %d, want %d", name, got, c.want)
		}
	}
}
