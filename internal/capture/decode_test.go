//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// feed passes a structure of abi.h to a decoder, followed by data.
func feed[T any](d *decoder, e T, data ...byte) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&e)), unsafe.Sizeof(e))
	d.sample(append(append([]byte(nil), b...), data...))
}

// head is the head of an event of thread tid, which started at start, in process 100.
func head(kind probesEventType, ts uint64, tid uint32, start uint64) probesHead {
	return probesHead{Ts: ts, Start: start, Tid: tid, Tgid: 100, Type: uint32(kind)}
}

func taskEvent(h probesHead, name string) probesTaskEvent {
	e := probesTaskEvent{H: h, CreatorTid: 100, CreatorTgid: 100, CreatorStart: 1}
	for i := range name {
		e.Comm[i] = int8(name[i])
	}
	return e
}

// watching returns a decoder that knows process 100 and its first thread.
func watching(t *testing.T) *decoder {
	t.Helper()
	d := newDecoder(func(pid int) (target.Process, error) {
		return target.Process{}, fmt.Errorf("%w: %d", target.ErrNoProcess, pid)
	})
	d.at, d.now = 1000, 1000
	d.described(target.Process{PID: 100, Start: 1, Comm: "service"})
	d.adoptTask(&probesTaskRecord{Ts: 1000, Start: 1, Tid: 100, Tgid: 100})
	return d
}

// facts prints what was decoded, in the order of decoding.
func facts(d *decoder) string {
	var lines []string
	for _, e := range d.out {
		lines = append(lines, fmt.Sprintf("%d %s %+v", e.Time, strings.TrimPrefix(fmt.Sprintf("%T", e.Fact), "*recording."), e.Fact))
	}
	return strings.Join(lines, "\n")
}

func kinds(d *decoder) string {
	var names []string
	for _, e := range d.out {
		names = append(names, strings.TrimPrefix(fmt.Sprintf("%T", e.Fact), "*recording."))
	}
	return strings.Join(names, " ")
}

func offOf(d *decoder, ts uint64, tid uint32, start uint64) {
	feed(d, probesOffEvent{H: head(probesEventTypeEVENT_OFF, ts, tid, start), Since: ts - 10, Woken: ts - 5})
}

// A reused number with another start time is another thread.
func TestThreadNumberReused(t *testing.T) {
	d := watching(t)
	for i, start := range []uint64{2000, 3000} {
		feed(d, taskEvent(head(probesEventTypeEVENT_FORK, start, 101, start), "worker"))
		offOf(d, start+100, 101, start)
		feed(d, taskEvent(head(probesEventTypeEVENT_EXIT, start+200, 101, start), "worker"))
		if n := recording.ThreadID(i + 2); d.last.thread != n {
			t.Errorf("the last thread is %d, want %d", d.last.thread, n)
		}
	}
	if want := "Process Thread Thread Off ThreadExit Thread Off ThreadExit"; kinds(d) != want {
		t.Errorf("got  %s\nwant %s\n%s", kinds(d), want, facts(d))
	}
}

// A thread gets the name that it sets right after it starts.
func TestThreadNamesItself(t *testing.T) {
	d := watching(t)
	feed(d, taskEvent(head(probesEventTypeEVENT_FORK, 2000, 101, 2000), "service"))
	feed(d, taskEvent(head(probesEventTypeEVENT_RENAME, 2001, 101, 2000), "pool-1"))
	offOf(d, 2100, 101, 2000)
	if !strings.Contains(facts(d), "2000 Thread &{ID:2 TID:101 Start:2000 Process:1 Creator:1 Name:pool-1 Context:0}") {
		t.Errorf("not declared at its start and by its name:\n%s", facts(d))
	}
}

// Events of a thread that is being taken down by the kernel yield no fact.
func TestLateSwitch(t *testing.T) {
	d := watching(t)
	end := taskEvent(head(probesEventTypeEVENT_EXIT, 2000, 100, 1), "service")
	end.Last = 1
	feed(d, end)
	offOf(d, 2100, 100, 1)
	if want := "Process Thread ThreadExit ProcessExit"; kinds(d) != want {
		t.Errorf("got  %s\nwant %s", kinds(d), want)
	}
	if d.alive() {
		t.Error("the process is alive")
	}
}

