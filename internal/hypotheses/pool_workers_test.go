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

// Two requests at a time send tasks to one goroutine, 23, which makes a call of 10 ms for each. The second has to wait
// until the first has its result. With one more goroutine it would not.
func TestRequestsWaitForAGoroutineThatTakesTheirTasks(t *testing.T) {
	const title = "Requests wait 4.99 ms on average (33 % of all request time) for a goroutine that takes its task; meanwhile its goroutines mostly wait for GET /x at db:8080"
	f := tasksOfPairs(t, "")
	if f.ID != "pool-exhausted" || f.Title != title || f.Place != "main.worker.func1 (worker.go:30)" {
		t.Errorf("got %s %q at %q,\nexpected pool-exhausted %q at main.worker.func1 (worker.go:30)", f.ID, f.Title, f.Place, title)
	}
	if saves := f.Impact.P99; saves < 9_900_000 || saves > 10_100_000 {
		t.Errorf("it saves %d ns of p99, expected the 10 ms that the other's task takes", saves)
	}
}

// Other programs use the processors. While the goroutine waits for its peer it needs none: one more goroutine would
// save as much as on an idle machine.
func TestWaitingForAPeerNeedsNoProcessor(t *testing.T) {
	f := tasksOfPairs(t, "1ms host busy=0ms idle=0ms running=3\n80000ms host busy=140000ms idle=20000ms running=3\n")
	if saves := f.Impact.P99; f.ID != "pool-exhausted" || saves < 9_900_000 || saves > 10_100_000 {
		t.Errorf("%s saves %d ns of p99, expected of pool-exhausted the 10 ms that the other's task waits for its peer", f.ID, saves)
	}
}

// tasksOfPairs returns the first finding of that story, on a host described by further facts.
func tasksOfPairs(t *testing.T, host string) diagnosis.Finding {
	const head = `
1ms manifest cpus=2 hooks="sched io sockets arrivals goroutines go-calls parks"
1ms process id=1 pid=100 runtime=go comm=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5001
1ms conn id=3 side=out process=1 existing=1 local=127.0.0.1:6000 peer=10.0.0.1:8080
1ms frame id=1 type=go function=main.worker.func1 file=worker.go line=30
1ms stack id=1 frame=1
`
	const pair = `
%[1]d010000us chunk conn=1 thread=1 dir=read offset=%[2]d bytes=40 arrived=%[1]d010000us last=%[1]d010000us goroutine=7
%[1]d010000us http-request conn=1 offset=%[2]d head=40 method=GET route=/a
%[1]d010010us unpark thread=1 goroutine=7 woken=23
%[1]d010015us park thread=1 goroutine=23 left=1 since=%[1]d001000us reason=receive object=900 stack=1
%[1]d010020us go-call conn=3 thread=1 goroutine=23
%[1]d010030us chunk conn=3 thread=1 dir=write offset=%[4]d bytes=50 goroutine=9
%[1]d010030us http-request conn=3 offset=%[4]d head=50 method=GET route=/x host=db
%[1]d010050us chunk conn=2 thread=1 dir=read offset=%[2]d bytes=40 arrived=%[1]d010050us last=%[1]d010050us goroutine=17
%[1]d010050us http-request conn=2 offset=%[2]d head=40 method=GET route=/a
%[1]d019900us off thread=1 since=%[1]d010100us woken=%[1]d019890us syscall=epoll_pwait waker-kind=interrupt
%[1]d020000us chunk conn=3 thread=1 dir=read offset=%[6]d bytes=70 arrived=%[1]d019890us last=%[1]d019890us goroutine=10
%[1]d020000us http-response conn=3 offset=%[6]d head=50 length=20 status=200
%[1]d020010us unpark thread=1 goroutine=23 woken=7
%[1]d020012us park thread=1 goroutine=7 left=1 since=%[1]d010012us reason=receive object=901
%[1]d020020us chunk conn=1 thread=1 dir=write offset=%[3]d bytes=60 goroutine=7
%[1]d020020us http-response conn=1 offset=%[3]d head=60 status=200
%[1]d020030us unpark thread=1 goroutine=23 woken=17
%[1]d020040us go-call conn=3 thread=1 goroutine=23
%[1]d020050us chunk conn=3 thread=1 dir=write offset=%[5]d bytes=50 goroutine=9
%[1]d020050us http-request conn=3 offset=%[5]d head=50 method=GET route=/x host=db
%[1]d020060us park thread=1 goroutine=17 left=1 since=%[1]d010060us reason=send object=900
%[1]d029900us off thread=1 since=%[1]d020100us woken=%[1]d029890us syscall=epoll_pwait waker-kind=interrupt
%[1]d030000us chunk conn=3 thread=1 dir=read offset=%[7]d bytes=70 arrived=%[1]d029890us last=%[1]d029890us goroutine=10
%[1]d030000us http-response conn=3 offset=%[7]d head=50 length=20 status=200
%[1]d030010us unpark thread=1 goroutine=23 woken=17
%[1]d030012us park thread=1 goroutine=17 left=1 since=%[1]d020065us reason=receive object=902
%[1]d030020us chunk conn=2 thread=1 dir=write offset=%[3]d bytes=60 goroutine=17
%[1]d030020us http-response conn=2 offset=%[3]d head=60 status=200
%[1]d099000us off thread=1 since=%[1]d030100us woken=%[1]d098990us syscall=epoll_pwait waker-kind=interrupt
`
	story := head + host
	for i := range 30 {
		story += fmt.Sprintf(pair, i+1, 40*i, 60*i, 100*i, 100*i+50, 140*i, 140*i+70)
	}
	rec, err := recording.ParseText(strings.NewReader(story + "90000ms end reason=time\n"))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	d := diagnosis.Diagnose(tl, All(), diagnosis.Options{})
	if len(d.Findings) == 0 {
		t.Fatalf("nothing found: %+v", d.Undecided)
	}
	return d.Findings[0]
}

// Where a request waits for an executor shows in what its own thread waits in meanwhile.
func TestWhereARequestAwaitsItsTask(t *testing.T) {
	tl := built(t, `1ms manifest cpus=2 hooks="sched io stacks"
1ms process id=1 pid=100 runtime=jvm comm=java
1ms frame id=1 type=jvm function=java.util.concurrent.CompletableFuture.join file=CompletableFuture.java line=2117
1ms frame id=2 type=jvm function=com.shop.Dashboard.handle file=Dashboard.java line=31
1ms stack id=2 frame=2
1ms stack id=1 frame=1 caller=2
60ms end reason=time
`)
	tl.Strands = []timeline.Strand{{Waits: []timeline.WaitID{0}}, {}}
	tl.Requests = []timeline.Request{{Strand: 0, RequestMore: &timeline.RequestMore{}}}
	for cause, want := range map[timeline.Cause]string{timeline.CauseCondition: "Dashboard.handle (Dashboard.java:31)", timeline.CauseLock: ""} {
		tl.Waits = []timeline.Wait{{Strand: 0, From: 5, To: 30, Back: 30, Cause: cause, Stack: 1}}
		c := &diagnosis.Case{Timeline: tl}
		s := &shortage{k: &contention{lock: timeline.None}, stays: []stay{{diagnosis.Span{From: 10, To: 20}, 1, timeline.None}}}
		if got := s.waitedIn(c); got != want {
			t.Errorf("%v: awaited in %q, want %q", cause, got, want)
		}
	}
}
