package handoffs

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// pythonWaits is a strand of CPython with waits of one kind each: where, in which stack, and how long.
func pythonWaits(waits []timeline.Wait, offs []recording.Off) *idlePlaces {
	f := &facts.Facts{Threads: make([]facts.Thread, 1)}
	tl := &timeline.Timeline{
		Strands: make([]timeline.Strand, 1),
		Frames:  make([]recording.Frame, 1),
		Stacks:  []timeline.Stack{{Caller: timeline.None}, {Caller: 0}, {Caller: 1}, {Caller: 0}}, // 2 is deeper than 1 and 3
	}
	for i := range offs {
		off := facts.NewOff(&offs[i])
		off.State, off.Syscall = recording.OffSleep, "futex"
		w := waits[i]
		w.From, w.To, w.Off = off.Since, off.Woken, off
		tl.Waits = append(tl.Waits, w)
		tl.Strands[0].Waits = append(tl.Strands[0].Waits, timeline.WaitID(i))
		f.Threads[0].Steps = append(f.Threads[0].Steps, facts.Step{At: off.Woken, Off: off})
	}
	return &idlePlaces{&activity{t: tl, f: f, o: timeline.Stints{nil}, strands: make([]strand, 1)}}
}

func TestInWhichStacksWorkersWaitForWork(t *testing.T) {
	wait := func(stack timeline.StackID, cause timeline.Cause) timeline.Wait {
		return timeline.Wait{Stack: stack, Cause: cause}
	}
	off := func(since, woken recording.Time) recording.Off {
		return recording.Off{Since: since, Woken: woken, Arg: int64(since)}
	}
	for name, c := range map[string]struct {
		waits []timeline.Wait
		calls []timeline.Call
		want  []timeline.StackID
	}{
		"each time at another word":     {waits: []timeline.Wait{wait(1, timeline.CauseCondition), wait(1, timeline.CauseCondition)}, want: []timeline.StackID{1}},
		"a result is waited for deeper": {waits: []timeline.Wait{wait(1, timeline.CauseCondition), wait(2, timeline.CauseCondition), wait(1, timeline.CauseCondition), wait(2, timeline.CauseCondition)}, want: []timeline.StackID{1}},
		"once is no habit":              {waits: []timeline.Wait{wait(1, timeline.CauseCondition), wait(2, timeline.CauseUnknown)}},
		"locks are no queues":           {waits: []timeline.Wait{wait(1, timeline.CauseLock), wait(1, timeline.CauseLock)}},
		"a call is under way":           {waits: []timeline.Wait{wait(1, timeline.CauseCondition), wait(1, timeline.CauseCondition)}, calls: []timeline.Call{{SendFrom: 5, End: 500}}},
	} {
		var offs []recording.Off
		for i := range c.waits {
			offs = append(offs, off(recording.Time(100*i+10), recording.Time(100*i+60)))
		}
		h := pythonWaits(c.waits, offs)
		h.t.Calls = c.calls
		for id := range c.calls {
			h.strands[0].calls = append(h.strands[0].calls, timeline.CallID(id))
		}
		if got := h.queueStacks(0); !slices.Equal(got, c.want) {
			t.Errorf("%s: stacks %v, want %v", name, got, c.want)
		}
	}
}

// The longest waits are for a mutex at word 7, as some of the sleeps there show.
func TestMutexesAreNoQueues(t *testing.T) {
	var waits []timeline.Wait
	var offs []recording.Off
	for i := range 12 {
		one := recording.Off{Since: recording.Time(100 * i), Woken: recording.Time(100*i + 20), Arg: 5, Owner: recording.NoThread}
		if i%2 == 0 {
			one.Arg, one.Woken = 7, one.Since+90
		}
		if i == 4 {
			one.Owner = 3
		}
		waits, offs = append(waits, timeline.Wait{Stack: timeline.None}), append(offs, one)
	}
	if got := pythonWaits(waits, offs).queueOf(0); got != 5 {
		t.Errorf("it waits for work at %d, want 5", got)
	}
}

// Loop 0 woke worker 1 for request 0, which ends at 100; until 150 the worker did not wait again.
func TestWhoWasWokenForARequestAsksOthersForThat(t *testing.T) {
	for name, c := range map[string]struct {
		next recording.Time // when the worker sent another call, if it did
		loop recording.Time // when it woke the loop
		at   recording.Time
		want timeline.RequestID
	}{
		"while the request is open":                 {at: 50, want: 0},
		"after it was over":                         {at: 120, want: timeline.None},
		"it did another's work later":               {next: 110, loop: 90, at: 50, want: 0},
		"the loop may have given it another's work": {next: 110, loop: 40, at: 50, want: timeline.None},
		"it told the loop, and did no more":         {loop: 40, at: 50, want: 0},
	} {
		tl := &timeline.Timeline{Strands: make([]timeline.Strand, 2), Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, FirstRead: 10, End: 100}}}
		f := &facts.Facts{Threads: make([]facts.Thread, 2)}
		f.ThreadIndex.Set(8, 1)
		h := &activity{t: tl, f: f, o: make(timeline.Stints, 2), serving: make(timeline.Stints, 2), strands: []strand{{}, {jobs: []job{{strand: 1, from: 20, to: 150, by: 0, claim: 0, told: true}}}}}
		if c.next > 0 {
			tl.Calls, h.strands[1].calls = []timeline.Call{{Strand: 1, SendFrom: c.next}}, []timeline.CallID{0}
		}
		if c.loop > 0 {
			f.Threads[0].Steps = []facts.Step{{At: c.loop + 1}, {At: c.loop + 2, Off: facts.NewOff(&recording.Off{
				Since: c.loop - 5, Woken: c.loop, Syscall: "epoll_wait", WakerKind: recording.WakerThread, Waker: 8,
			})}}
		}
		if got := h.worksFor(1, c.at); got != c.want {
			t.Errorf("%s: for %d, want %d", name, got, c.want)
		}
	}
}

// Strand 1 works on what it took for request 0, and creates a thread, which tells it that it has begun: that is no
// result.
func TestBeginningsAreNoResultsForWhoTookWork(t *testing.T) {
	h := &jobFinder{activity: &activity{
		t: &timeline.Timeline{Strands: make([]timeline.Strand, 3), Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, End: 100}}}, o: make(timeline.Stints, 3), serving: make(timeline.Stints, 3),
		strands: []strand{{}, {takings: []taking{{strand: 1, from: 10, to: 90, request: 0}}}, {jobs: []job{{strand: 2, from: 20, to: 80, by: 1, made: true, results: []result{{at: 25}, {at: 70, calls: 1}}}}}},
	}}
	h.dropBegins()
	if got := h.strands[2].jobs[0].results; len(got) != 1 || got[0].at != 70 {
		t.Errorf("results: %+v, want the one at 70", got)
	}
}