// A thread that is not the first one calls exec: it continues as the first thread, whose end has been seen.
func TestExecByAnotherThread(t *testing.T) {
	d := watching(t)
	feed(d, taskEvent(head(probesEventTypeEVENT_FORK, 2000, 101, 2000), "worker"))
	feed(d, taskEvent(head(probesEventTypeEVENT_EXIT, 2100, 100, 1), "service"))
	run := taskEvent(head(probesEventTypeEVENT_EXEC, 2200, 100, 1), "other")
	run.OldTid = 101
	feed(d, run)
	d.described(target.Process{PID: 100, Start: 1, Comm: "other", Exe: "other", Runtime: recording.RuntimeNode, Build: "0a1b", Version: "2.0"})
	offOf(d, 2300, 100, 1)
	if want := "Process Thread ThreadExit Thread ThreadExit Exec Thread Off"; kinds(d) != want {
		t.Errorf("got  %s\nwant %s\n%s", kinds(d), want, facts(d))
	}
	if !strings.Contains(facts(d), "2200 Exec &{Process:1 Comm:other Exe:other Runtime:node Build:0a1b Version:2.0}") {
		t.Errorf("not a new program at the time it began:\n%s", facts(d))
	}
}

// A program may fork right after it begins, as multi-process servers do, before it was described: its child is the
// same program.
func TestForkBeforeTheProgramIsKnown(t *testing.T) {
	d := watching(t)
	feed(d, taskEvent(head(probesEventTypeEVENT_EXEC, 2000, 100, 1), "server"))
	worker := taskEvent(head(probesEventTypeEVENT_FORK, 2100, 200, 2100), "server")
	worker.H.Tgid = 200
	feed(d, worker)
	if got := d.takeExecs(); !slices.Equal(got, []uint32{100, 200}) {
		t.Errorf("to be described: %v", got)
	}
	d.described(target.Process{PID: 100, Start: 1, Comm: "server", Exe: "python3", Runtime: recording.RuntimePython})
	d.described(target.Process{PID: 200, Start: 2100, Comm: "server", Exe: "python3", Runtime: recording.RuntimePython, Version: "2.0"})
	if !strings.Contains(facts(d), "2100 Exec &{Process:2 Comm:server Exe:python3 Runtime:python Build: Version:2.0}") {
		t.Errorf("the worker is not what forked it:\n%s", facts(d))
	}
}

// A head that arrives in two reads belongs to the first.
func TestHeadInTwoReads(t *testing.T) {
	d := watching(t)
	feed(d, probesConnEvent{H: probesHead{Ts: 1500, Type: uint32(probesEventTypeEVENT_CONN)}, Id: 9, Owner: 100,
		Addr: probesAddress{Family: 2, Local: [16]byte{127, 0, 0, 1}, LocalPort: 80, Peer: [16]byte{10, 0, 0, 7}, PeerPort: 5555}})
	if strings.Contains(kinds(d), "Conn") {
		t.Error("declared before anybody used it")
	}
	offset := 0
	for i, part := range []string{"G", "ET /orders HTTP/1.1\r\nHost: shop\r\n\r\n"} {
		ts := uint64(2000 + 100*i)
		feed(d, probesChunkEvent{H: head(probesEventTypeEVENT_CHUNK, ts, 100, 1), Id: 9, Offset: uint64(offset),
			Bytes: uint64(len(part)), Arrived: 1900, Last: 1900, First: ts, DataLen: uint32(len(part))}, []byte(part)...)
		offset += len(part)
	}
	for _, want := range []string{
		"1500 Conn &{ID:1 Side:in Process:1 Thread:0 Goroutine:0 Parent:0 Local:127.0.0.1:80 Peer:10.0.0.7:5555",
		"2000 HTTPRequest &{Conn:1 Offset:0 Head:36 Method:GET Route:/orders Host:shop",
	} {
		if !strings.Contains(facts(d), want) {
			t.Errorf("no %q in\n%s", want, facts(d))
		}
	}
}

