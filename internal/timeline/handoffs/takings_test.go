package handoffs

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// Strand 0 serves request 0 from 0 to 100, strand 1 request 1. Strands 2 and 3 take what these put in, and make one
// call each time.
func TestForWhomWorkWasTaken(t *testing.T) {
	const one, two, third, worker, other = recording.ThreadID(1), recording.ThreadID(2), recording.NoThread, timeline.StrandID(2), timeline.StrandID(3)
	took := func(at recording.Time, putter recording.ThreadID, put recording.Time, queue, executor int64) facts.Taken {
		return facts.Taken{At: at, Taken: &recording.Taken{Putter: putter, Put: put, Queue: queue, Executor: executor}}
	}
	for name, c := range map[string]struct {
		taken  []facts.Taken // by the worker
		others []facts.Taken // by the other worker
		away   timeline.Interval
		sent   recording.Time // of the worker's call
		want   timeline.RequestID
	}{
		"work of an executor":                       {taken: []facts.Taken{took(20, one, 10, 7, 1)}, sent: 30, want: 0},
		"before it was taken":                       {taken: []facts.Taken{took(20, one, 10, 7, 1)}, sent: 15, want: timeline.None},
		"the next one's":                            {taken: []facts.Taken{took(20, one, 10, 7, 1), took(40, two, 10, 7, 1)}, sent: 50, want: 1},
		"after what nobody was seen to put in":      {taken: []facts.Taken{took(20, one, 10, 7, 1), took(40, third, 0, 0, 0)}, sent: 50, want: timeline.None},
		"put in by a worker for what it took":       {taken: []facts.Taken{took(40, 4, 30, 8, 1)}, others: []facts.Taken{took(20, two, 10, 7, 1)}, sent: 50, want: 1},
		"no executor's, as all in its queue":        {taken: []facts.Taken{took(20, one, 10, 7, 0)}, sent: 30, want: 0},
		"of a pool, to which queueTakers give back": {taken: []facts.Taken{took(20, 4, 10, 7, 0)}, others: []facts.Taken{took(5, two, 3, 9, 1), took(15, 3, 12, 7, 0)}, sent: 30, want: timeline.None},
		"a connection while it works":               {taken: []facts.Taken{took(20, one, 10, 7, 1), took(25, two, 5, 8, 0)}, sent: 30, want: 0},
		"from two queues, and no executor's":        {taken: []facts.Taken{took(20, one, 10, 7, 0), took(50, two, 10, 8, 0)}, sent: 30, want: timeline.None},
		"two at once, that are no executor's":       {taken: []facts.Taken{took(20, one, 10, 7, 0), took(22, two, 10, 7, 0)}, sent: 30, want: timeline.None},
		"one after the other, of an executor":       {taken: []facts.Taken{took(20, one, 10, 7, 1), took(22, two, 10, 7, 1)}, sent: 30, want: 1},
		"taking was not seen since":                 {taken: []facts.Taken{took(20, one, 10, 7, 1)}, away: timeline.Interval{From: 22, To: 28}, sent: 30, want: timeline.None},
		"putting in was not seen meanwhile":         {taken: []facts.Taken{took(20, one, 10, 7, 1)}, away: timeline.Interval{From: 12, To: 18}, sent: 30, want: timeline.None},
		"the request was over before it called":     {taken: []facts.Taken{took(90, one, 80, 7, 1)}, sent: 120, want: timeline.None},
	} {
		tl := &timeline.Timeline{
			Strands:  []timeline.Strand{{Process: 1}, {Process: 1}, {Process: 1}, {Process: 1}},
			Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: 0, Process: 1, FirstRead: 0, End: 100}, {RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: 1, Process: 1, FirstRead: 0, End: 100}},
			Calls:    []timeline.Call{{ID: 0, Strand: worker, SendFrom: c.sent, Start: c.sent, End: c.sent + 3, Request: timeline.None, Why: timeline.WhyNoOwner}},
		}
		f := factsOfThreads(4)
		f.Threads[worker].Taken, f.Threads[other].Taken = c.taken, c.others
		if c.away.To > 0 {
			tl.AddUnseen(c.away.To, &recording.Unseen{What: unseenQueues, From: c.away.From})
		}
		h := &queueTakers{&activity{
			t: tl, f: f, strands: []strand{{}, {}, {calls: []timeline.CallID{0}}, {}}, serving: make(timeline.Stints, 4),
			o: timeline.Stints{{{From: 0, To: 100, Request: 0}}, {{From: 0, To: 100, Request: 1}}, nil, nil},
		}}
		h.find()
		h.byTakings()
		if got := tl.Calls[0].Request; got != c.want {
			t.Errorf("%s: the call is of %d, want %d", name, got, c.want)
		}
	}
}

// factsOfThreads returns the facts of a recording with n threads that ends at 200.
func factsOfThreads(n int) *facts.Facts {
	f := facts.New(&timeline.Timeline{})
	for id := range n {
		f.Take(recording.Event{Fact: &recording.Thread{ID: recording.ThreadID(id + 1)}})
	}
	f.End = 200
	return f
}

// Strand 1 took what strand 0 had put in at 20, and waits for work at word 7 from 60 on.
func TestWhoTookWorkAsksOthersForThat(t *testing.T) {
	idle := facts.NewOff(&recording.Off{State: recording.OffSleep, Syscall: "futex", Arg: 7, Since: 60, Woken: 90})
	f := factsOfThreads(3)
	f.Threads[1].Taken = []facts.Taken{{At: 20, Taken: &recording.Taken{Putter: 1, Put: 10, Queue: 5, Executor: 1}}}
	f.Threads[1].Steps = []facts.Step{{At: 90, Off: idle}}
	h := &activity{
		t: &timeline.Timeline{
			Strands:  []timeline.Strand{{Process: 1}, {Process: 1}, {Process: 1}},
			Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: 0, Process: 1, FirstRead: 0, End: 150}},
		},
		f: f, serving: make(timeline.Stints, 3), strands: []strand{{}, {idle: idleAt{word: 7}}, {}},
		o: timeline.Stints{{{From: 0, To: 150, Request: 0}}, nil, nil},
	}
	(&queueTakers{h}).find()
	for name, c := range map[string]struct {
		asked recording.Time
		want  timeline.RequestID
	}{
		"it woke another while it worked": {30, 0},
		"before it took that":             {15, timeline.None},
		"when it waited for work":         {65, timeline.None},
		"when it was woken for more":      {95, timeline.None},
	} {
		j := job{strand: 2, by: 1, from: c.asked, claim: timeline.None}
		if (&decisions{activity: h}).claim(&j); j.claim != c.want {
			t.Errorf("%s: %d, want %d", name, j.claim, c.want)
		}
	}
	for name, c := range map[string]struct {
		since, woken recording.Time
		want         timeline.RequestID
	}{
		"it waits for another's result": {30, 50, 0},
		"it waits for work":             {60, 90, timeline.None},
	} {
		if got := h.ownAt(wake{at: c.woken, by: 2, of: 1, off: facts.NewOff(&recording.Off{Since: c.since})}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
