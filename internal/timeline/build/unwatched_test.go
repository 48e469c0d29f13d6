package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// waiting is a recording of Go requests that take 12 ms each, one every 20 ms. Each waits 10 ms for a channel. From
// request number from on, waits for channels are not watched; if told is set, they are recorded all the same.
func waiting(requests, from int, told bool) []byte {
	var b strings.Builder
	b.WriteString(`1ms manifest cpus=2 hooks="sched io sockets arrivals goroutines go-runs go-locks"
1ms process id=1 pid=100 runtime=go comm=x
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 state=sleep syscall=epoll_pwait
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
`)
	us := func(at int, format string, args ...any) {
		fmt.Fprintf(&b, "%dus %s\n", at, fmt.Sprintf(format, args...))
	}
	slept := 1000
	for i := range requests {
		at := 20_000 * (i + 1)
		us(at, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", slept, at)
		us(at, "go-run thread=1 goroutine=7")
		us(at, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus goroutine=7", 40*i, at, at)
		us(at, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
		us(at+11_000, "off thread=1 since=%dus woken=%dus syscall=futex waker-kind=interrupt", at+1000, at+11_000)
		us(at+11_000, "go-run thread=1 goroutine=7")
		if told || i < from {
			us(at+11_000, "park thread=1 goroutine=7 left=1 since=%dus reason=receive object=5 word=5", at+1000)
		}
		us(at+12_000, "chunk conn=1 thread=1 dir=write offset=%d bytes=60 goroutine=7", 60*i)
		us(at+12_000, "http-response conn=1 offset=%d head=60 status=200", 60*i)
		slept = at + 12_000
	}
	end := 20_000 * (requests + 1)
	us(end, "unseen what=go-channels from=%dus", 20_000*(from+1)-4000)
	us(end, "end reason=time")
	return []byte(b.String())
}

// Requests during which goroutines were not watched are left out if that is why much of their time has no known
// cause, and if enough other requests remain.
func TestUnwatchedRequestsAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		name           string
		requests, from int
		told           bool
		left           int
	}{
		{"half was watched", 500, 250, false, 250},
		{"too few were watched", 500, 80, false, 500},
		{"it is no reason: all is known", 500, 250, true, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := parsed(t, waiting(c.requests, c.from, c.told))
			left := 0
			for i := range tl.Requests {
				r := &tl.Requests[i]
				if r.Measured() {
					left++
				}
				if r.Measured() == timeline.Unwatched(tl, r) {
					t.Fatalf("request %d: measured %v, left out %v", i, r.Measured(), timeline.Unwatched(tl, r))
				}
			}
			if left != c.left || len(tl.Requests) != c.requests {
				t.Errorf("of %d requests %d are left, want %d", len(tl.Requests), left, c.left)
			}
		})
	}
}
