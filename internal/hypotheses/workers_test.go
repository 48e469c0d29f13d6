package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// twoWorkers plays two threads, each of which reads its own connections. Every third time the first has a page to
// render for 30 ms, and a tile is asked for on its other connection meanwhile. The second thread serves something for
// second us; and, computes us after the first began, computes something of its own.
func twoWorkers(second, computes int) *recording.Recording {
	l := goLines{
		`000000001us manifest cpus=2 hooks="sched io sockets arrivals"`,
		`000000001us process id=1 pid=100 comm=tiles`,
		`000000001us thread id=1 tid=101 process=1`, `000000001us thread-state thread=1 on=0 syscall=futex`,
		`000000001us thread id=2 tid=102 process=1`, `000000001us thread-state thread=2 on=0 syscall=futex`,
		`000000001us conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5001`,
		`000000001us conn id=2 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5002`,
		`000000001us conn id=3 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5003`,
	}
	since, served := []int{0, 1, 1}, [4]int{}
	serves := func(thread, conn, arrived, at, takes int, route string) { // from at on
		n := served[conn]
		served[conn]++
		if since[thread] < arrived { // it slept until then
			l.at(at-5, "off thread=%d since=%dus woken=%dus syscall=futex waker-kind=thread", thread, since[thread], arrived+5)
		}
		l.at(at, "chunk conn=%d thread=%d dir=read offset=%d bytes=40 arrived=%dus last=%dus", conn, thread, 40*n, arrived, arrived)
		l.at(at, "http-request conn=%d offset=%d head=40 method=GET route=%s", conn, 40*n, route)
		l.at(at+takes-20, "off thread=%d since=%dus woken=%dus syscall=clock_nanosleep timed=1 waker-kind=interrupt", thread, at+50, at+takes-30)
		l.at(at+takes, "chunk conn=%d thread=%d dir=write offset=%d bytes=60", conn, thread, 60*n)
		l.at(at+takes, "http-response conn=%d offset=%d head=60 status=200", conn, 60*n)
		since[thread] = at + takes + 30
	}
	for i := range requestsPlayed {
		at := (i + 1) * 50_000
		free := at + 5_000
		if i%3 == 0 {
			serves(1, 1, at, at+20, 30_000, "/render")
			free = at + 30_100
		}
		serves(1, 2, at+5_000, free+20, 2_000, "/tile")
		serves(2, 3, at+1_000, at+1_020, second, "/other")
		if computes > 0 {
			l.at(at+computes, "off thread=2 since=%dus woken=%dus syscall=futex waker-kind=thread", since[2], at+computes-5)
			since[2] = at + computes + 200
		}
	}
	return l.recording()
}

// Each connection belongs to one worker. A request to the worker that renders waits, though the other worker has
// nothing to do. If the other worker is busy as well, or computes as the tile is asked for, after 5 ms, the request
// might wait all the same.
func TestRequestsWaitForTheWorkerOfTheirConnection(t *testing.T) {
	for _, x := range []struct {
		second, computes int
		want             bool
	}{{2_000, 0, true}, {40_000, 0, false}, {2_000, 4_900, false}, {2_000, 4_000, true}} {
		tl, err := build.Recording(twoWorkers(x.second, x.computes))
		if err != nil {
			t.Fatal(err)
		}
		d := diagnosis.Diagnose(tl, []diagnosis.Hypothesis{acceptQueue()}, diagnosis.Options{})
		found := len(d.Findings) == 1 && strings.Contains(d.Findings[0].Title, "the one worker that has their connection serves another request") && d.Findings[0].Impact.Endpoint == "GET /tile"
		if found != x.want {
			t.Errorf("%+v: found %v: %+v", x, found, d)
		}
	}
}

// If workers of two processes take from one socket, they are one queue, and requests wait for whichever is free. If
// there are two sockets at one port, each process has its own queue, and a request waits behind it though the other
// process is idle.
func TestWorkersOfProcessesAtOnePort(t *testing.T) {
	for servers, second := range map[int]int{2: 1, 1: 0} {
		s := newScenario(recording.RuntimePython)
		list := []*thread{s.worker(1, 1000*us), s.worker(2, 1000*us)}
		serves := func(w *thread, at recording.Time) {
			w.accept(at - 50*us)
			w.request(at, 10*us, "/prices/{}")
			keptCall(w, 5000*us)
			w.respond()
		}
		for i := range requestsPlayed {
			at := recording.Time(i+1) * 100_000 * us
			for k := range 8 {
				serves(list[second*(k%2)], at)
			}
			serves(list[1], at+60_000*us)
		}
		got := stationsOf(caseOf(t, inProcess(done(s, 20), 2)), kindWorkers)
		if len(got) != 1 || got[0].model.Servers != servers {
			t.Errorf("%d servers, want one of %d workers", len(got), servers)
		}
	}
}
