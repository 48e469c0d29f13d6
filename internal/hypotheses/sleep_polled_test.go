package hypotheses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// Each request has a thread of a pool make a call of 6 ms, and looks after 20 ms whether that is done. Without the
// pause it would still wait for the call, and for the 8 ms in all that the thread works for it. If the call goes on for
// longer than the pause, or another thread makes it, all of the pause may go.
func TestASleepWhileOthersMakeACallIsAPoll(t *testing.T) {
	for _, x := range []struct {
		name        string
		by          int // which thread lets the one go on that makes the call
		answered    int // ms after it
		least, most diagnosis.Duration
		waits       bool
	}{
		{"polls", 1, 7, 12_200_000, 20 * 1_000_000, true},
		{"a call that others want", 3, 7, 20 * 1_000_000, 20 * 1_000_000, false},
		{"a call that has no answer yet", 1, 40, 20 * 1_000_000, 20 * 1_000_000, false},
	} {
		text := `
1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=jvm comm=shop
1ms thread id=1 tid=101 process=1
1ms thread id=2 tid=102 process=1
1ms thread id=3 tid=103 process=1
1ms thread-state thread=1 on=1
1ms thread-state thread=2 state=sleep syscall=futex
1ms thread-state thread=3 state=sleep syscall=futex
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=out process=1 existing=1 local=10.0.0.1:6000 peer=10.0.0.2:80
`
		say := func(ms int, format string, args ...any) {
			text += fmt.Sprintf("%dms ", ms) + fmt.Sprintf(format, args...) + "\n"
		}
		rested, idle := 1, 1
		for i := range 40 {
			at, n := 100*(i+1), 40*i
			after := func() {
				say(at+1+x.answered, "off thread=2 since=%dms woken=%dms syscall=read waker-kind=interrupt", at+2, at+1+x.answered)
				say(at+1+x.answered, "chunk conn=2 thread=2 dir=read offset=%d bytes=40 arrived=%dms last=%dms", n, at+1+x.answered, at+1+x.answered)
				say(at+1+x.answered, "http-response conn=2 offset=%d head=40 status=200", n)
			}
			say(at, "off thread=1 since=%dms woken=%dms syscall=read waker-kind=interrupt", rested, at)
			say(at, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dms last=%dms", n, at, at)
			say(at, "http-request conn=1 offset=%d head=40 method=GET route=/a", n)
			say(at+1, "off thread=2 since=%dms woken=%dms syscall=futex waker-kind=thread waker=%d release=1", idle, at+1, x.by)
			say(at+1, "chunk conn=2 thread=2 dir=write offset=%d bytes=40", n)
			say(at+1, "http-request conn=2 offset=%d head=40 method=GET route=/stock", n)
			if x.answered < 20 {
				after()
			}
			say(at+21, "off thread=1 since=%dms woken=%dms syscall=clock_nanosleep waker-kind=interrupt timed=1", at+1, at+21)
			say(at+22, "chunk conn=1 thread=1 dir=write offset=%d bytes=40", n)
			say(at+22, "http-response conn=1 offset=%d head=40 status=200", n)
			if x.answered > 20 {
				after()
			}
			rested, idle = at+23, at+2+x.answered
		}
		d := diagnosis.Diagnose(built(t, text+"5000ms end reason=time\n"), []diagnosis.Hypothesis{sleepRetry()}, diagnosis.Options{})
		if len(d.Findings) != 1 {
			t.Errorf("%s: found %+v, leads %+v", x.name, d.Findings, d.Leads)
			continue
		}
		f := &d.Findings[0]
		if im := f.Impact; im.Mean != x.least || im.MeanRange.High != x.most || strings.Contains(f.Title, "other threads make calls to 10.0.0.2:80 meanwhile") != x.waits {
			t.Errorf("%s: saves %v, at most %v, want %v and %v: %s", x.name, im.Mean, im.MeanRange.High, x.least, x.most, f.Title)
		}
	}
}

// If its place in the code is not known, a pause is identified by the calls around it: a call that is made again after
// it is a poll.
func TestAPauseIsToldByTheCallsAroundIt(t *testing.T) {
	for again, want := range map[bool]string{
		true:  ", each time between GET /track to 10.0.0.2:80 and a repeat of that call",
		false: ", after GET /track to 10.0.0.2:80",
	} {
		text := `
1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=jvm comm=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=out process=1 existing=1 local=10.0.0.1:6000 peer=10.0.0.2:80
`
		say := func(ms int, format string, args ...any) {
			text += fmt.Sprintf("%dms ", ms) + fmt.Sprintf(format, args...) + "\n"
		}
		rested, calls := 1, 0
		ask := func(at int) {
			say(at, "chunk conn=2 thread=1 dir=write offset=%d bytes=40", 40*calls)
			say(at, "http-request conn=2 offset=%d head=40 method=GET route=/track", 40*calls)
			say(at+2, "off thread=1 since=%dms woken=%dms syscall=read waker-kind=interrupt", at, at+2)
			say(at+2, "chunk conn=2 thread=1 dir=read offset=%d bytes=40 arrived=%dms last=%dms", 40*calls, at+2, at+2)
			say(at+2, "http-response conn=2 offset=%d head=40 status=200", 40*calls)
			calls++
		}
		for i := range 40 {
			at := 100 * (i + 1)
			say(at, "off thread=1 since=%dms woken=%dms syscall=read waker-kind=interrupt", rested, at)
			say(at, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dms last=%dms", 40*i, at, at)
			say(at, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
			ask(at + 1)
			say(at+25, "off thread=1 since=%dms woken=%dms syscall=clock_nanosleep waker-kind=interrupt timed=1", at+5, at+25)
			if again {
				ask(at + 26)
			}
			say(at+30, "chunk conn=1 thread=1 dir=write offset=%d bytes=40", 40*i)
			say(at+30, "http-response conn=1 offset=%d head=40 status=200", 40*i)
			rested = at + 31
		}
		d := diagnosis.Diagnose(built(t, text+"5000ms end reason=time\n"), []diagnosis.Hypothesis{sleepRetry()}, diagnosis.Options{})
		if len(d.Findings) != 1 || !strings.HasSuffix(d.Findings[0].Title, want) {
			t.Errorf("found %+v, want %q", d.Findings, want)
		}
	}
}

// Each request has another thread compute for 6 ms, and no fact shows for whom. It looks after 20 ms whether that is
// done: without the pause it would still wait for it. The work for the next request waits behind that; this request
// comes 2 ms later, on a thread of its own. What a thread does that no request lets go on is not waited for.
func TestASleepWhileAHelperWorksIsAPoll(t *testing.T) {
	for _, x := range []struct {
		name        string
		by          int // which thread lets it go on
		least, most diagnosis.Duration
	}{
		{"polls", 1, 12_225_000, 20 * 1_000_000},
		{"work that others want", 4, 20 * 1_000_000, 20 * 1_000_000},
	} {
		text := `
1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=python comm=shop
1ms thread id=1 tid=101 process=1
1ms thread id=2 tid=102 process=1
1ms thread id=3 tid=103 process=1
1ms thread id=4 tid=104 process=1
1ms thread-state thread=1 on=1
1ms thread-state thread=2 on=1
1ms thread-state thread=3 state=sleep syscall=futex
1ms thread-state thread=4 state=sleep syscall=futex
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5001
`
		say := func(ms int, format string, args ...any) {
			text += fmt.Sprintf("%dms ", ms) + fmt.Sprintf(format, args...) + "\n"
		}
		rested, idle := [3]int{1: 1, 2: 1}, 1
		for i := range 40 {
			at, n := 100*(i+1), 40*i
			begin := func(thread, at int) {
				say(at, "off thread=%d since=%dms woken=%dms syscall=read waker-kind=interrupt", thread, rested[thread], at)
				say(at, "chunk conn=%d thread=%d dir=read offset=%d bytes=40 arrived=%dms last=%dms", thread, thread, n, at, at)
				say(at, "http-request conn=%d offset=%d head=40 method=GET route=/a", thread, n)
				rested[thread] = at + 24
			}
			end := func(thread, at int) {
				say(at+21, "off thread=%d since=%dms woken=%dms syscall=clock_nanosleep waker-kind=interrupt timed=1", thread, at+1, at+21)
				say(at+22, "chunk conn=%d thread=%d dir=write offset=%d bytes=40", thread, thread, n)
				say(at+22, "http-response conn=%d offset=%d head=40 status=200", thread, n)
			}
			begin(1, at)
			say(at+1, "off thread=3 since=%dms woken=%dms syscall=futex waker-kind=thread waker=%d release=1", idle, at+1, x.by)
			begin(2, at+2)
			idle = at + 13 // 6 ms for each of the two
			end(1, at)
			end(2, at+2)
		}
		d := diagnosis.Diagnose(built(t, text+"5000ms end reason=time\n"), []diagnosis.Hypothesis{sleepRetry()}, diagnosis.Options{})
		if len(d.Findings) != 1 {
			t.Errorf("%s: found %+v, leads %+v", x.name, d.Findings, d.Leads)
			continue
		}
		f := &d.Findings[0]
		if im := f.Impact; im.Mean != x.least || im.MeanRange.High != x.most || strings.Contains(f.Title, "threads or processes that serve no request work meanwhile") != (x.least < x.most) {
			t.Errorf("%s: saves %v, at most %v, want %v and %v: %s", x.name, im.Mean, im.MeanRange.High, x.least, x.most, f.Title)
		}
	}
}
