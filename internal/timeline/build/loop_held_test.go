package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// oneLoop is a service of one thread that runs.
const oneLoop = `# dwell recording, text form 1
1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=python comm=app
1ms thread id=1 tid=100 process=1
1ms thread-state thread=1 on=1
`

// tenWaiters are ten requests of a loop. Each waits until some time (in us) after it came, and its wait ends as given;
// later requests use connections 1 and 2.
func tenWaiters(ends string, until func(i int) int) *strings.Builder {
	story := &strings.Builder{}
	story.WriteString(oneLoop + `1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5001
`)
	for i := range 10 {
		woken := 10_000 + until(i)
		fmt.Fprintf(story, `
%[1]d10000us off thread=1 since=%[2]d16000us woken=%[1]d09990us syscall=epoll_wait waker-kind=interrupt
%[1]d10000us chunk conn=1 thread=1 dir=read offset=%[3]d bytes=40 arrived=%[1]d09990us last=%[1]d09990us
%[1]d10000us http-request conn=1 offset=%[3]d head=40 method=GET route=/items
%[1]d%[6]dus off thread=1 since=%[1]d10100us woken=%[1]d%[5]dus syscall=epoll_wait %[8]s waker-kind=interrupt
%[1]d%[7]dus chunk conn=1 thread=1 dir=write offset=%[4]d bytes=60
%[1]d%[7]dus http-response conn=1 offset=%[4]d head=60 status=200
`, i+1, i, 40*i, 60*i, woken, woken+10, woken+20, ends)
	}
	return story
}

// tenSleepers each sleep for 5 ms.
func tenSleepers() *strings.Builder {
	return tenWaiters("timed=1", func(int) int { return 5000 })
}

// held is one more request; during it another request's callback computes for 60 ms.
const held = `
1110000us off thread=1 since=1016000us woken=1109990us syscall=epoll_wait waker-kind=interrupt
1110000us chunk conn=1 thread=1 dir=read offset=400 bytes=40 arrived=1109990us last=1109990us
1110000us http-request conn=1 offset=400 head=40 method=GET route=/items
1110100us chunk conn=2 thread=1 dir=read offset=0 bytes=40 arrived=1109990us last=1109990us
1110100us http-request conn=2 offset=0 head=40 method=GET route=/report
1170100us chunk conn=2 thread=1 dir=write offset=0 bytes=60
1170100us http-response conn=2 offset=0 head=60 status=200
1170200us chunk conn=1 thread=1 dir=write offset=600 bytes=60
1170200us http-response conn=1 offset=600 head=60 status=200
1190000us off thread=1 since=1170300us woken=1189990us syscall=epoll_wait waker-kind=interrupt
`

// Every request of a loop sleeps for 5 ms. During the last one another request's callback computes for 60 ms. The time
// by which it takes longer than the others it waited for the loop, behind that callback.
func TestATimerThatIsDueWhileTheLoopIsHeldWaitsForTheLoop(t *testing.T) {
	story := tenSleepers()
	story.WriteString(held)
	tl := parsed(t, []byte(story.String()))
	r := &tl.Requests[10]
	by := map[timeline.Cause]recording.Duration{}
	for g := r.Segments(); g.Next(); {
		by[g.Cause] += g.To.Sub(g.From)
		if g.Cause == timeline.CauseEventLoop && (g.Quality != timeline.Inferred || g.Phase == timeline.PhaseHandler && g.From < 1_170_000_000 && g.Blocker != 11) {
			t.Errorf("%v: %s behind request %d; a guess behind request 11 is expected", g.Quality, g.Cause, g.Blocker)
		}
	}
	if sleep, loop := by[timeline.CauseSleep], by[timeline.CauseEventLoop]; sleep < 4_900_000 || sleep > 5_200_000 || loop < 54_000_000 {
		t.Errorf("it sleeps %d us and waits %d us for the loop, of 5,000 and 55,000", sleep/1000, loop/1000)
	}
}

// Requests of a loop wait for something that no fact shows, for 100 us or, two of them, for 900 us. Both are next to
// nothing, however much they differ. During the last one another request's callback computes for 60 ms: it waited for
// the loop.
func TestHowFarShortWaitsDifferDoesNotMatter(t *testing.T) {
	story := tenWaiters("", func(i int) int {
		if i%4 == 3 {
			return 940
		}
		return 140
	})
	story.WriteString(held)
	tl := parsed(t, []byte(story.String()))
	by := map[timeline.Cause]recording.Duration{}
	for g := tl.Requests[10].Segments(); g.Next(); {
		by[g.Cause] += g.To.Sub(g.From)
	}
	if loop := by[timeline.CauseEventLoop]; loop < 58_000_000 {
		t.Errorf("it waits %d us for the loop, of 60,000: %v", loop/1000, by)
	}
}

