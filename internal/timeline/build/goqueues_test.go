package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Two requests come 100 us apart, 25 times. The first has its goroutine call at once and
// is answered after 5 ms; that of the second waits where nothing is seen of it, and calls
// right after that. With one connection for both it waited for that. With one of its own,
// which was idle all the time, it waited for something else; and so it did if the one that
// it takes had been free for long. If one in five of those that waited has one of its own,
// what the others waited for may be chance. If two connections were in use before, the pool
// was not full when one was.
func TestGoroutinesThatWaitForAFullPool(t *testing.T) {
	for _, c := range []struct {
		name       string
		own, later int // one in so many second calls has a connection of its own; us after the first was answered
		wide, want bool
	}{
		{"one connection for both", 100, 50, false, true},
		{"one of its own, idle", 1, 50, false, false},
		{"one for both, long free", 100, 40_000, false, false},
		{"one in five has its own", 5, 50, false, false},
		{"one for both of a wider pool", 100, 50, true, false},
	} {
		rec, err := recording.ParseText(strings.NewReader(twoAtOnce(c.own, c.later, c.wide)))
		if err != nil {
			t.Fatal(err)
		}
		tl, err := Recording(rec)
		if err != nil {
			t.Fatal(err)
		}
		queued := 0
		for i := range tl.Calls {
			if k := &tl.Calls[i]; k.Phases[timeline.PhaseQueue] > 0 {
				queued++
				if k.Phases[timeline.PhaseQueue] < 4_700_000 || k.Request == timeline.None || k.Conn != 9 {
					t.Errorf("%s: call %d waits %d us for a connection", c.name, i, k.Phases[timeline.PhaseQueue]/1000)
					continue
				}
				waits := recording.Duration(0)
				for g := tl.Requests[k.Request].Segments(); g.Next(); {
					if g.Phase == timeline.PhaseQueue && g.Cause == timeline.CausePool && g.Call == k.ID {
						waits += g.To.Sub(g.From)
					}
				}
				if late := k.Phases[timeline.PhaseQueue] - waits; late < 0 || late > 100_000 { // it ran before it called
					t.Errorf("%s: call %d waits %d us for a connection, its request %d", c.name, i, k.Phases[timeline.PhaseQueue]/1000, waits/1000)
				}
			}
		}
		if want := map[bool]int{true: 25}[c.want]; queued != want {
			t.Errorf("%s: %d calls waited for a connection, want %d", c.name, queued, want)
		}
	}
}

func twoAtOnce(own, later int, wide bool) string {
	var b strings.Builder
	b.WriteString(`# dwell recording, text form 1
1000000 manifest cpus=2 hooks="sched io sockets arrivals goroutines go-calls go-runs"
1000000 process id=1 pid=100 runtime=go comm=x
1000000 thread id=1 tid=101 process=1
1000000 thread-state thread=1 on=1
1000000 conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1000000 conn id=2 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5001
1000000 conn id=9 side=out process=1 existing=1 local=127.0.0.1:6000 peer=10.0.0.1:8080
1000000 conn id=10 side=out process=1 existing=1 local=127.0.0.1:6001 peer=10.0.0.1:8080
1000000 conn id=11 side=out process=1 existing=1 local=127.0.0.1:6002 peer=10.0.0.1:8080
`)
	sent := map[string]int{} // bytes, by connection and direction
	for i := range 25 {
		conn := 9
		if i%own == own-1 {
			conn = 10
		}
		at := func(us int) int { return 10_000_000 + i*100_000_000 + us*1000 }
		run := func(us, g int) { fmt.Fprintf(&b, "%d go-run thread=1 goroutine=%d\n", at(us), g) }
		moved := func(us, conn, g int, dir string) int {
			way := fmt.Sprint(conn, dir)
			offset := sent[way]
			sent[way] += 40
			fmt.Fprintf(&b, "%d chunk conn=%d thread=1 dir=%s offset=%d bytes=40 goroutine=%d", at(us), conn, dir, offset, g)
			if dir == "read" {
				fmt.Fprintf(&b, " arrived=%d last=%d", at(us-10), at(us-10))
			}
			b.WriteString("\n")
			return offset
		}
		request := func(us, conn, g int, dir string) {
			offset := moved(us, conn, g, dir)
			fmt.Fprintf(&b, "%d http-request conn=%d offset=%d head=40 method=GET route=/a host=x\n", at(us), conn, offset)
		}
		response := func(us, conn, g int, dir string) {
			offset := moved(us, conn, g, dir)
			fmt.Fprintf(&b, "%d http-response conn=%d offset=%d head=30 length=10 status=200\n", at(us), conn, offset)
		}
		if wide && i == 0 {
			request(-5000, 10, 50, "write")
			request(-4990, 11, 51, "write")
			response(-4000, 10, 50, "read")
			response(-3990, 11, 51, "read")
		}
		run(0, 7)
		request(10, 1, 7, "read")
		request(60, 9, 7, "write")
		run(100, 8)
		request(110, 2, 8, "read")
		run(150, 99)
		run(5000, 7)
		response(5010, 9, 7, "read")
		response(5020, 1, 7, "write")
		run(5030, 99)
		run(5030+later, 8)
		request(5040+later, conn, 8, "write")
		run(5060+later, 99)
		run(10_000+later, 8)
		response(10_010+later, conn, 8, "read")
		response(10_020+later, 2, 8, "write")
		run(10_040+later, 99)
	}
	return b.String()
}