// For a connection that was open before, the fact has the kernel's measure of the round-trip time.
func TestWayAndBackOfAConnectionThatWasOpen(t *testing.T) {
	d := watching(t)
	feed(d, probesConnEvent{H: head(probesEventTypeEVENT_CONN, 1500, 100, 1), Id: 9, Existing: 1, Rtt: 250})
	if !strings.Contains(facts(d), "RoundTrip:250000}") {
		t.Errorf("not told:\n%s", facts(d))
	}
}

// An inbound connection that no process reads is declared at the end, as the listener's.
func TestConnectionNeverRead(t *testing.T) {
	d := watching(t)
	feed(d, probesConnEvent{H: probesHead{Ts: 1500, Type: uint32(probesEventTypeEVENT_CONN)}, Id: 9, Owner: 100})
	d.finish()
	if !strings.Contains(facts(d), "1500 Conn &{ID:1 Side:in Process:1") {
		t.Errorf("not declared:\n%s", facts(d))
	}
}

func TestAsyncID(t *testing.T) {
	for v, want := range map[float64]int64{0: 0, 1: 1, 123456: 123456, -1: 0, math.NaN(): 0, math.Inf(1): 0} {
		if got := asyncID(math.Float64bits(v)); got != want {
			t.Errorf("asyncID(%v) = %d, want %d", v, got, want)
		}
	}
}

// The latency of a request extends to the end of its answer, as far as that was written and has left the socket. It
// excludes what is written for the next request, and an alert that closes TLS.
//
//	us  1000 asked   1200 answer begins, 10 bytes of a body of 30
//	    1300 the other 20   41300 they leave   50000 something that is none of it
func TestLiveLatencyIsThatOfTheWholeAnswer(t *testing.T) {
	const us = 1000
	d := watching(t)
	feed(d, probesConnEvent{H: probesHead{Ts: 900 * us, Type: uint32(probesEventTypeEVENT_CONN)}, Id: 9, Owner: 100})
	passes := func(at uint64, dir uint32, offset int, data string) {
		feed(d, probesChunkEvent{H: head(probesEventTypeEVENT_CHUNK, at*us, 100, 1), Id: 9, Offset: uint64(offset), Dir: dir,
			Bytes: uint64(len(data)), First: at * us, Arrived: at * us, Last: at * us, DataLen: uint32(len(data))}, []byte(data)...)
	}
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n"
	took := func() int64 { return d.live.quantile(50).Microseconds() }
	passes(1000, 0, 0, "GET / HTTP/1.1\r\n\r\n")
	for _, step := range []struct {
		what      string
		does      func()
		low, high int64 // the estimate is off by at most 3 %
	}{
		{"the answer begins", func() { passes(1200, 1, 0, answer+"0123456789") }, 194, 206},
		{"its end is written", func() { passes(1300, 1, len(answer)+10, "01234567890123456789") }, 291, 309},
		{"its end leaves", func() {
			feed(d, probesLateEvent{H: head(probesEventTypeEVENT_LATE, 41_500*us, 100, 1), Id: 9, Offset: uint64(len(answer) + 30), Left: 41_300 * us})
		}, 39_100, 41_500},
		{"something else is written", func() { passes(50_000, 1, len(answer)+30, "?") }, 39_100, 41_500},
	} {
		if step.does(); took() < step.low || took() > step.high {
			t.Errorf("%s: the request takes %d us, want %d to %d", step.what, took(), step.low, step.high)
		}
	}
}

// The number of distinct reasons is bounded, however many names a target uses for what it hides, and all are counted.
func TestReasonsAreBounded(t *testing.T) {
	d := watching(t)
	for i := range 3 * maxNoted {
		d.note([]recording.Missing{missingFact("runtimes", fmt.Sprint(i))})
	}
	var count int64
	for _, m := range d.noted {
		count += m.Count
	}
	if len(d.noted) > maxNoted+1 || count != 3*maxNoted {
		t.Errorf("%d reasons are kept, and %d counted", len(d.noted), count)
	}
}
