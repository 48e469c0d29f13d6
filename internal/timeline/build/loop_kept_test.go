package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// A loop reads two requests at once. Each is a task that makes two calls of 5 ms on a pool's one connection, which it
// keeps for both. The second task waits 10 ms for the connection. Nobody waits for it to make a second call: that begins as
// it is sent.
func TestARequestThatKeepsAConnectionDoesNotWaitForIt(t *testing.T) {
	var story strings.Builder
	story.WriteString(oneLoop + `
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5001
1ms conn id=3 side=out process=1 existing=1 local=127.0.0.1:6000 peer=10.0.0.1:80
1ms context process=1 id=1
1ms context process=1 id=2
`)
	asked := 0
	call := func(at, context int) { // at us; the loop sleeps until the answer comes
		fmt.Fprintf(&story, `
%[1]dus chunk conn=3 thread=1 dir=write offset=%[3]d bytes=100 context=%[5]d contexts=%[5]d
%[1]dus http-request conn=3 offset=%[3]d head=100 method=GET route=/price
%[2]dus off thread=1 since=%[6]dus woken=%[2]dus syscall=epoll_wait waker-kind=interrupt
%[2]dus chunk conn=3 thread=1 dir=read offset=%[4]d bytes=80 arrived=%[2]dus last=%[2]dus
%[2]dus http-response conn=3 offset=%[4]d head=80 status=200
`, at, at+5_000, 100*asked, 80*asked, context, at+50)
		asked++
	}
	const batches = 12
	for n := range batches {
		came := 100_000 * (n + 1)
		fmt.Fprintf(&story, "%dus off thread=1 since=%dus woken=%[1]dus syscall=epoll_wait waker-kind=interrupt\n", came, max(2_000, came-70_000))
		for conn := 1; conn <= 2; conn++ {
			fmt.Fprintf(&story, `
%[1]dus chunk conn=%[2]d thread=1 dir=read offset=%[3]d bytes=40 arrived=%[4]dus last=%[4]dus context=%[2]d contexts=%[5]d
%[1]dus http-request conn=%[2]d offset=%[3]d head=40 method=GET route=/quote
`, came+10*conn, conn, 40*n, came, 2+2*n)
		}
		for conn := 1; conn <= 2; conn++ { // as tasks begin
			fmt.Fprintf(&story, "%dus context process=1 id=%d parent=%d\n", came+50, 2+2*n+conn, conn)
		}
		for conn := 1; conn <= 2; conn++ {
			own, at := 2+2*n+conn, came+100+10_300*(conn-1)
			call(at, own)
			call(at+5_100, own)
			fmt.Fprintf(&story, `
%[1]dus chunk conn=%[2]d thread=1 dir=write offset=%[3]d bytes=60 context=%[4]d contexts=%[4]d
%[1]dus http-response conn=%[2]d offset=%[3]d head=60 status=200
`, at+10_200, conn, 60*n, own)
		}
	}
	fmt.Fprintf(&story, "%dus off thread=1 since=%dus woken=%[1]dus syscall=epoll_wait waker-kind=interrupt\n", 1_400_000, 1_230_000)
	tl := parsed(t, []byte(story.String()))
	for i := range tl.Requests {
		pool := took(&tl.Requests[i])[timeline.CausePool]
		if second := i%2 == 1; second && pool < 9_500_000 || !second && pool > 0 {
			t.Errorf("request %d waits %d us for the connection, of 10,000 if it came second, else of 0: %v", i, pool/1000, took(&tl.Requests[i]))
		}
	}
	first := map[timeline.RequestID]bool{}
	for _, i := range lists.Sorted(len(tl.Calls), func(i int) recording.Time { return tl.Calls[i].SendFrom }) {
		c := &tl.Calls[i]
		if first[c.Request] && c.Start != c.SendFrom {
			t.Errorf("the second call of request %d begins %d us before it is sent", c.Request, (c.SendFrom-c.Start)/1000)
		}
		first[c.Request] = true
	}
	if len(first) != 2*batches {
		t.Errorf("%d requests make calls, of %d", len(first), 2*batches)
	}
}
