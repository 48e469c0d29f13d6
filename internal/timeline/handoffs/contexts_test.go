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

// A thread that a loop made in the context of a request works for that, unless it is one of a pool: then what it takes
// may have been put in for another. Whom it works for is seen where it wakes others in a context, too.
func TestMadeInTheContextOfARequest(t *testing.T) {
	const loop, one, two = timeline.StrandID(0), timeline.StrandID(1), timeline.StrandID(2)
	const context, others = recording.ContextID(7), recording.ContextID(8)
	by := func(id timeline.RequestID) timeline.Request {
		return timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: id, Process: 1, FirstRead: 10, End: 100}
	}
	tl := &timeline.Timeline{
		Strands: []timeline.Strand{{Process: 1}, {Process: 1}, {Process: 1}}, Requests: []timeline.Request{by(0), by(1)},
	}
	f := &facts.Facts{Threads: make([]facts.Thread, 3)}
	x := &contexts{t: tl, f: f, loops: map[timeline.StrandID]bool{loop: true}, uses: map[facts.ContextKey]*contextUse{
		{Process: 1, ID: context}: {wrote: []contextOf{{request: 0}}}, {Process: 1, ID: others}: {wrote: []contextOf{{request: 1}}},
	}}
	made := job{strand: one, from: 20, to: 200, by: loop, context: context, made: true, claim: timeline.None, rest: &timeline.Off{Arg: 500, OffBy: &timeline.OffBy{}}}
	waits := func(strand timeline.StrandID, slept recording.Time, word int64) job {
		return job{strand: strand, slept: slept, from: 300, to: 310, by: loop, word: word, context: context}
	}
	wakes := func(at recording.Time, in recording.ContextID) wake {
		return wake{at: at, by: one, of: loop, off: &timeline.Off{OffBy: &timeline.OffBy{Context: in}}}
	}
	for name, c := range map[string]struct {
		later, other job
		woke         []wake
		taken        int
		want         timeline.RequestID
		until        recording.Time // for how long it surely does
	}{
		"of its own":                {waits(one, 200, 500), waits(two, 200, 600), nil, 0, 0, recording.NoTime},
		"seen in its context":       {waits(one, 200, 500), waits(two, 200, 600), []wake{wakes(30, 0), wakes(40, context), wakes(60, 9), wakes(70, others), wakes(80, context)}, 0, 0, 40},
		"in another's first":        {waits(one, 200, 500), waits(two, 200, 600), []wake{wakes(40, others), wakes(50, context)}, 0, timeline.None, recording.NoTime},
		"two wait at one word":      {waits(one, 200, 500), waits(two, 200, 500), nil, 0, timeline.None, recording.NoTime},
		"it takes from an executor": {waits(one, 200, 500), waits(two, 200, 600), nil, 1, timeline.None, recording.NoTime},
	} {
		f.Threads[one].Taken = make([]facts.Taken, c.taken)
		h := &jobFinder{activity: &activity{t: tl, f: f, contexts: x, strands: []strand{{}, {jobs: []job{made, c.later}, woke: c.woke}, {jobs: []job{c.other}}}}}
		h.findQueues()
		j := &h.strands[one].jobs[0]
		if got := h.tellsOf(j); got != c.want {
			t.Errorf("%s: it works for %d, want %d", name, got, c.want)
		}
		if got := seenFor(h.activity, j, 0, 100).last; c.want != timeline.None && got != c.until {
			t.Errorf("%s: seen to until %d, want %d", name, got, c.until)
		}
	}
}

// A wait of which no stack tells that it is for work is, if a loop ended it in the context of a request and the strand
// then wakes others in that. What has a time limit or an owner is a lock.
func TestTurnsToARequest(t *testing.T) {
	const loop, one = timeline.StrandID(0), timeline.StrandID(1)
	r := timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: 0, Process: 1, FirstRead: 10, End: 100}
	tl := &timeline.Timeline{Strands: []timeline.Strand{{Process: 1}, {Process: 1}}, Requests: []timeline.Request{r}}
	x := &contexts{t: tl, f: &facts.Facts{}, loops: map[timeline.StrandID]bool{loop: true}, uses: map[facts.ContextKey]*contextUse{
		{Process: 1, ID: 7}: {wrote: []contextOf{{request: 0}}},
	}}
	for name, c := range map[string]struct {
		wait timeline.OffBy
		woke recording.ContextID // in which it wakes the loop then
		want bool
	}{
		"seen in its context":  {timeline.OffBy{}, 7, true},
		"not seen in any":      {timeline.OffBy{}, recording.NoContext, false},
		"with a time limit":    {timeline.OffBy{Timed: 1}, 7, false},
		"for what another has": {timeline.OffBy{Owner: 1}, 7, false},
	} {
		woke := []wake{{at: 60, by: one, of: loop, off: &timeline.Off{OffBy: &timeline.OffBy{Context: c.woke}}}}
		h := &jobFinder{activity: &activity{t: tl, f: &facts.Facts{}, contexts: x, strands: []strand{{}, {woke: woke}}}}
		if got := h.turnsTo(one, &timeline.Off{Since: 20, Woken: 40, OffBy: &c.wait}, 0); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
