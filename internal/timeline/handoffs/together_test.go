package handoffs

import (
	"maps"
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
)

// A worker makes two calls per task: two calls form one task if all calls between its results come out even.
func TestCallsOfOneTask(t *testing.T) {
	h := queuesOf(&activity{strands: []strand{{least: 2, even: true}}})
	j := &job{calls: []timeline.CallID{0, 1, 2, 3, 4, 5, 6}, results: []result{{calls: 4}, {calls: 6}}}
	for i, want := range []int{2, 2, 2, 2, 2, 2, 1} {
		if got := h.together(j, i); got != want {
			t.Errorf("from call %d on %d are of one task, want %d", i, got, want)
		}
	}
	for _, x := range []strand{{least: 1, even: true}, {least: 2, even: false}, {least: unsure, even: true}} {
		if got := queuesOf(&activity{strands: []strand{x}}).together(j, 0); got != 1 {
			t.Errorf("%d calls are of one task where tasks make %d, all as many: %v", got, x.least, x.even)
		}
	}
}

// One of a task's calls is known: so are the others that no other rule decides.
func TestCallsOfOneTaskAreOfOneRequest(t *testing.T) {
	h := queuesOf(&activity{t: &timeline.Timeline{Calls: []timeline.Call{
		{Request: timeline.None, Why: timeline.WhyHandOffAmbiguous}, {Request: 7, Why: timeline.WhyHandOffEnd}, {Request: timeline.None, Why: timeline.WhyHandOffAmbiguous}, {Request: 8, Why: timeline.WhyHandOffEnd},
	}}})
	h.complete(&task{calls: []timeline.CallID{0, 1, 2}})
	h.complete(&task{calls: []timeline.CallID{3}})
	for i, want := range []timeline.RequestID{7, 7, 7, 8} {
		if got := h.t.Calls[i].Request; got != want {
			t.Errorf("call %d is of request %d, want %d", i, got, want)
		}
	}
}

// Two workers wait for work at one word. That one of them once gave a result without a call is an exception among the
// tasks of both.
func TestTasksOfOneQueueAreCountedTogether(t *testing.T) {
	results := func(first int) (j job) {
		j.by = 9
		for k := range 40 {
			j.results = append(j.results, result{calls: k + first})
		}
		return j
	}
	for _, c := range []struct {
		word int64
		want int
	}{{4711, 1}, {0, 0}} {
		h := &decisions{activity: &activity{t: &timeline.Timeline{Strands: make([]timeline.Strand, 2), Requests: []timeline.Request{{}}}, strands: []strand{{idle: idleAt{word: c.word}, jobs: []job{results(0)}}, {idle: idleAt{word: c.word}, jobs: []job{results(1)}}}}}
		h.countCalls()
		if h.strands[0].least != c.want || h.strands[1].least != 1 {
			t.Errorf("waiting at word %d, tasks make %v calls at least, want %d and 1", c.word, []int{h.strands[0].least, h.strands[1].least}, c.want)
		}
	}
}

// Request 0 was under way when the recording began. That three of its tasks made no call that was seen says nothing
// about how many calls tasks make.
func TestCallsOfRequestsThatWereCutAreNotCounted(t *testing.T) {
	for _, c := range []struct {
		cut  bool
		want int
	}{{true, 1}, {false, 0}} {
		h := &decisions{activity: &activity{t: &timeline.Timeline{Strands: make([]timeline.Strand, 1), Requests: []timeline.Request{{Cut: c.cut}, {}}}, strands: make([]strand, 1)}}
		j := job{by: 9}
		for k := range 43 {
			x := result{request: 0}
			if k >= 3 {
				x = result{request: 1, calls: k - 2}
			}
			j.results = append(j.results, x)
		}
		h.strands[0].jobs = []job{j}
		if h.countCalls(); h.strands[0].least != c.want {
			t.Errorf("request 0 was cut: %v; tasks make %d calls at least, want %d", c.cut, h.strands[0].least, c.want)
		}
	}
}

// A lock is created for each wait, so each place has few results. Together they show that calls come before what is
// delivered there. This does not hold for a place where none came before.
func TestPlacesOfFewResultsAreJudgedTogether(t *testing.T) {
	h := &jobFinder{activity: &activity{t: &timeline.Timeline{Requests: []timeline.Request{{}}}, strands: make([]strand, 1)}}
	j := job{}
	for k := range 20 {
		j.results = append(j.results, result{calls: k + 1, place: place{timeline.None, int64(k)}})
	}
	j.results[7].calls = 7 // as many as before
	h.strands[0].jobs = []job{j}
	h.dropLocks()
	if got := h.strands[0].jobs[0].results; len(got) != 19 || !got[0].sure {
		t.Errorf("%d results are left, the first is sure: %v; want 19, and that it is", len(got), got[0].sure)
	}
}

