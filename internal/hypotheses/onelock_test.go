package hypotheses

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// threadQueue plays requests on so many threads, all of which wait at one lock at once.
func threadQueue(threads int) *recording.Recording {
	return done(manyBursts(newScenario(recording.RuntimeJVM), 4, threads, locked(cached, func(t *thread) { t.computeIn(400*us, digest) })), 50)
}

// goroutineQueue plays n requests, each on a goroutine of its own. All wait for one mutex, and have it one after the
// other for 10 us.
func goroutineQueue(n int) *recording.Recording {
	s := &scenario{}
	s.add(1000, &recording.Manifest{CPUs: 2, Hooks: "sched stacks parks goroutines io sockets"})
	s.add(1000, &recording.Process{ID: 1, PID: 100, Runtime: recording.RuntimeGo, Comm: "shop"})
	s.add(1000, &recording.Thread{ID: 1, TID: 101, Process: 1})
	s.add(1000, &recording.ThreadState{Thread: 1, On: 1})
	for i, name := range []string{"main.main", "main.(*Cache).Get", "sync.(*Mutex).Lock"} {
		id := recording.FrameID(i + 1)
		s.add(1000, &recording.Frame{ID: id, Type: recording.FrameGo, Function: name, File: "main.go", Line: int64(id)})
		s.add(1000, &recording.Stack{ID: recording.StackID(id), Caller: recording.StackID(i), Frame: id})
	}
	at, began := recording.Time(us), recording.Time(n+1)*us
	chunk := func(at recording.Time, i int, dir recording.Direction, arrived recording.Time) {
		s.add(at, &recording.Chunk{Conn: recording.ConnID(i), Thread: 1, Dir: dir, Bytes: 100, Arrived: arrived, Last: arrived, First: at, Goroutine: recording.GoroutineID(i)})
	}
	for i := 1; i <= n; i++ {
		s.add(at, &recording.Conn{ID: recording.ConnID(i), Process: 1, Peer: "10.0.0.1:1000", Thread: 1})
		chunk(at+100, i, recording.Read, at+50)
		s.add(at+100, &recording.HTTPRequest{Conn: recording.ConnID(i), Head: 100, Method: "GET", Route: "/a"})
		at += us
	}
	for i := 1; i <= n; i++ {
		if i > 1 {
			s.add(at+100, &recording.Park{Thread: 1, Left: 1, Goroutine: recording.GoroutineID(i), Since: began, Reason: recording.ParkMutex, Object: 1000, Word: 1004, Stack: 3})
		}
		s.add(at+5*us, &recording.Unpark{Thread: 1, Goroutine: recording.GoroutineID(i), Word: 1004, Stack: 2})
		chunk(at+6*us, i, recording.Write, recording.NoTime)
		s.add(at+6*us, &recording.HTTPResponse{Conn: recording.ConnID(i), Head: 50, Length: 50, Status: 200})
		at += 10 * us
	}
	s.add(at, &recording.End{})
	return &recording.Recording{Events: s.events}
}

// analysed builds and diagnoses a recording in which all requests wait at one lock.
func analysed(tb testing.TB, rec *recording.Recording) {
	tl, err := build.Recording(rec)
	if err != nil {
		tb.Fatal(err)
	}
	if d := diagnosis.Diagnose(tl, All(), diagnosis.Options{}); len(d.Findings) == 0 || len(tl.Waits) < len(tl.Requests)*9/10 {
		tb.Fatalf("%d findings, %d waits of %d requests", len(d.Findings), len(tl.Waits), len(tl.Requests))
	}
}

// TestManyAtOneLock: if four times as many strands wait at one lock at once, each behind all before it, this takes four
// times as much memory, not sixteen times.
func TestManyAtOneLock(t *testing.T) {
	for name, queue := range map[string]func(int) *recording.Recording{"threads": threadQueue, "goroutines": goroutineQueue} {
		took := func(n int) uint64 {
			rec := queue(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			analysed(t, rec)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := took(500), took(2000); many > 6*few {
			t.Errorf("500 %s take %d bytes, 2,000 take %d", name, few, many)
		}
	}
}

// BenchmarkOneLock analyses more and more strands that wait at one lock at once: the time for one event must not grow
// with their number.
func BenchmarkOneLock(b *testing.B) {
	for name, queue := range map[string]func(int) *recording.Recording{"threads": threadQueue, "goroutines": goroutineQueue} {
		for _, n := range []int{500, 2_000, 8_000} {
			rec := queue(n)
			b.Run(fmt.Sprintf("%d-%s", n, name), func(b *testing.B) {
				for b.Loop() {
					analysed(b, rec)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rec.Events)), "ns/event")
			})
		}
	}
}
