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
func batches(order [3]int) *strings.Builder {
	story := &strings.Builder{}
	story.WriteString(oneLoop)
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
	return story
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
	tl := parsed(t, []byte(batches([3]int{1, 2, 3}).String()))
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
	tl := parsed(t, []byte(batches([3]int{3, 2, 1}).String()))
	for i := range tl.Requests {
		own := took(&tl.Requests[i])[timeline.CauseOnCPU]
		if last := i%3 == 2; last && own < 3_990_000 || !last && own > 50_000 {
			t.Errorf("request %d computes for %v, of 4 ms if it was read last, else of nothing", i, own)
		}
	}
}

// A request of a loop that never sleeps is answered 20 ms after it was read. Meanwhile the loop reads and answers ten
// others, one after the other: the request's task was not queued all that time, and what it waited for is not known.
func TestATaskThatManyOvertakeIsNotQueued(t *testing.T) {
	story := batches([3]int{1, 2, 3})
	story.WriteString(`
220010us chunk conn=1 thread=1 dir=read offset=400 bytes=40 arrived=220000us last=220000us
220010us http-request conn=1 offset=400 head=40 method=GET route=/sleep
`)
	for i := range 10 {
		at := 220_100 + 2_000*i
		fmt.Fprintf(story, "%dus chunk conn=2 thread=1 dir=read offset=%d bytes=40 arrived=%[1]dus last=%[1]dus\n", at, 400+40*i)
		fmt.Fprintf(story, "%dus http-request conn=2 offset=%d head=40 method=GET route=/items\n", at, 400+40*i)
		fmt.Fprintf(story, "%dus chunk conn=2 thread=1 dir=write offset=%d bytes=60\n", at+1_900, 600+60*i)
		fmt.Fprintf(story, "%dus http-response conn=2 offset=%d head=60 status=200\n", at+1_900, 600+60*i)
	}
	story.WriteString(`
240100us chunk conn=1 thread=1 dir=write offset=600 bytes=60
240100us http-response conn=1 offset=600 head=60 status=200
260000us off thread=1 since=240200us woken=260000us syscall=epoll_wait waker-kind=interrupt
`)
	tl := parsed(t, []byte(story.String()))
	by := took(&tl.Requests[30])
	if tl.Requests[30].Endpoint != "GET /sleep" || by[timeline.CauseUnknown] < 19_000_000 {
		t.Errorf("%s waits for something unknown for %v, of 20 ms, and for the loop for %v", tl.Requests[30].Endpoint, by[timeline.CauseUnknown], by[timeline.CauseEventLoop])
	}
}
