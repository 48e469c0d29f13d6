package build

import (
	"fmt"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// BenchmarkBuild builds a timeline of 100,000 requests, with one call each.
func BenchmarkBuild(b *testing.B) {
	for name, rec := range map[string]*recording.Recording{"threads": manyRequests(64, 100_000), "loop": manyRequests(1, 100_000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(float64(len(rec.Events)), "events")
			b.ReportAllocs()
			for b.Loop() {
				tl, err := Recording(rec)
				if err != nil || len(tl.Requests) != 100_000 || len(tl.Calls) != 100_000 {
					b.Fatalf("%d requests, %d calls, %v", len(tl.Requests), len(tl.Calls), err)
				}
			}
		})
	}
}

// TestLongQueue builds 20,000 requests that all wait in front of one strand: what it did is not listed again for each
// of them.
func TestLongQueue(t *testing.T) {
	tl, err := Recording(manyRequests(1, 20_000))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range timeline.Validate(tl) {
		t.Error(err)
	}
	most := 0
	for i := range tl.Requests {
		most = max(most, len(tl.Requests[i].SegmentList()))
	}
	if most > 2*64 {
		t.Errorf("a request has %d segments", most)
	}
	last := &tl.Requests[len(tl.Requests)-1]
	if waited := last.FirstRead.Sub(last.Start); waited < last.Duration()/2 {
		t.Errorf("the last request waited only %d of %d ns: there is no queue", waited, last.Duration())
	}
}

// manyRequests is a recording of n requests, which arrive twice as fast as they are served. Each thread serves one
// request after the other; a single thread is a Node loop.
func manyRequests(threads, n int) *recording.Recording {
	rec := &recording.Recording{}
	at := recording.Time(1_000_000)
	add := func(f recording.Fact) { rec.Events = append(rec.Events, recording.Event{Time: at, Fact: f}) }
	add(&recording.Manifest{CPUs: 2})
	add(&recording.Process{ID: 1, PID: 1, Runtime: map[bool]recording.Runtime{true: recording.RuntimeNode, false: recording.RuntimePython}[threads == 1]})
	for i := range threads {
		add(&recording.Thread{ID: recording.ThreadID(i + 1), TID: int64(i + 1), Process: 1})
	}
	const conns = 64
	for i := range conns {
		add(&recording.Conn{ID: recording.ConnID(2*i + 1), Process: 1, Peer: "10.0.0.1:1000"})
		add(&recording.Conn{ID: recording.ConnID(2*i + 2), Process: 1, Side: recording.Outbound, Peer: "10.0.0.2:80", Existing: 1})
	}
	ids := int64(100)
	for i := range n {
		th := recording.ThreadID(i%threads + 1)
		in, out := recording.ConnID(2*(i%conns)+1), recording.ConnID(2*(i%conns)+2)
		turn := int64(i / conns)
		chunk := func(c recording.ConnID, dir recording.Direction, arrived recording.Time) {
			at += 10_000
			ids += 4
			add(&recording.Chunk{Conn: c, Thread: th, Dir: dir, Offset: 100 * turn, Bytes: 100, Arrived: arrived, Last: arrived, First: at, Exec: ids, Trigger: ids - 1, Counter: ids})
		}
		chunk(in, recording.Read, max(1_000_000, at/2))
		add(&recording.HTTPRequest{Conn: in, Offset: 100 * turn, Head: 100, Method: "GET", Route: "/a"})
		chunk(out, recording.Write, recording.NoTime)
		add(&recording.HTTPRequest{Conn: out, Offset: 100 * turn, Head: 100, Method: "GET", Route: "/b"})
		since := at + 2_000
		at += 50_000
		add(&recording.Off{Thread: th, Since: since, Woken: at - 5_000, Syscall: "epoll_pwait"})
		for range 6 { // preempted now and then
			at += 1_000
			add(&recording.Off{Thread: th, Since: at - 500, Woken: at - 500, State: recording.OffPreempted})
		}
		chunk(out, recording.Read, at-8_000)
		add(&recording.HTTPResponse{Conn: out, Offset: 100 * turn, Head: 50, Length: 50, Status: 200})
		chunk(in, recording.Write, recording.NoTime)
		add(&recording.HTTPResponse{Conn: in, Offset: 100 * turn, Head: 50, Length: 50, Status: 200})
	}
	add(&recording.End{})
	return rec
}

// BenchmarkLinear builds timelines of recordings that are each four times as long as the previous one: the time per
// event must not grow with their number.
func BenchmarkLinear(b *testing.B) {
	for _, n := range []int{12_500, 50_000, 200_000} {
		rec := manyRequests(1, n)
		b.Run(fmt.Sprintf("%d-requests", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Recording(rec); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rec.Events)), "ns/event")
		})
	}
}
