package timeline

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

// Request 0 is open from 10 to 100, request 1 from 60 on. What seems to be delivered to request
// 0 is believed, whatever else went that way, if nothing else was open as the call was sent and
// as its answer came.
func TestDeliveriesToTheOnlyOpenRequest(t *testing.T) {
	tl := &Timeline{
		Requests: []Request{{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 0, Process: 1, FirstRead: 10, End: 100}, {RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 1, Process: 1, FirstRead: 60, End: 90}},
		Calls:    []Call{{Process: 1, SendFrom: 20, FirstRead: 40}, {Process: 1, SendFrom: 20, FirstRead: 70}, {Process: 1, SendFrom: 70, FirstRead: 95}},
	}
	h := &handOffs{t: tl, open: openIn(tl)}
	for _, c := range []struct {
		name string
		delivery
		want bool
	}{
		{"alone", delivery{call: 0, request: 0}, true},
		{"another was open as the answer came", delivery{call: 1, request: 0}, false},
		{"another was open as it was sent", delivery{call: 2, request: 0}, false},
		{"to another", delivery{call: 0, request: 1}, false},
		{"to a worker", delivery{call: 0, request: None}, false},
	} {
		if got := h.alone(&c.delivery); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Nothing tells of a carried call, whose answer was delivered to nobody. It is of the only
// request that was open, if the strand that sent it worked for that.
func TestCarriedCallsOfTheOnlyOpenRequest(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*handOffs)
		want   RequestID
	}{
		{"as it is", func(*handOffs) {}, 0},
		{"another is open", func(h *handOffs) { h.t.Requests[1].FirstRead = 30 }, None},
		{"the strand worked for nobody", func(h *handOffs) { h.o = make(owners, 2) }, None},
		{"it ended after the request", func(h *handOffs) { h.t.Calls[0].End = 130 }, None},
		{"it is known to be nobody's", func(h *handOffs) { h.got[0] = true }, None},
		{"it is not carried", func(h *handOffs) { h.carried[0] = false }, None},
	} {
		h := &handOffs{
			t: &Timeline{
				Strands:  make([]Strand, 2),
				Requests: []Request{{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 0, Process: 1, FirstRead: 10, End: 100}, {RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 1, Process: 1, FirstRead: 200, End: 300}},
				Calls:    []Call{{Process: 1, Strand: 1, Request: None, Why: WhyNoOwner, SendFrom: 40, End: 60}},
			},
			f: &facts{threads: make([]threadFacts, 2)}, o: owners{nil, {{10, 50, 0}}},
			carried: []bool{true}, got: []bool{false}, reads: make([][]readAt, 2),
		}
		c.change(h)
		h.open = openIn(h.t)
		if h.byLoneRequest(); h.t.Calls[0].Request != c.want {
			t.Errorf("%s: of request %d, want %d", c.name, h.t.Calls[0].Request, c.want)
		}
	}
}

// A job was started by strand 0, which served request 5, or by worker 1, which worked for it. A
// carried call of it may be of a task that was put in before, unless the request's own strand
// started the job.
func TestCarriedCallsAreOfTheTaskThatTheirJobWasStartedFor(t *testing.T) {
	h := &handOffs{o: owners{{{0, 100, 5}}, nil, nil}, serving: make(owners, 3), carried: []bool{true, false}}
	for _, c := range []struct {
		by   StrandID
		call CallID
		want bool
	}{{0, 0, true}, {1, 0, false}, {1, 1, true}} {
		if got := h.taskOf(&job{strand: 2, by: c.by, from: 10, claim: 5}, c.call); got != c.want {
			t.Errorf("started by strand %d, carried %v: %v, want %v", c.by, h.carried[c.call], got, c.want)
		}
	}
}

// A wake-up out of a wait for a lock, or for the interpreter's, delivers nothing, though no
// stack says so.
func TestLocksDeliverNothing(t *testing.T) {
	off := newOff(&recording.Off{Since: 10, Woken: 50, State: recording.OffSleep, Syscall: "futex"})
	for cause, want := range map[Cause]bool{CauseLock: true, CauseInterpreterLock: true, CauseCondition: false, CauseUnknown: false} {
		h := &handOffs{t: &Timeline{Strands: []Strand{{Waits: []WaitID{0}}}, Waits: []Wait{{From: 10, To: 50, Cause: cause}}}}
		if got := h.forLock(wake{of: 0, off: off}); got != want {
			t.Errorf("a wait for %v: for a lock %v, want %v", cause, got, want)
		}
	}
	if h := (&handOffs{t: &Timeline{Strands: make([]Strand, 1)}}); h.forLock(wake{of: 0, off: off}) {
		t.Error("a sleep of which nothing is known is for a lock")
	}
}

// Strand 0 answers what another reads, and serves request 0 from 20 on. Worker 1 wakes it at 50
// after a call that it had sent at 5, for somebody else: that contradicts that all it is given
// is for its request, unless it waited for a lock.
func TestResultsOfThoseWhoAnswer(t *testing.T) {
	for cause, odd := range map[Cause]int{CauseUnknown: 1, CauseInterpreterLock: 0} {
		h := &handOffs{
			t: &Timeline{
				Strands:  []Strand{{Waits: []WaitID{0}}, {}},
				Waits:    []Wait{{From: 30, To: 50, Cause: cause, Stack: None}},
				Requests: []Request{{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, FirstRead: 20, End: 100}},
				Calls:    []Call{{Strand: 1, SendFrom: 5, End: 40}},
			},
			f:       &facts{threads: make([]threadFacts, 2)},
			serving: owners{{{20, 100, 0}}, nil}, callsOf: [][]CallID{nil, {0}},
		}
		h.f.threadIndex.set(8, 1)
		h.f.threads[0].steps = []step{{at: 60, off: newOff(&recording.Off{
			Since: 30, Woken: 50, State: recording.OffSleep, Syscall: "futex", Release: 1, WakerKind: recording.WakerThread, Waker: 8,
		})}}
		var got counted
		if h.nested(0, &got); got != (counted{odd, odd}) {
			t.Errorf("woken out of a wait for %v: %d of %d are odd, want %d", cause, got.odd, got.all, odd)
		}
	}
}

// While a call is open that others carry for a strand, its wait for what another does is for
// the answer.
func TestWaitsForCarriedAnswers(t *testing.T) {
	for _, c := range []struct {
		carried bool
		cause   Cause
		want    []Cause
	}{
		{true, CauseCondition, []Cause{CauseCondition, CauseRemote, CauseCondition}},
		{false, CauseCondition, []Cause{CauseCondition}},
		{true, CauseLock, []Cause{CauseLock}},
	} {
		tl := &Timeline{
			Start: 0, End: 200, Strands: make([]Strand, 1), callsOn: [][]CallID{{0}},
			Calls: []Call{{Strand: 0, Carried: c.carried, Start: 30, SendFrom: 30, FirstRead: 70, End: 70, Request: 0}},
		}
		var got []Cause
		for _, a := range tl.forAnswers(0, Activity{From: 10, To: 100, Cause: c.cause, Call: None}, nil) {
			if len(got) == 0 || got[len(got)-1] != a.Cause {
				got = append(got, a.Cause)
			}
		}
		if len(got) != len(c.want) || got[0] != c.want[0] || got[len(got)/2] != c.want[len(got)/2] {
			t.Errorf("carried %v, a wait for %v: %v, want %v", c.carried, c.cause, got, c.want)
		}
	}
}
