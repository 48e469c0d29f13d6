package build

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// The invariants of waits must hold whatever threads did: with stacks that contradict each other, wakers that held
// nothing, and spans that overlap.
func TestAnyWaitsAreValid(t *testing.T) {
	locks, holds := 0, 0
	for seed := range uint64(300) {
		rec := lockSoup(rand.New(rand.NewPCG(seed, 3)))
		tl, err := Recording(rec)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range timeline.Validate(tl) {
			t.Errorf("seed %d: %v", seed, err)
		}
		for id := range tl.Locks {
			told := recording.Time(0)
			for _, h := range tl.Tenures(timeline.LockID(id)) {
				if h.From < told || h.From >= h.To {
					t.Errorf("seed %d: lock %d: tenure [%d, %d) overlaps or is empty", seed, id, h.From, h.To)
				}
				told = h.To
				holds++
			}
		}
		locks += len(tl.Locks)
		if again, _ := Recording(rec); !reflect.DeepEqual(tl, again) {
			t.Errorf("seed %d: built twice, the timelines differ", seed)
		}
	}
	if locks < 1000 || holds < 2000 {
		t.Errorf("%d locks with %d holds: the soup is too thin", locks, holds)
	}
}

// lockSoup makes waits of some threads at a few places, released by any of them.
func lockSoup(r *rand.Rand) *recording.Recording {
	rec := &recording.Recording{}
	now := recording.Time(1_000_000)
	add := func(f recording.Fact) { rec.Events = append(rec.Events, recording.Event{Time: now, Fact: f}) }
	runtime := []recording.Runtime{recording.RuntimeJVM, recording.RuntimePython, recording.RuntimeNative}[r.IntN(3)]
	add(&recording.Manifest{CPUs: 2, Hooks: "sched stacks io"})
	add(&recording.Process{ID: 1, PID: 1, Runtime: runtime})
	const threads = 6
	for i := range threads {
		add(&recording.Thread{ID: recording.ThreadID(i + 1), TID: int64(i + 1), Process: 1, Name: []string{"w", "VM Thread", "GC Thread#0"}[max(0, i-3)]})
	}
	leaves := []string{"_complete_monitor_locking_Java", "java.util.concurrent.Semaphore.acquire", "java.lang.Object.wait", "java.util.concurrent.ThreadPoolExecutor.getTask"}
	for i, leaf := range leaves {
		add(&recording.Frame{ID: recording.FrameID(i + 1), Type: recording.FrameJVM, Function: leaf})
	}
	add(&recording.Frame{ID: 8, Type: recording.FrameNative, Function: "pthread_mutex_lock", Module: "libc.so.6"})
	for i := range recording.StackID(4) {
		add(&recording.Frame{ID: recording.FrameID(20 + i), Type: recording.FrameJVM, Function: []string{"a.B.c", "a.B.d", "a.E.f", "a.E.g"}[i]})
		add(&recording.Stack{ID: i + 1, Frame: recording.FrameID(20 + i)})
	}
	for i := range recording.StackID(12) {
		add(&recording.Stack{ID: 10 + i, Frame: recording.FrameID([]int{1, 2, 3, 4, 8}[r.IntN(5)]), Caller: 1 + i%4})
	}
	last := map[recording.ThreadID]recording.Time{}
	for range 20 + r.IntN(200) {
		now += recording.Time(r.IntN(300_000))
		th := recording.ThreadID(1 + r.IntN(threads))
		since := max(last[th], now-recording.Time(r.IntN(3_000_000)))
		woken := since + recording.Time(r.Int64N(int64(now-since)+1))
		if r.IntN(2) == 0 {
			rec.Events = append(rec.Events, recording.Event{Time: since, Fact: &recording.StackAt{Thread: th, Stack: recording.StackID(10 + r.IntN(12)), Origin: recording.StackBlocked}})
		}
		add(&recording.Off{
			Thread: th, Since: since, Woken: woken, Syscall: []string{"futex", "futex", "futex", "read", "", "nanosleep"}[r.IntN(6)],
			Arg: int64(64 * r.IntN(3)), SP: int64(r.IntN(3)), Timed: int64(r.IntN(2)), WakerKind: recording.WakerKind(r.IntN(4)),
			Waker: recording.ThreadID(r.IntN(threads + 2)), Release: int64(r.IntN(4)+2) / 3, Owner: recording.ThreadID(max(0, r.IntN(20)-12)),
		})
		last[th] = now
	}
	add(&recording.End{})
	rec.Events = lists.ByTime(rec.Events, func(e *recording.Event) recording.Time { return e.Time })
	return rec
}
