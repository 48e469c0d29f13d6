package timeline

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// Strand 0 wakes strand 1 at 20, which sends a call at 30 and has its answer at 50.
func TestWhoAskedWaitsForTheResult(t *testing.T) {
	h := &handOffs{t: &Timeline{Calls: []Call{{SendFrom: 30, End: 50}}}}
	j := &job{strand: 1, from: 20, to: 90, by: 0, calls: []CallID{0}}
	for name, c := range map[string]struct {
		of          StrandID
		since, till Time
		want        bool
	}{
		"who asked, from then on":                   {0, 25, 60, true},
		"another":                                   {2, 25, 60, false},
		"it had slept before it asked":              {0, 15, 60, false},
		"it slept only when the answer was there":   {0, 55, 60, false},
		"it was woken while the call was under way": {0, 25, 40, false},
	} {
		if got := h.waitedFor(j, wake{at: c.till, by: 1, of: c.of, off: newOff(&recording.Off{Since: c.since})}); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if h.waitedFor(&job{strand: 1, from: 20, by: 0}, wake{at: 60, of: 0, off: newOff(&recording.Off{Since: 25})}) {
		t.Error("a result of what made no call")
	}
}

// pythonWaits is a strand of CPython with waits of one kind each: where, in which stack, how long.
func pythonWaits(waits []Wait, offs []recording.Off) *handOffs {
	f := &facts{threads: make([]threadFacts, 1)}
	tl := &Timeline{
		Strands: make([]Strand, 1),
		Frames:  make([]recording.Frame, 1),
		Stacks:  []Stack{{Caller: None}, {Caller: 0}, {Caller: 1}, {Caller: 0}}, // 2 is deeper than 1 and 3
	}
	for i := range offs {
		off := newOff(&offs[i])
		off.State, off.Syscall = recording.OffSleep, "futex"
		w := waits[i]
		w.From, w.To, w.Off = off.Since, off.Woken, off
		tl.Waits = append(tl.Waits, w)
		tl.Strands[0].Waits = append(tl.Strands[0].Waits, WaitID(i))
		f.threads[0].steps = append(f.threads[0].steps, step{at: off.Woken, off: off})
	}
	return &handOffs{t: tl, f: f, o: owners{nil}, callsOf: [][]CallID{nil}}
}

func TestInWhichStacksWorkersWaitForWork(t *testing.T) {
	wait := func(stack StackID, cause Cause) Wait { return Wait{Stack: stack, Cause: cause} }
	off := func(since, woken Time) recording.Off {
		return recording.Off{Since: since, Woken: woken, Arg: int64(since)}
	}
	for name, c := range map[string]struct {
		waits []Wait
		calls []Call
		want  []StackID
	}{
		"each time at another word":     {waits: []Wait{wait(1, CauseCondition), wait(1, CauseCondition)}, want: []StackID{1}},
		"a result is waited for deeper": {waits: []Wait{wait(1, CauseCondition), wait(2, CauseCondition), wait(1, CauseCondition), wait(2, CauseCondition)}, want: []StackID{1}},
		"once is no habit":              {waits: []Wait{wait(1, CauseCondition), wait(2, CauseUnknown)}},
		"locks are no queues":           {waits: []Wait{wait(1, CauseLock), wait(1, CauseLock)}},
		"a call is under way":           {waits: []Wait{wait(1, CauseCondition), wait(1, CauseCondition)}, calls: []Call{{SendFrom: 5, End: 500}}},
	} {
		var offs []recording.Off
		for i := range c.waits {
			offs = append(offs, off(Time(100*i+10), Time(100*i+60)))
		}
		h := pythonWaits(c.waits, offs)
		h.t.Calls = c.calls
		for id := range c.calls {
			h.callsOf[0] = append(h.callsOf[0], CallID(id))
		}
		if got := h.queueStacks(0); !slices.Equal(got, c.want) {
			t.Errorf("%s: stacks %v, want %v", name, got, c.want)
		}
	}
}

// At word 7 a mutex is waited for, as some of the sleeps there tell, and longest of all.
func TestMutexesAreNoQueues(t *testing.T) {
	var waits []Wait
	var offs []recording.Off
	for i := range 12 {
		one := recording.Off{Since: Time(100 * i), Woken: Time(100*i + 20), Arg: 5, Owner: recording.NoThread}
		if i%2 == 0 {
			one.Arg, one.Woken = 7, one.Since+90
		}
		if i == 4 {
			one.Owner = 3
		}
		waits, offs = append(waits, Wait{Stack: None}), append(offs, one)
	}
	if got := pythonWaits(waits, offs).queueOf(0); got != 5 {
		t.Errorf("it waits for work at %d, want 5", got)
	}
}

// Loop 0 woke worker 1 for request 0, which is over at 100; until 150 the worker did not wait again.
func TestWhoWasWokenForARequestAsksOthersForThat(t *testing.T) {
	for name, c := range map[string]struct {
		next Time // when the worker sent another call, if it did
		loop Time // when it woke the loop
		at   Time
		want RequestID
	}{
		"while the request is open":                 {at: 50, want: 0},
		"after it was over":                         {at: 120, want: None},
		"it did another's work later":               {next: 110, loop: 90, at: 50, want: 0},
		"the loop may have given it another's work": {next: 110, loop: 40, at: 50, want: None},
		"it told the loop, and did no more":         {loop: 40, at: 50, want: 0},
	} {
		tl := &Timeline{Strands: make([]Strand, 2), Requests: []Request{{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, FirstRead: 10, End: 100}}}
		f := &facts{threads: make([]threadFacts, 2)}
		f.threadIndex.set(8, 1)
		h := &handOffs{t: tl, f: f, o: make(owners, 2), serving: make(owners, 2), callsOf: make([][]CallID, 2), jobs: [][]job{nil, {{strand: 1, from: 20, to: 150, by: 0, claim: 0, told: true}}}}
		if c.next > 0 {
			tl.Calls, h.callsOf[1] = []Call{{Strand: 1, SendFrom: c.next}}, []CallID{0}
		}
		if c.loop > 0 {
			f.threads[0].steps = []step{{at: c.loop + 1}, {at: c.loop + 2, off: newOff(&recording.Off{
				Since: c.loop - 5, Woken: c.loop, Syscall: "epoll_wait", WakerKind: recording.WakerThread, Waker: 8,
			})}}
		}
		if got := h.worksFor(1, c.at); got != c.want {
			t.Errorf("%s: for %d, want %d", name, got, c.want)
		}
	}
}

// Strand 1 works on what it took for request 0, and makes a thread, which tells it that it has
// begun: that is no result.
func TestBeginningsAreNoResultsForWhoTookWork(t *testing.T) {
	h := &handOffs{
		t: &Timeline{Strands: make([]Strand, 3), Requests: []Request{{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, End: 100}}}, o: make(owners, 3), serving: make(owners, 3),
		takings: [][]taking{nil, {{strand: 1, from: 10, to: 90, request: 0}}, nil},
		jobs:    [][]job{nil, nil, {{strand: 2, from: 20, to: 80, by: 1, made: true, results: []result{{at: 25}, {at: 70, calls: 1}}}}},
	}
	h.dropBegins()
	if got := h.jobs[2][0].results; len(got) != 1 || got[0].at != 70 {
		t.Errorf("results: %+v, want the one at 70", got)
	}
}