// A loop reads a request, or two at once. Each is a task that calls a peer through a client that blocks the loop for 20
// ms. The second of a pair waits for the loop meanwhile, not for the client's one connection, which is in use.
func TestBehindAClientThatWaitsItselfTasksWaitForTheLoop(t *testing.T) {
	var story strings.Builder
	story.WriteString(`# dwell recording, text form 1
1ms manifest cpus=2 hooks="sched io sockets arrivals contexts"
1ms process id=1 pid=100 runtime=python comm=app
1ms thread id=1 tid=100 process=1
1ms thread-state thread=1 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5001
1ms conn id=3 side=out process=1 existing=1 local=127.0.0.1:6000 peer=10.0.0.1:80
1ms context process=1 id=1
1ms context process=1 id=2
`)
	contexts, asked, served := 2, 0, [3]int{}
	asks := func(ms, conn int) { // what a task does in 21 ms
		contexts++
		fmt.Fprintf(&story, `
%[1]d500us context process=1 id=%[4]d parent=%[3]d
%[1]d500us chunk conn=3 thread=1 dir=write offset=%[5]d bytes=100 context=%[4]d contexts=%[4]d
%[1]d500us http-request conn=3 offset=%[5]d head=100 method=GET route=/price
%[2]d500us off thread=1 since=%[1]d600us woken=%[2]d490us syscall=recvfrom waker-kind=interrupt
%[2]d550us chunk conn=3 thread=1 dir=read offset=%[6]d bytes=80 arrived=%[2]d490us last=%[2]d490us context=%[4]d contexts=%[4]d
%[2]d550us http-response conn=3 offset=%[6]d head=80 status=200
%[2]d600us chunk conn=%[3]d thread=1 dir=write offset=%[7]d bytes=60 context=%[4]d contexts=%[4]d
%[2]d600us http-response conn=%[3]d offset=%[7]d head=60 status=200
`, ms, ms+20, conn, contexts, 100*asked, 80*asked, 60*served[conn])
		asked++
		served[conn]++
	}
	for n := range 20 {
		ms, many := 100*(n+1), 1+n%2
		fmt.Fprintf(&story, "%[1]d000us off thread=1 since=%[2]d100us woken=%[1]d000us syscall=epoll_wait waker-kind=interrupt\n", ms, max(2, ms-55))
		for conn := 1; conn <= many; conn++ {
			fmt.Fprintf(&story, `
%[1]d0%[2]d0us chunk conn=%[2]d thread=1 dir=read offset=%[3]d bytes=40 arrived=%[1]d000us last=%[1]d000us context=%[2]d contexts=%[4]d
%[1]d0%[2]d0us http-request conn=%[2]d offset=%[3]d head=40 method=GET route=/quote
`, ms, conn, 40*served[conn], contexts)
		}
		for k := range many {
			asks(ms+21*k, 1+k)
		}
	}
	story.WriteString("2100000us off thread=1 since=2045100us woken=2100000us syscall=epoll_wait waker-kind=interrupt\n")
	tl := parsed(t, []byte(story.String()))
	for i := range tl.Requests {
		r := &tl.Requests[i]
		by := map[timeline.Cause]recording.Duration{}
		for g := r.Segments(); g.Next(); {
			by[g.Cause] += g.To.Sub(g.From)
		}
		if behind := r.Duration() > 40_000_000; by[timeline.CausePool] > 0 || by[timeline.CauseUnknown] > 500_000 || behind != (by[timeline.CauseEventLoop] > 20_000_000) {
			t.Fatalf("request %d of %v waits for %v; for the loop, if for 20 ms, are expected", i, r.Duration(), by)
		}
	}
}

// Every request of a loop sleeps for 5 ms. When the last one's timer is due the loop is woken for another request, and
// gets to both: the other requests show that the first one slept.
func TestATimerThatIsDueAsTheLoopIsWokenForSomethingElse(t *testing.T) {
	story := tenSleepers()
	story.WriteString(`
1110000us off thread=1 since=1016000us woken=1109990us syscall=epoll_wait waker-kind=interrupt
1110000us chunk conn=1 thread=1 dir=read offset=400 bytes=40 arrived=1109990us last=1109990us
1110000us http-request conn=1 offset=400 head=40 method=GET route=/items
1114950us off thread=1 since=1110100us woken=1114900us syscall=epoll_wait timed=1 waker-kind=interrupt
1115000us chunk conn=2 thread=1 dir=read offset=0 bytes=40 arrived=1114900us last=1114900us
1115000us http-request conn=2 offset=0 head=40 method=GET route=/report
1115050us chunk conn=2 thread=1 dir=write offset=0 bytes=60
1115050us http-response conn=2 offset=0 head=60 status=200
1115200us chunk conn=1 thread=1 dir=write offset=600 bytes=60
1115200us http-response conn=1 offset=600 head=60 status=200
1190000us off thread=1 since=1115300us woken=1189990us syscall=epoll_wait waker-kind=interrupt
`)
	tl := parsed(t, []byte(story.String()))
	by := map[timeline.Cause]recording.Duration{}
	for g := tl.Requests[10].Segments(); g.Next(); {
		by[g.Cause] += g.To.Sub(g.From)
	}
	if sleep := by[timeline.CauseSleep]; sleep < 4_800_000 || sleep > 5_200_000 {
		t.Errorf("it sleeps %d us of 5,000: %v", sleep/1000, by)
	}
}
