package hypotheses

import (
	"fmt"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
)

// A loop serves other requests while a program runs for one: no thread sleeps for that program.
func TestProgramsThatRequestsOfALoopStart(t *testing.T) {
	text := `
1ms manifest cpus=2 hooks="sched io sockets arrivals processes stacks"
1ms process id=1 pid=100 runtime=node comm=shop
1ms thread id=1 tid=100 process=1
1ms thread-state thread=1 state=sleep syscall=epoll_pwait
1ms frame id=1 function=uv__io_poll module=node
1ms stack id=1 frame=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
`
	for i := range 30 {
		at, child := 1000*(i+1), i+2
		say := func(ms int, format string, args ...any) {
			text += fmt.Sprintf("%dms ", at+ms) + fmt.Sprintf(format, args...) + "\n"
		}
		say(10, "off thread=1 since=%dms woken=%dms syscall=epoll_pwait waker-kind=interrupt", at-900, at+10)
		say(10, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dms last=%dms", 40*i, at+10, at+10)
		say(10, "http-request conn=1 offset=%d head=40 method=GET route=/thumb", 40*i)
		say(11, "process id=%d pid=%d start=%dms parent=1 comm=convert", child, 200+i, at+11)
		say(11, "thread id=%d tid=%d start=%dms process=%d creator=1", child, 200+i, at+11, child)
		say(12, "stack-at thread=1 stack=1 origin=blocked")
		say(60, "thread-exit thread=%d", child)
		say(60, "process-exit process=%d", child)
		say(61, "off thread=1 since=%dms woken=%dms syscall=epoll_pwait waker-kind=thread waker=%d", at+12, at+60, child)
		say(62, "chunk conn=1 thread=1 dir=write offset=%d bytes=40", 40*i)
		say(62, "http-response conn=1 offset=%d head=40 status=200", 40*i)
	}
	text += "40000ms end reason=time\n"
	d := diagnosis.Diagnose(built(t, text), []diagnosis.Hypothesis{childProcess()}, diagnosis.Options{})
	const want = "Requests start programs (mostly \"convert\") and wait for them: 48.0 ms on average (92 % of all request time)"
	if len(d.Findings) != 1 || d.Findings[0].Title != want {
		t.Errorf("found %+v, want %q", d.Findings, want)
	}
}

// A goroutine sleeps in a system call until the program that it started ends: the sleep of its thread is its own.
func TestProgramsThatGoroutinesWaitFor(t *testing.T) {
	l := goLines{
		`000000001us manifest cpus=2 hooks="sched io sockets arrivals goroutines processes"`,
		`000000001us process id=1 pid=100 runtime=go comm=shop`,
		`000000001us thread id=1 tid=101 process=1`, `000000001us thread-state thread=1 state=sleep syscall=epoll_pwait`,
		`000000001us conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000`,
	}
	for i := range requestsPlayed {
		at, child := (i+1)*50_000, i+2
		l.at(at, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", at-20_000, at-5)
		l.at(at+10, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus goroutine=7", 40*i, at-10, at-10)
		l.at(at+11, "http-request conn=1 offset=%d head=40 method=GET route=/thumb", 40*i)
		l.at(at+100, "process id=%d pid=%d start=%dus parent=1 comm=convert", child, 200+i, at+100)
		l.at(at+101, "thread id=%d tid=%d start=%dus process=%d creator=1", child, 200+i, at+100, child)
		l.at(at+20_080, "thread-exit thread=%d", child)
		l.at(at+20_081, "process-exit process=%d", child)
		l.at(at+20_100, "off thread=1 since=%dus woken=%dus syscall=waitid goroutine=7 waker-kind=other", at+200, at+20_090)
		l.at(at+20_200, "chunk conn=1 thread=1 dir=write offset=%d bytes=60 goroutine=7", 60*i)
		l.at(at+20_201, "http-response conn=1 offset=%d head=60 status=200", 60*i)
	}
	tl, err := build.Recording(l.recording())
	if err != nil {
		t.Fatal(err)
	}
	d := diagnosis.Diagnose(tl, []diagnosis.Hypothesis{childProcess()}, diagnosis.Options{})
	const want = "Requests start programs (mostly \"convert\") and wait for them: 19.9 ms on average (98 % of all request time)"
	if len(d.Findings) != 1 || d.Findings[0].Title != want {
		t.Errorf("found %+v, want %q", d.Findings, want)
	}
}
