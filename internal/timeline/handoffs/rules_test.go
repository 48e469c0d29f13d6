package handoffs

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// Request 0 is open from 10 to 100, request 1 from 60 on. What seems to be delivered to request 0 is believed,
// whatever else went that way, if no other request was open when the call was sent and when its answer came.
func TestDeliveriesToTheOnlyOpenRequest(t *testing.T) {
	tl := &timeline.Timeline{
		Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: 0, Process: 1, FirstRead: 10, End: 100}, {RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: 1, Process: 1, FirstRead: 60, End: 90}},
		Calls:    []timeline.Call{{Process: 1, SendFrom: 20, FirstRead: 40}, {Process: 1, SendFrom: 20, FirstRead: 70}, {Process: 1, SendFrom: 70, FirstRead: 95}},
	}
	h := &carriers{&activity{t: tl, open: timeline.OpenIn(tl)}}
	for _, c := range []struct {
		name string
		delivery
		want bool
	}{
		{"alone", delivery{call: 0, request: 0}, true},
		{"another was open as the answer came", delivery{call: 1, request: 0}, false},
		{"another was open as it was sent", delivery{call: 2, request: 0}, false},
		{"to another", delivery{call: 0, request: 1}, false},
		{"to a worker", delivery{call: 0, request: timeline.None}, false},
	} {
		if got := h.alone(&c.delivery); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A job was started by strand 0, which served request 5, or by worker 1, which worked for that request. A carried
// call of the job may belong to a task that was put in before, unless the request's own strand started the job.
func TestCarriedCallsAreOfTheTaskThatTheirJobWasStartedFor(t *testing.T) {
	h := &decisions{activity: &activity{o: timeline.Stints{{{From: 0, To: 100, Request: 5}}, nil, nil}, serving: make(timeline.Stints, 3), ways: []callWay{{carried: true}, {carried: false}}}}
	for _, c := range []struct {
		by   timeline.StrandID
		call timeline.CallID
		want bool
	}{{0, 0, true}, {1, 0, false}, {1, 1, true}} {
		if got := h.taskOf(&job{strand: 2, by: c.by, from: 10, claim: 5}, c.call); got != c.want {
			t.Errorf("started by strand %d, carried %v: %v, want %v", c.by, h.ways[c.call].carried, got, c.want)
		}
	}
}

// A wake-up from a wait for a lock, or for the interpreter's lock, delivers nothing, even if no stack shows the lock.
// Nor does a wake-up from a wait for room in a queue.
func TestLocksDeliverNothing(t *testing.T) {
	off := facts.NewOff(&recording.Off{Since: 10, Woken: 50, State: recording.OffSleep, Syscall: "futex"})
	for cause, want := range map[timeline.Cause]bool{timeline.CauseLock: true, timeline.CauseInterpreterLock: true, timeline.CauseCondition: false, timeline.CauseUnknown: false} {
		h := &activity{t: &timeline.Timeline{Strands: []timeline.Strand{{Waits: []timeline.WaitID{0}}}, Waits: []timeline.Wait{{From: 10, To: 50, Cause: cause}}}}
		if got := !h.mayDeliver(wake{of: 0, off: off}); got != want {
			t.Errorf("a wait for %v: for a lock %v, want %v", cause, got, want)
		}
	}
	room := []timeline.Wait{{From: 10, To: 50, Cause: timeline.CauseCondition, Rule: timeline.RuleJVMRoom}}
	if h := (&activity{t: &timeline.Timeline{Strands: []timeline.Strand{{Waits: []timeline.WaitID{0}}}, Waits: room}}); h.mayDeliver(wake{of: 0, off: off}) {
		t.Error("who takes from a full queue delivers something to those who wait for room in it")
	}
	if h := (&activity{t: &timeline.Timeline{Strands: make([]timeline.Strand, 1)}}); !h.mayDeliver(wake{of: 0, off: off}) {
		t.Error("a sleep of which nothing is known is for a lock")
	}
}

// Strand 0 answers what another strand reads, and serves request 0 from 20 on. Worker 1 wakes it at 50, after a call
// that it had sent at 5 for another request. That contradicts the rule that everything strand 0 gets is for its
// request, unless strand 0 waited for a lock.
func TestResultsOfThoseWhoAnswer(t *testing.T) {
	for cause, odd := range map[timeline.Cause]int{timeline.CauseUnknown: 1, timeline.CauseInterpreterLock: 0} {
		h := &responders{&activity{
			t: &timeline.Timeline{
				Strands:  []timeline.Strand{{Waits: []timeline.WaitID{0}}, {}},
				Waits:    []timeline.Wait{{From: 30, To: 50, Cause: cause, Stack: timeline.None}},
				Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, FirstRead: 20, End: 100}},
				Calls:    []timeline.Call{{Strand: 1, SendFrom: 5, End: 40}},
			},
			f:       &facts.Facts{Threads: make([]facts.Thread, 2)},
			serving: timeline.Stints{{{From: 20, To: 100, Request: 0}}, nil}, strands: []strand{{}, {calls: []timeline.CallID{0}}},
		}}
		h.f.ThreadIndex.Set(8, 1)
		h.f.Threads[0].Steps = []facts.Step{{At: 60, Off: facts.NewOff(&recording.Off{
			Since: 30, Woken: 50, State: recording.OffSleep, Syscall: "futex", Release: 1, WakerKind: recording.WakerThread, Waker: 8,
		})}}
		var got causality.Tally
		if h.nested(0, 1000, got.Add); got != (causality.Tally{All: odd, Odd: odd}) {
			t.Errorf("woken out of a wait for %v: %d of %d are odd, want %d", cause, got.Odd, got.All, odd)
		}
	}
}

// Strand 0 answers what another reads: request 0 until 100. What it calls after that was read which is not answered as the
// recording ends may be for that; what it calls before is nobody's, and speaks against it.
func TestWhoAnswersMayGoOnWithWhatIsNotAnswered(t *testing.T) {
	for name, c := range map[string]struct {
		sent recording.Time
		cut  bool
		odd  int
	}{
		"after its last answer":     {200, true, 0},
		"before that was read":      {105, true, 1},
		"and nothing is unanswered": {200, false, 1},
	} {
		by := func(r timeline.Request) timeline.Request {
			r.RequestBy, r.RequestMore = &timeline.RequestBy{}, timeline.NoMore()
			return r
		}
		h := &responders{&activity{
			t: &timeline.Timeline{
				Strands:  []timeline.Strand{{}, {}},
				Requests: []timeline.Request{by(timeline.Request{FirstRead: 20, FirstWrite: 90, End: 100}), by(timeline.Request{ID: 1, FirstRead: 110, End: 300, Cut: c.cut})},
				Calls:    []timeline.Call{{SendFrom: c.sent, End: c.sent + 5}},
			},
			f: &facts.Facts{End: 300, Threads: make([]facts.Thread, 2)}, o: make(timeline.Stints, 2),
			serving: make(timeline.Stints, 2), strands: []strand{{calls: []timeline.CallID{0}, answers: []result{{at: 100, answer: true}}}, {}},
		}}
		open, until := h.unanswered(), h.f.End
		if from, ok := open[0]; ok {
			until = max(from, 100)
		}
		h.serving[0] = h.served(h.strands[0].answers)
		var got causality.Tally
		if h.nested(0, until, got.Add); got.Odd != c.odd {
			t.Errorf("%s: %d of %d are odd, want %d", name, got.Odd, got.All, c.odd)
		}
	}
}
