package truth

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/getdwell/dwell/internal/load"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

const milli = 1_000_000

// Threads 71, 72, 73 take one lock in turn, each for 10 ms:
//
//	ms        0         10        20        30
//	thread 71 |---has---|
//	thread 72 ..waits...|---has---|
//	thread 73 ......waits.........|---has---|
func three() (*recording.Recording, *timeline.Timeline, []Taken) {
	rec := &recording.Recording{}
	tl := &timeline.Timeline{
		Frames: []recording.Frame{{Type: recording.FrameJVM, Function: "void shop.Ledger.post(int)"}},
		Stacks: []timeline.Stack{{Caller: timeline.None, Frame: 0}},
	}
	for i := range 3 {
		rec.Events = append(rec.Events, recording.Event{Fact: &recording.Thread{ID: recording.ThreadID(i + 1), TID: int64(71 + i)}})
		tl.Strands = append(tl.Strands, timeline.Strand{Thread: recording.ThreadID(i + 1)})
	}
	return rec, tl, []Taken{
		{Lock: "a", ID: 1, Thread: 71, Asked: 0, Had: 0, Left: 10 * milli},
		{Lock: "a", ID: 2, Thread: 72, Asked: 0, Had: 10 * milli, Left: 20 * milli},
		{Lock: "a", ID: 3, Thread: 73, Asked: 5 * milli, Had: 20 * milli, Left: 30 * milli},
		{Lock: "b", ID: 4, Thread: 72, Asked: 40 * milli, Had: 41 * milli, Left: 50 * milli}, // another lock
	}
}

func wait(tl *timeline.Timeline, strand timeline.StrandID, from, to timeline.Time, holds ...timeline.Hold) {
	tl.Strands[strand].Waits = append(tl.Strands[strand].Waits, timeline.WaitID(len(tl.Waits)))
	tl.Waits = append(tl.Waits, timeline.Wait{
		Strand: strand, From: from * milli, To: to * milli, Back: to * milli,
		Cause: timeline.CauseLock, Holds: holds, Request: timeline.None,
	})
}

func TestWaitsAndHoldersAreHeldAgainstTheLog(t *testing.T) {
	rec, tl, taken := three()
	wait(tl, 1, 0, 10, timeline.Hold{Strand: 0, From: 0, To: 10 * milli})
	wait(tl, 2, 6, 20, // begins 1 ms late; the holder is unknown, wrong, early, then right
		timeline.Hold{Strand: 2, From: 7 * milli, To: 8 * milli},
		timeline.Hold{Strand: 1, From: 8 * milli, To: 20 * milli, Basis: timeline.HoldByYield}) // wakers tell nothing of it
	wait(tl, 2, 50, 52) // of which the log knows nothing
	got := CompareLocks(rec, tl, LockQuestion{Cause: timeline.CauseLock, Site: "Ledger.post"}, Truth{Taken: taken, To: 60 * milli})
	want := LockScore{
		Waits: 3, Seen: 2, Within: 1, Truth: 26 * milli, Dwell: 24 * milli,
		Named: 23 * milli, Early: 2 * milli, Held: 21 * milli, Right: 20 * milli, Extra: 1,
		Woken: 11 * milli, Proven: 10 * milli,
	}
	if len(got.Odd) != 4 { // the late wait, the wrong holder, a wait unseen, a wait that nobody logged
		t.Errorf("odd: %q", got.Odd)
	}
	got.Odd = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestASwappedWakerIsAnotherThread(t *testing.T) {
	rec := &recording.Recording{}
	for _, waker := range []recording.ThreadID{3, 5, 9, 3} {
		rec.Events = append(rec.Events, recording.Event{Fact: &recording.Off{Waker: waker, WakerKind: recording.WakerThread}})
	}
	swapWakers(rec, 1)
	var got []recording.ThreadID
	for _, e := range rec.Events {
		got = append(got, e.Fact.(*recording.Off).Waker)
	}
	if diff := cmp.Diff([]recording.ThreadID{5, 9, 3, 5}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPausesAreReadFromTheLogOfTheJVM(t *testing.T) {
	pauses, err := ReadPauses(strings.NewReader(
		`[12161382086856ns] GC(24) Pause Full (Allocation Failure) 72M->47M(92M) 116.493ms
[12161383201981ns] Safepoint "GenCollectForAllocation", Time since last: 277679298 ns, Reaching safepoint: 93559 ns, Cleanup: 10606 ns, At safepoint: 117695435 ns, Total: 117799600 ns
`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]span{{12161383201981 - 117799600, 12161383201981}}, pauses, cmp.AllowUnexported(span{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestStandingStillIsHeldAgainstThePauses(t *testing.T) {
	r := request(0, "5001", 1, 100_000)
	r.FirstRead = 5 * milli
	r.SetSegments([]timeline.Segment{{From: 20 * milli, To: 35 * milli, Cause: timeline.CauseGC}})
	tl := &timeline.Timeline{Requests: []timeline.Request{r}}
	truth := Truth{Client: []load.Entry{entry(0, 5001, 1, 101_000)}, To: 200 * milli}

	pauses := []span{{0, 10 * milli}, {19 * milli, 41 * milli}} // 5 ms of the first lie after the read
	got, _ := ComparePauses(tl, truth, pauses)
	want := Agreement{Cause: timeline.CauseGC, Requests: 1, Truth: 27 * milli, Dwell: 15 * milli}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
