package recording

import (
	"bytes"
	"io"
	"testing"
)

// typicalEvents resembles what a busy server records.
func typicalEvents(n int) []Event {
	events := make([]Event, 0, n)
	now := Time(500_000_000_000_000)
	for i := 0; len(events) < n; i++ {
		thread, conn := ThreadID(1+i%7), ConnID(1+i%60)
		now += Time(3_000 + i%977)
		events = append(events,
			Event{now, &Off{Thread: thread, Since: now - 40_000 - Time(i%333), Woken: now - 7_000, WakerKind: WakerThread, Waker: 3, Syscall: "epoll_wait", Arg: 5}},
			Event{now + 900, &Chunk{Conn: conn, Thread: thread, Offset: int64(i) * 90, Bytes: 90, Arrived: now - 8_000, Last: now - 8_000, First: now + 900}},
			Event{now + 1_000, &HTTPRequest{Conn: conn, Offset: int64(i) * 90, Head: 90, Method: "GET", Route: "/users/{}", Host: "api"}},
			Event{now + 2_500, &Chunk{Conn: conn, Thread: thread, Dir: Write, Offset: int64(i) * 150, Bytes: 150, First: now + 2_500}})
	}
	return events[:n]
}

func BenchmarkWrite(b *testing.B) {
	events := typicalEvents(1 << 16)
	w, err := NewWriter(io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := w.Write(events[i%len(events)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	const n = 1 << 20
	file := encode(b, typicalEvents(n))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(bytes.NewReader(file)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(file))/n, "B/event")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
}
