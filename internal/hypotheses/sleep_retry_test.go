package hypotheses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// A request that races its call against a timer sleeps until the timer fires, and does not poll.
func TestSleepWhileACallHasNoAnswer(t *testing.T) {
	text := `
1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=node comm=shop
1ms thread id=1 tid=100 process=1
1ms thread-state thread=1 state=sleep syscall=epoll_pwait
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=out process=1 existing=1 local=10.0.0.1:6000 peer=10.0.0.2:80
`
	for i := range 30 {
		at, ids, slow := 1000*(i+1), 100*(i+1), i%3 == 2
		say := func(ms int, format string, args ...any) {
			text += fmt.Sprintf("%dms ", at+ms) + fmt.Sprintf(format, args...) + "\n"
		}
		say(10, "off thread=1 since=%dms woken=%dms syscall=epoll_pwait waker-kind=interrupt counter=%d", at-480, at+10, ids)
		say(10, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dms last=%dms counter=%d", 40*i, at+10, at+10, ids)
		say(10, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
		say(11, "chunk conn=2 thread=1 dir=write offset=%d bytes=40 exec=%d trigger=%d counter=%d", 40*i, ids+2, ids+1, ids+4)
		say(11, "http-request conn=2 offset=%d head=40 method=GET route=/stock", 40*i)
		answer := func(ms int) {
			say(ms, "off thread=1 since=%dms woken=%dms syscall=epoll_pwait waker-kind=interrupt counter=%d", at+ms-3, at+ms, ids+20)
			say(ms, "chunk conn=2 thread=1 dir=read offset=%d bytes=40 arrived=%dms last=%dms counter=%d", 40*i, at+ms, at+ms, ids+20)
			say(ms, "http-response conn=2 offset=%d head=40 status=200", 40*i)
		}
		respond := func(ms int) {
			say(ms, "chunk conn=1 thread=1 dir=write offset=%d bytes=40 counter=%d", 40*i, ids+24)
			say(ms, "http-response conn=1 offset=%d head=40 status=200", 40*i)
		}
		if slow {
			say(212, "off thread=1 since=%dms woken=%dms syscall=epoll_pwait waker-kind=interrupt timed=1 counter=%d", at+12, at+212, ids+10)
			respond(213)
			answer(400)
		} else {
			answer(15)
			respond(16)
		}
	}
	text += "40000ms end reason=time\n"
	d := diagnosis.Diagnose(built(t, text), []diagnosis.Hypothesis{sleepRetry()}, diagnosis.Options{})
	if len(d.Findings) != 1 || !strings.HasSuffix(d.Findings[0].Title, "while their calls to 10.0.0.2:80 have no answer") {
		t.Errorf("found %+v", d.Findings)
	}
}

// One request in ten belongs to an endpoint that sleeps: the mean in the report is over the requests of that endpoint,
// not over all.
func TestMeansAreOfTheEndpointConcerned(t *testing.T) {
	s := newScenario(recording.RuntimePython)
	w := s.worker(1, 1000*us)
	for i := range 300 {
		route, slow := "/prices/{}", i%10 == 0
		if slow {
			route = "/jobs/{}"
		}
		w.request(recording.Time(i+1)*20_000*us, 10*us, route)
		w.compute(480 * us)
		if slow {
			w.sleep(w.at+9500*us, 10*us, "clock_nanosleep")
		}
		w.respond()
	}
	tl, err := build.Recording(done(s, 30))
	if err != nil {
		t.Fatal(err)
	}
	d := diagnosis.Diagnose(tl, []diagnosis.Hypothesis{sleepRetry()}, diagnosis.Options{})
	const want = "Requests sleep until a timer: 9.50 ms on average in GET /jobs/{} (95 % of its time)"
	if len(d.Findings) != 1 || d.Findings[0].Title != want {
		t.Fatalf("found %+v, want %q", d.Findings, want)
	}
	for _, e := range d.Findings[0].Evidence {
		if e.What == "mean per request of GET /jobs/{}" && e.Value == 9_500_000 {
			return
		}
	}
	t.Errorf("no evidence of the mean: %+v", d.Findings[0].Evidence)
}

// A request makes its call only once a timer of its own has fired: until then it slept, and did not wait for a
// connection. Another request that comes meanwhile, and is answered in the turn of that call's answer, waited for that
// timer as well.
func TestSleepBeforeATimersCallSends(t *testing.T) {
	for joins, want := range map[bool]diagnosis.Duration{false: 10_010_000, true: (10_010_000 + 5_010_000) / 2} {
		text := `
1ms manifest cpus=2 hooks="sched io sockets arrivals async boundaries"
1ms process id=1 pid=100 runtime=node comm=shop
1ms thread id=1 tid=100 process=1
1ms thread-state thread=1 state=sleep syscall=epoll_pwait
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=out process=1 existing=1 local=10.0.0.1:6000 peer=10.0.0.2:80
1ms conn id=3 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5001
`
		for i := range 40 {
			at, ids := 100_000*(i+1), 100*(i+1) // us
			say := func(us int, format string, args ...any) {
				text += fmt.Sprintf("%dus ", at+us) + fmt.Sprintf(format, args...) + "\n"
			}
			off := func(since, woken, counter int) {
				say(woken, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt timed=1 counter=%d", at+since, at+woken, counter)
			}
			begin := func(conn, us, ids int) {
				say(us+10, "chunk conn=%d thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus counter=%d", conn, 40*i, at+us, at+us, ids)
				say(us+10, "http-request conn=%d offset=%d head=40 method=GET route=/a", conn, 40*i)
			}
			off(-75_900, 10_000, ids)
			begin(1, 10_000, ids)
			if since := 10_100; joins {
				off(since, 15_000, ids+4)
				begin(3, 15_000, ids+4)
				off(since+5000, 20_100, ids+5)
			} else {
				off(since, 20_100, ids+4) // the timer has the id ids+2
			}
			say(20_110, "boundary thread=1 counter=%d what=timers", ids+5)
			say(20_120, "chunk conn=2 thread=1 dir=write offset=%d bytes=40 exec=%d trigger=%d counter=%d", 40*i, ids+6, ids+2, ids+7)
			say(20_120, "http-request conn=2 offset=%d head=40 method=GET route=/stock", 40*i)
			off(20_200, 24_000, ids+8)
			say(24_010, "chunk conn=2 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus counter=%d", 40*i, at+24_000, at+24_000, ids+8)
			say(24_010, "http-response conn=2 offset=%d head=40 status=200", 40*i)
			say(24_020, "chunk conn=1 thread=1 dir=write offset=%d bytes=40 exec=%d counter=%d", 40*i, ids+9, ids+10)
			say(24_020, "http-response conn=1 offset=%d head=40 status=200", 40*i)
			if joins {
				say(24_030, "chunk conn=3 thread=1 dir=write offset=%d bytes=40 exec=%d counter=%d", 40*i, ids+9, ids+10)
				say(24_030, "http-response conn=3 offset=%d head=40 status=200", 40*i)
			}
		}
		text += "5000ms end reason=time\n"
		d := diagnosis.Diagnose(built(t, text), []diagnosis.Hypothesis{sleepRetry()}, diagnosis.Options{})
		if len(d.Findings) != 1 || d.Findings[0].Impact.Mean != want {
			t.Errorf("joins %v: found %+v, want a sleep of %v", joins, d.Findings, want)
		}
	}
}

// A request waits for another thread, for 10 ms at most, and then looks what there is; twice in each request. No thread
// wakes it, or, in the healthy service, one does the second time: then it waits for that one.
func TestWaitsThatLapse(t *testing.T) {
	for _, woken := range []bool{false, true} {
		var text strings.Builder
		text.WriteString(`
1ms manifest cpus=2 hooks="sched io sockets arrivals stacks"
1ms process id=1 pid=100 runtime=python comm=shop
1ms thread id=1 tid=101 process=1
1ms thread id=2 tid=102 process=1
1ms thread-state thread=1 state=sleep syscall=recvfrom
1ms thread-state thread=2 on=1
1ms frame id=1 type=python function=result file=/srv/app.py line=7
1ms frame id=2 type=python function=Condition.wait file=/usr/lib/python3.11/threading.py
1ms stack id=1 frame=1
1ms stack id=2 caller=1 frame=2
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
`)
		for i := range 40 {
			at := 100_000 * (i + 1) // us
			say := func(us int, format string, args ...any) {
				fmt.Fprintf(&text, "%dus %s\n", at+us, fmt.Sprintf(format, args...))
			}
			wait := func(from, to int, by string) {
				say(from, "stack-at thread=1 stack=2 origin=blocked")
				say(to, "off thread=1 since=%dus woken=%dus syscall=futex arg=4000 timed=1 sp=800 %s", at+from, at+to, by)
			}
			say(10_010, "off thread=1 since=%dus woken=%dus syscall=recvfrom waker-kind=other sp=900", at-69_000, at+10_000)
			say(10_020, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus", 40*i, at+10_000, at+10_000)
			say(10_020, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
			wait(10_100, 20_100, "waker-kind=interrupt")
			by := "waker-kind=interrupt"
			if woken {
				by = "waker-kind=thread waker=2 release=1"
			}
			wait(20_150, 30_150, by)
			say(30_200, "chunk conn=1 thread=1 dir=write offset=%d bytes=40", 40*i)
			say(30_200, "http-response conn=1 offset=%d head=40 status=200", 40*i)
		}
		text.WriteString("5000ms end reason=time\n")
		d := diagnosis.Diagnose(built(t, text.String()), []diagnosis.Hypothesis{sleepRetry()}, diagnosis.Options{})
		if len(d.Findings) != 1 != woken {
			t.Fatalf("woken %t: found %+v", woken, d.Findings)
		}
		const want = "Requests sleep until a timer: 20.0 ms on average (99 % of all request time), in waits for another thread that all end by time-out, mostly in app.result (app.py:7)"
		if !woken && d.Findings[0].Title != want {
			t.Errorf("%s, want %s", d.Findings[0].Title, want)
		}
	}
}

// A limiter that makes requests wait is known by its name, and SQLite's busy handler by what it lies beneath.
func TestWhatSleepsAreKnownBy(t *testing.T) {
	for name, want := range map[string]string{
		"rate.(*Limiter).wait":                                  ", because a rate limiter makes them wait",
		"AtomicRateLimiter.waitForPermissionIfNecessary":        ", because a rate limiter makes them wait",
		"DelimiterReader.next":                                  "",
		"sqlite3._Cfunc__sqlite3_step_row_internal":             ", because another connection has the SQLite database locked",
		"lib.Xsqlite3_step":                                     ", because another connection has the SQLite database locked",
		"AbstractQueuedSynchronizer$ConditionObject.awaitUntil": "",
	} {
		got := ""
		for _, k := range sleepKinds() {
			if k.is(name, recording.Frame{Type: recording.FrameGo, Function: name}, true) {
				got = k.why
				break
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A goroutine waits on a channel until another one has done what it asked for. A timer started that other one only when
// half of the wait was over. Until then the goroutine waits for the timer, whatever the wait itself is called.
func TestAWaitForWhatATimerStarts(t *testing.T) {
	const waiter, other = timeline.StrandID(0), timeline.StrandID(1)
	for _, timed := range []bool{true, false} {
		off := &timeline.Off{}
		tl := &timeline.Timeline{
			Strands: []timeline.Strand{{Waits: []timeline.WaitID{0}}, {}},
			Waits:   []timeline.Wait{{Strand: waiter, Cause: timeline.CauseCondition, From: 10, To: 110, Back: 110, Off: off}},
		}
		if tl.Goroutines.SetEnds(tl, map[*timeline.Off]timeline.StrandID{off: other}); timed {
			tl.Goroutines.Timed = map[timeline.StrandID]timeline.Time{other: 60}
		}
		s := &spent{stays: []stay{{diagnosis.Span{Request: 0, From: 10, To: 60}, waiter, timeline.None}}, total: 50}
		if got := s.started(&diagnosis.Case{Timeline: tl}); got != timed {
			t.Errorf("started by a timer %t: told %t", timed, got)
		}
	}
}