// A thousand requests put in two tasks each. If three of them seem to have put in three, that is a mistake; if ten of
// twenty do, it is not.
func TestSharesOfWhichFewAreWrong(t *testing.T) {
	for _, c := range []struct {
		of         map[int]int
		few        int
		most, show int
	}{
		{map[int]int{1: 300, 2: 697, 3: 3}, 1, 2, 697},
		{map[int]int{1: 300, 2: 697, 3: 3}, 0, 3, 3},
		{map[int]int{2: 10, 3: 10}, 1, 3, 10},
	} {
		if most, show := mostOf(maps.Clone(c.of), c.few); most != c.most || show != c.show {
			t.Errorf("of %v with %d exceptions: %d, shown by %d; want %d, by %d", c.of, c.few, most, show, c.most, c.show)
		}
	}
}

// All of 300 requests put in two tasks each, but one task of the first is mistaken for one of the last.
func TestSharesOfRequests(t *testing.T) {
	h := queuesOf(&activity{t: &timeline.Timeline{}})
	var pool []task
	var order submitters
	add := func(r timeline.RequestID) {
		pool = append(pool, task{calls: []timeline.CallID{timeline.CallID(len(pool))}})
		h.t.Calls = append(h.t.Calls, timeline.Call{Request: r})
	}
	for r := range timeline.RequestID(300) {
		h.t.Requests, order.reqs = append(h.t.Requests, timeline.Request{RequestMore: &timeline.RequestMore{}, RequestBy: &timeline.RequestBy{Endpoint: "/a"}}), append(order.reqs, r)
		if add(r); r > 0 {
			add(r)
		} else {
			add(299)
		}
	}
	h.bursts = make([]causality.Span, 300)
	if got := h.newQueue(pool, order).shares(); got["/a"] != 2 {
		t.Errorf("shares %v, want two", got)
	}
}

// Workers 0 and 1 wait for work at one word; 2 waits at another, and 3 and 4 at none. Worker 5 serves a request.
func TestWorkersOfOneQueue(t *testing.T) {
	for _, c := range []struct {
		because string
		of, by  timeline.StrandID // the strand that was woken, and the one that woke it
		one     bool              // their tasks form one pool
	}{
		{"they wait at one word", 1, timeline.None, true},
		{"at different words", 2, timeline.None, false},
		{"another worker woke it", 3, 0, true},
		{"a request's own strand did", 4, 5, false},
	} {
		h := queuesOf(&activity{t: &timeline.Timeline{Strands: make([]timeline.Strand, 6)}, strands: make([]strand, 6), o: make(timeline.Stints, 6), serving: make(timeline.Stints, 6)})
		h.o[5] = []timeline.Stint{{From: 0, To: 100, Request: 0}}
		h.strands[0].idle.word, h.strands[1].idle.word, h.strands[2].idle.word = 4711, 4711, 4712
		for i, by := range map[timeline.StrandID]timeline.StrandID{0: timeline.None, c.of: c.by, 5: timeline.None} {
			id := timeline.CallID(len(h.t.Calls))
			h.t.Calls = append(h.t.Calls, timeline.Call{ID: id, Request: timeline.None, SendFrom: 20, End: 30})
			h.strands[i].calls = []timeline.CallID{id}
			h.strands[i].jobs = []job{{strand: i, from: 10, to: 40, by: by, calls: h.strands[i].calls}}
		}
		want := 3 // pools
		if c.one {
			want = 2
		}
		if got := h.pools(); len(got) != want {
			t.Errorf("%s: tasks of three workers are of %d pools, want %d", c.because, len(got), want)
		}
	}
}

// One count in 64 may be no multiple of what each task makes.
func TestCountsThatComeOutEven(t *testing.T) {
	for _, c := range []struct {
		counts []int
		of     int
		want   bool
	}{
		{[]int{2, 4, 2}, 2, true},
		{[]int{2, 3, 4}, 2, false},
		{append(slices.Repeat([]int{2}, 63), 3), 2, true},
		{append(slices.Repeat([]int{2}, 62), 3), 2, false},
		{[]int{0, 1}, 0, false},
	} {
		if got := multiples(c.counts, c.of); got != c.want {
			t.Errorf("%v are multiples of %d: %v, want %v", c.counts, c.of, got, c.want)
		}
	}
}
