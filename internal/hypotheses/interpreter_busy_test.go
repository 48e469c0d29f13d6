package hypotheses

import (
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// A request waits from 10 to 30 ms for a thread of a pool. One thread of the interpreter runs until 14 and again from
// 20 on, another one from 18 to 22: no thread runs for 4 ms. If the first is ready from 15 on, and gets no processor,
// another thread would not get one either: that leaves 1 ms.
func TestMoreThreadsDoNotRunBesideABusyInterpreter(t *testing.T) {
	for woken, want := range map[string]diagnosis.Duration{"20ms": 4_000_000, "15ms": 1_000_000} {
		tl := built(t, strings.ReplaceAll(`1ms manifest cpus=2 hooks="sched io"
1ms process id=1 pid=100 runtime=python comm=shop
1ms thread id=1 tid=101 process=1
1ms thread id=2 tid=102 process=1
1ms thread-state thread=1 on=1
1ms thread-state thread=2 state=sleep syscall=futex
18ms off thread=2 since=1ms woken=18ms state=sleep syscall=futex
20ms off thread=1 since=14ms woken=WOKEN state=sleep syscall=futex
40ms off thread=2 since=22ms woken=40ms state=sleep syscall=futex
50ms off thread=1 since=40ms woken=50ms state=sleep syscall=futex
60ms end reason=time
`, "WOKEN", woken))
		got := besideInterpreter(&diagnosis.Case{Timeline: tl}, 1, []stay{{Span: diagnosis.Span{From: 10_000_000, To: 30_000_000}}})
		if len(got) != 1 || got[0].To.Sub(got[0].From) != want {
			t.Errorf("woken at %s: %+v would go, want %s", woken, got, diagnosis.Human(want))
		}
	}
}

// A thread that serves no request computes while requests wait for the interpreter: those waits go. If it had served a
// request, at whatever time, they would be a queue of requests.
func TestThreadsThatServeAreNoOthers(t *testing.T) {
	tl, err := build.Recording(done(bursts(newScenario(recording.RuntimePython), 4, behindReport), 50))
	if err != nil {
		t.Fatal(err)
	}
	look := diagnosis.Hypothesis{ID: "look", Test: func(c *diagnosis.Case) diagnosis.Result {
		k := *contentions(c, timeline.CauseInterpreterLock)[0]
		if len(k.did) == 0 || len(k.behindOthers(c)) == 0 {
			t.Errorf("%d deeds, and nothing would go", len(k.did))
		}
		k.did = slices.Clone(k.did)
		for i := range k.did {
			k.did[i].strand = c.Requests[0].Strand
		}
		if gone := k.behindOthers(c); len(gone) != 0 {
			t.Errorf("behind a thread that serves requests, %d waits would go", len(gone))
		}
		return diagnosis.Result{}
	}}
	diagnosis.Diagnose(tl, []diagnosis.Hypothesis{look}, diagnosis.Options{})
}

// A request comes every 8 ms. One thread does the tasks of all: it computes for 5 ms, and then waits 5 ms for a peer.
// The eleventh request waits 20 ms for it, and during half of that no thread runs. With more threads all tasks would
// have been done before it came.
func TestWhatManyThreadsWouldHaveDoneBefore(t *testing.T) {
	ms := func(n int) diagnosis.Time { return diagnosis.Time(n) * diagnosis.Time(milli) }
	tl := &timeline.Timeline{Processes: []timeline.Process{{ID: 1, Runtime: recording.RuntimePython}}, Strands: []timeline.Strand{{Process: 1}, {Process: 1}}}
	var waits []stay
	for i := range 11 {
		came, begun := ms(8*i), ms(10*i)
		r := timeline.Request{ID: diagnosis.RequestID(i), Start: came, FirstRead: came, End: begun + ms(10), Strand: 0, Process: 1, RequestBy: &timeline.RequestBy{}}
		r.SetSegments([]timeline.Segment{
			{From: came, To: begun, Cause: timeline.CausePool, Phase: timeline.PhaseHandler, Strand: 1},
			{From: begun, To: begun + ms(5), Cause: timeline.CauseOnCPU, Phase: timeline.PhaseHandler, Strand: 1},
		})
		tl.Requests = append(tl.Requests, r)
		tl.Strands[1].Intervals = append(tl.Strands[1].Intervals, timeline.Interval{From: begun, To: begun + ms(5), State: timeline.StateRunning}, timeline.Interval{From: begun + ms(5), To: begun + ms(10), State: timeline.StateSleeping})
		waits = append(waits, stay{Span: diagnosis.Span{Request: r.ID, From: came, To: begun}, strand: 1})
	}
	got := besideInterpreter(diagnosis.NewCase(tl, diagnosis.Options{}), 1, waits[10:])
	if len(got) != 1 || got[0].To.Sub(got[0].From) != 20*milli {
		t.Errorf("%+v would go, want all of 20 ms", got)
	}
}
