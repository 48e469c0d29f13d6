package timeline

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A worker with a queue of its own that a loop woke in the context of a request works for that.
// Where two workers wait at one word, who was woken may take what was meant for the other.
func TestWokenInTheContextOfARequest(t *testing.T) {
	const loop, one, two = StrandID(0), StrandID(1), StrandID(2)
	const context = recording.ContextID(7)
	tl := &Timeline{
		Strands:  []Strand{{Process: 1}, {Process: 1}, {Process: 1}},
		Requests: []Request{{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 0, Process: 1, FirstRead: 10, End: 100}},
	}
	x := &contexts{
		t: tl, f: &facts{}, loops: map[StrandID]bool{loop: true},
		homes: map[contextKey][]contextOf{{1, context}: {{request: 0}}},
	}
	woken := func(strand, by StrandID, word int64, in recording.ContextID) job {
		return job{strand: strand, slept: 10, from: 20, to: 90, by: by, word: word, context: in, claim: None}
	}
	for name, c := range map[string]struct {
		job, other job
		want       RequestID
	}{
		"its own queue":             {woken(one, loop, 500, context), woken(two, loop, 600, context), 0},
		"one queue for two":         {woken(one, loop, 500, context), woken(two, loop, 500, context), None},
		"the lock that another had": {woken(one, loop, 500, context), job{strand: two, slept: 3, from: 7, by: loop, word: 500, context: context}, 0},
		"in no request's context":   {woken(one, loop, 500, 8), woken(two, loop, 600, 8), None},
		"by another worker":         {woken(one, two, 500, context), woken(two, loop, 600, context), None},
	} {
		h := &handOffs{t: tl, contexts: x, jobs: [][]job{nil, {c.job}, {c.other}}}
		h.findQueues()
		if got := h.tellsOf(&h.jobs[one][0]); got != c.want {
			t.Errorf("%s: it works for %d, want %d", name, got, c.want)
		}
	}
}
