package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// batches are ten times three requests that arrive at the same time on a loop, which reads all three before it acts for
// any of them. Between its acts it computes for 4 ms each; order says for which connection it acts.
func batches(order [3]int) string {
	story := &strings.Builder{}
	story.WriteString(`# dwell recording, text form 1
1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=python comm=app
1ms thread id=1 tid=100 process=1
1ms thread-state thread=1 on=1
`)
	for conn := range 3 {
		fmt.Fprintf(story, "1ms conn id=%d side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:500%d\n", conn+1, conn)
	}
	for i := range 10 {
		came := 20_000 * (i + 1)
		fmt.Fprintf(story, "%dus off thread=1 since=%dus woken=%[1]dus syscall=epoll_wait waker-kind=interrupt\n", came, came-7_000)
		for conn := range 3 {
			fmt.Fprintf(story, "%dus chunk conn=%d thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%[4]dus\n", came+10*conn, conn+1, 40*i, came)
			fmt.Fprintf(story, "%dus http-request conn=%d offset=%d head=40 method=GET route=/items\n", came+10*conn, conn+1, 40*i)
		}
		for n, conn := range order {
			at := came + 20 + 4_000*(n+1)
			fmt.Fprintf(story, "%dus chunk conn=%d thread=1 dir=write offset=%d bytes=60\n", at, conn, 60*i)
			fmt.Fprintf(story, "%dus http-response conn=%d offset=%d head=60 status=200\n", at, conn, 60*i)
		}
	}
	fmt.Fprintf(story, "%dus off thread=1 since=%dus woken=%[1]dus syscall=epoll_wait waker-kind=interrupt\n", 220_000, 213_000)
	return story.String()
}

// took sums a request's time by cause.
func took(r *timeline.Request) map[timeline.Cause]recording.Duration {
	by := map[timeline.Cause]recording.Duration{}
	for g := r.Segments(); g.Next(); {
		by[g.Cause] += g.To.Sub(g.From)
	}
	return by
}

// The loop acts in the order in which it read: it computes 4 ms for each request, and the second and the third wait for
// the loop as long as it computes for those before them.
func TestALoopThatDefersWorksForTheRequestThatItActsForNext(t *testing.T) {
	tl := parsed(t, []byte(batches([3]int{1, 2, 3})))
	for i := range tl.Requests {
		r := &tl.Requests[i]
		nth := recording.Duration(i % 3)
		by := took(r)
		if own := by[timeline.CauseOnCPU]; own < 3_990_000 || own > 4_030_000 {
			t.Errorf("request %d computes for %v, of 4 ms", i, own)
		}
		if behind := by[timeline.CauseEventLoop]; behind < 4_000_000*nth-30_000 || behind > 4_000_000*nth+30_000 {
			t.Errorf("request %d waits for the loop for %v, of %v", i, behind, 4_000_000*nth)
		}
	}
}

// The loop acts first for the request that it read last. So it may have worked for that one from its read on, and only
// for that one: the others wait for the loop.
func TestALoopThatActsForWhatItReadLastDoesNotDefer(t *testing.T) {
	tl := parsed(t, []byte(batches([3]int{3, 2, 1})))
	for i := range tl.Requests {
		own := took(&tl.Requests[i])[timeline.CauseOnCPU]
		if last := i%3 == 2; last && own < 3_990_000 || !last && own > 50_000 {
			t.Errorf("request %d computes for %v, of 4 ms if it was read last, else of nothing", i, own)
		}
	}
}
