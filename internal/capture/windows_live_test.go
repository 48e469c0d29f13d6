//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
)

// Four clients send requests without a pause while recording rests for 0.3 s after each second:
//
//	recording  |------ window ------|  gap  |------ window ------|  gap  |--
//	requests   = = = = = = = = = = = = = = = = = = = = = = = = = = = = = = =
//
// Activity in a window is recorded, activity in a gap is not, and a connection from before a gap is recognised after
// it.
func TestLiveRecorderRests(t *testing.T) {
	const port = 21094
	server := start(t, port, python(t), "testdata/server.py", "threaded", fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{}, func(s *Session) {
		s.resting = func(stretch) (rest, window time.Duration) { return 300 * time.Millisecond, tickEvery }
	})
	var asked []exchanged
	var mu sync.Mutex
	var clients sync.WaitGroup
	end := time.Now().Add(3500 * time.Millisecond)
	for range 4 {
		clients.Go(func() {
			c, err := net.Dial("tcp", localhost(port))
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for time.Now().Before(end) {
				var x exchanged
				get(t, c, "/orders/list", &x.from)
				x.to = clock()
				mu.Lock()
				asked = append(asked, x)
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	rec := l.stop()

	begin, windows := rec.Events[0].Time, 0
	for _, e := range rec.Events {
		to := e.Time
		if gap, ok := e.Fact.(*recording.Gap); ok {
			to = gap.From
			checkRested(t, rec, to, e.Time)
		} else if _, end := e.Fact.(*recording.End); !end {
			continue
		}
		if to > begin { // a gap may be reported in pieces
			checkWindow(t, rec, asked, exchanged{begin, to})
			windows++
		}
		begin = e.Time
	}
	if windows < 3 {
		t.Errorf("%d windows in 3.5 s", windows)
	}
	before := map[recording.ConnID]string{}
	known := 0
	for _, c := range all[*recording.Conn](rec) {
		if c.Before != recording.NoConn && before[c.Before] == c.Peer {
			known++
		}
		before[c.ID] = c.Peer
	}
	if known < 4 {
		t.Errorf("%d connections are known after a gap, want all 4", known)
	}
}

// A recording that ends during a rest ends with its gap.
func TestLiveRecorderEndsInARest(t *testing.T) {
	const port = 21095
	server := start(t, port, python(t), "testdata/server.py", "threaded", fmt.Sprint(port))
	rests := make(chan bool, 1)
	l := record(t, server.Process.Pid, Options{}, func(s *Session) {
		s.resting = func(stretch) (rest, window time.Duration) {
			rests <- true
			return time.Minute, tickEvery
		}
	})
	<-rests
	rec := l.stop()
	gaps := all[*recording.Gap](rec)
	end := rec.Events[len(rec.Events)-1]
	last := rec.Events[len(rec.Events)-2]
	if _, ok := end.Fact.(*recording.End); !ok || len(gaps) == 0 {
		t.Fatalf("%d gaps, and it ends with %+v", len(gaps), end.Fact)
	}
	if _, ok := last.Fact.(*recording.Gap); !ok || last.Time != end.Time {
		t.Errorf("before its end at %d there is %+v at %d, want a gap until then", end.Time, last.Fact, last.Time)
	}
}

// exchanged is when a client had sent a request and when it had its answer.
type exchanged struct{ from, to recording.Time }

// checkWindow checks that every answer in a window was recorded.
func checkWindow(t *testing.T, rec *recording.Recording, asked []exchanged, w exchanged) {
	t.Helper()
	const edge = recording.Time(20 * time.Millisecond)
	inside, touching, answers := 0, 0, 0
	for _, x := range asked {
		if x.from > w.from+edge && x.to < w.to-edge {
			inside++
		}
		if x.to >= w.from && x.from <= w.to {
			touching++
		}
	}
	for _, e := range rec.Events {
		if _, ok := e.Fact.(*recording.HTTPResponse); ok && e.Time >= w.from && e.Time <= w.to {
			answers++
		}
	}
	if answers < inside || answers > touching {
		t.Errorf("window %d to %d: %d answers recorded, the clients had %d inside and %d that touch it", w.from, w.to, answers, inside, touching)
	}
}

// checkRested checks that nothing about threads and connections is recorded in a gap.
func checkRested(t *testing.T, rec *recording.Recording, from, to recording.Time) {
	t.Helper()
	for _, e := range rec.Events {
		switch e.Fact.(type) {
		case *recording.Chunk, *recording.Off, *recording.HTTPRequest, *recording.HTTPResponse:
			if e.Time > from && e.Time < to {
				t.Errorf("in the gap from %d to %d: %+v at %d", from, to, e.Fact, e.Time)
				return
			}
		}
	}
}
