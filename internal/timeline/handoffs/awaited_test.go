package handoffs

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// queuesOf returns the queues of an activity about which nothing else is known.
func queuesOf(h *activity) *queues { return &queues{&decisions{activity: h}} }

// Forty requests wait from 10 on for three tasks: the tasks of workers 0 and 1 wake them at 40 and 60, and the task
// of worker 2 wakes no strand. When that task was taken and done shows how the requests wait.
func TestHowRequestsWaitForResults(t *testing.T) {
	for _, c := range []struct {
		name                    string
		taken, done, to         recording.Time // of the task that woke no strand
		once                    bool           // each request is woken only once
		byFirst, whenever, last bool
	}{
		{"one result after the other: done while another is waited for", 25, 30, 35, false, true, false, true},
		{"as they come: done while the request runs", 15, 45, 46, false, false, true, true},
		{"in order, and done as the request runs", 25, 45, 46, false, true, true, true},
		{"all at once: the last wakes it", 15, 30, 35, true, false, false, true},
		{"after the last that woke it", 25, 65, 68, false, true, true, false},
	} {
		h := queuesOf(&activity{t: &timeline.Timeline{}, strands: make([]strand, 3)})
		var pool []task
		ends := map[timeline.CallID]result{}
		add := func(at recording.Time, x task, call timeline.Call) {
			x.calls = []timeline.CallID{timeline.CallID(len(h.t.Calls))}
			x.begun, x.sent, x.to = x.begun+at, x.sent+at, x.to+at
			call.End += at
			h.t.Calls, pool = append(h.t.Calls, call), append(pool, x)
		}
		for i := range timeline.RequestID(40) {
			at := recording.Time(i) * 100
			ends[timeline.CallID(len(pool))] = result{at: at + 40, since: at + 10, request: i}
			add(at, task{begun: 20, sent: 21, to: 41}, timeline.Call{Request: i, End: 39, Why: timeline.WhyHandOffEnd})
			if !c.once {
				ends[timeline.CallID(len(pool))] = result{at: at + 60, since: at + 50, request: i}
				add(at, task{begun: 23, sent: 24, to: 61}, timeline.Call{Request: i, End: 59, Why: timeline.WhyHandOffEnd})
			}
			add(at, task{begun: c.taken, sent: c.taken + 1, to: c.to}, timeline.Call{Request: i, End: c.done, Why: timeline.WhyHandOffOrder})
		}
		a := h.awaits(pool, ends)
		got := [3]bool{a.byFirst, a.whenever, a.last}
		want := [3]bool{c.byFirst, c.whenever, c.last && c.once}
		if got != want {
			t.Errorf("%s: by the first, whenever it waits, by the last: %v, want %v", c.name, got, want)
		}
	}
}

// Tasks woke request 0 at 40 and at 60; the first of them was taken at 20. Whether a task that woke no strand may be
// its depends on how requests wait.
func TestWhoseTasksAreThatWokeNobody(t *testing.T) {
	for _, c := range []struct {
		name            string
		taken, done, to recording.Time
		how             awaited
		want            bool
	}{
		{"taken before the first", 15, 30, 35, awaited{byFirst: true}, false},
		{"and done before anybody waited", 5, 8, 9, awaited{byFirst: true}, true},
		{"taken after it", 25, 30, 35, awaited{byFirst: true}, true},
		{"done while the request waited", 25, 30, 35, awaited{whenever: true}, false},
		{"done while it did not", 25, 45, 48, awaited{whenever: true}, true},
		{"done after the last", 25, 65, 70, awaited{last: true}, false},
		{"done before it", 25, 45, 48, awaited{last: true}, true},
		{"nothing is known", 15, 65, 70, awaited{}, true},
	} {
		h := &activity{t: &timeline.Timeline{Calls: []timeline.Call{{End: c.done}}}}
		c.how.ends = map[timeline.RequestID][]result{0: {{since: 10, at: 40}, {since: 50, at: 60}}}
		c.how.first = map[timeline.RequestID]task{0: {begun: 20, sent: 21}}
		x := task{calls: []timeline.CallID{0}, begun: c.taken, sent: c.taken + 1, to: c.to}
		if got := c.how.fits(h, &x, 0); got != c.want {
			t.Errorf("%s: may be its: %v, want %v", c.name, got, c.want)
		}
		if !c.how.fits(h, &x, 1) {
			t.Errorf("%s: may not be of a request of which nothing is known", c.name)
		}
	}
}

// endings lists the last calls before results, unless the call's request is known otherwise.
func TestEndingsOfTasks(t *testing.T) {
	h := queuesOf(&activity{
		t: &timeline.Timeline{Calls: []timeline.Call{{ID: 0, Request: 3, Why: timeline.WhyHandOffOrder}, {ID: 1, Request: 3, Why: timeline.WhyHandOffEnd}, {ID: 2, Request: 4, Why: timeline.WhyHandOffEnd}}},
		strands: []strand{{jobs: []job{{calls: []timeline.CallID{0, 1, 2}, results: []result{
			{at: 5, request: 3, calls: 0}, {at: 10, request: 3, calls: 2}, {at: 20, request: 4, calls: 3, answer: true},
		}}}}},
	})
	if got := h.endings(); len(got) != 1 || got[1].at != 10 {
		t.Errorf("endings %+v, want that of call 1", got)
	}
}

// Only threads that share an interpreter's lock end tasks one at a time.
func TestWhoseThreadsTakeTurns(t *testing.T) {
	for rt, want := range map[recording.Runtime]bool{recording.RuntimePython: true, recording.RuntimeRuby: true, recording.RuntimeJVM: false, recording.RuntimeNative: false} {
		h := queuesOf(&activity{f: &facts.Facts{Processes: []timeline.Process{{Runtime: rt}}, ProcIndex: map[recording.ProcessID]int{3: 0}}})
		if got := h.oneAtATime(3); got != want {
			t.Errorf("%v: %v, want %v", rt, got, want)
		}
	}
}
