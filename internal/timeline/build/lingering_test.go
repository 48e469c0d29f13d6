package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Thread 1 reads requests and puts them into a queue, thread 2 answers them. After each answer thread 2 waits for the
// next request on that connection. The second request comes on another connection meanwhile. It lies in the queue until
// thread 2 takes it, and has nothing to do with the timer that ends that wait, unless thread 2 began to write its
// answer before it slept.
func TestAThreadThatLingersOnAConnectionWorksForNobody(t *testing.T) {
	const story = `1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=ruby comm=puma
1ms thread id=1 tid=101 process=1 name=reactor
1ms thread id=2 tid=102 process=1 name=worker
1ms thread-state thread=1 on=1
1ms thread-state thread=2 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
1ms conn id=2 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5001
10.1ms off thread=1 since=2ms woken=10ms syscall=epoll_wait timed=1 waker-kind=interrupt
10.1ms chunk conn=1 thread=1 dir=read bytes=40 arrived=10ms last=10ms
10.1ms http-request conn=1 head=40 method=GET route=/a
10.2ms off thread=2 since=3ms woken=10.15ms syscall=futex arg=4000 sp=900 waker-kind=thread waker=1 release=1
12ms chunk conn=1 thread=2 dir=write bytes=40
12ms http-response conn=1 head=40 status=200
BEFORE212.1ms off thread=2 since=POLLms woken=212ms syscall=ppoll arg=5000 timed=1 sp=800 waker-kind=interrupt
AFTER214ms chunk conn=2 thread=2 dir=write offset=WRITTEN bytes=40
HEAD214.1ms off thread=1 since=SINCE woken=214.05ms syscall=epoll_wait timed=1 waker-kind=interrupt
220ms end reason=time
`
	const queued = `30.1ms off thread=1 since=10.5ms woken=30ms syscall=epoll_wait timed=1 waker-kind=interrupt
30.1ms chunk conn=2 thread=1 dir=read bytes=40 arrived=30ms last=30ms
30.1ms http-request conn=2 head=40 method=GET route=/a
`
	const unread = `213ms chunk conn=2 thread=2 dir=read bytes=40 arrived=30ms last=30ms
213ms http-request conn=2 head=40 method=GET route=/a
`
	const answer = "214ms http-response conn=2 head=40 status=200\n"
	pool, timer := map[timeline.Cause]bool{timeline.CausePool: true, timeline.CauseSleep: false}, map[timeline.Cause]bool{timeline.CausePool: false, timeline.CauseSleep: true}
	for _, c := range []struct {
		what, before, poll, after, written, head, since string
		want                                            map[timeline.Cause]bool
	}{
		{"after an answer", queued, "12.1", "", "0", answer, "30.5ms", pool},
		{"after an answer, and reads the next request itself", "", "12.1", unread, "0", answer, "10.5ms", pool},
		{"within an answer", queued + "31ms chunk conn=2 thread=2 dir=write bytes=40\n31ms http-response conn=2 head=40 length=40 status=200\n", "31.1", "", "40", "", "30.5ms", timer},
	} {
		t.Run(c.what, func(t *testing.T) {
			text := strings.NewReplacer("BEFORE", c.before, "POLL", c.poll, "AFTER", c.after, "SINCE", c.since, "WRITTEN", c.written, "HEAD", c.head).Replace(story)
			tl := parsed(t, []byte(text))
			if len(tl.Requests) != 2 {
				t.Fatalf("%d requests", len(tl.Requests))
			}
			var got []string
			took := map[timeline.Cause]recording.Duration{}
			for s := tl.Requests[1].Segments(); s.Next(); {
				got = append(got, fmt.Sprintf("%v %v %dus", s.Phase, s.Cause, s.To.Sub(s.From)/1000))
				took[s.Cause] += s.To.Sub(s.From)
			}
			for cause, want := range c.want {
				if is := took[cause] > 150_000_000; is != want {
					t.Errorf("%v: %v, want %v: %q", cause, is, want, got)
				}
			}
		})
	}
}

// The same holds if every thread reads and answers its requests itself.
func TestAThreadThatServesAloneLingersToo(t *testing.T) {
	tl := parsed(t, []byte(`1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=ruby comm=puma
1ms thread id=2 tid=102 process=1 name=worker
1ms thread-state thread=2 on=1
2ms conn id=1 side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:5000
10.1ms chunk conn=1 thread=2 dir=read bytes=40 arrived=10ms last=10ms
10.1ms http-request conn=1 head=40 method=GET route=/a
12ms chunk conn=1 thread=2 dir=write bytes=40
12ms http-response conn=1 head=40 status=200
29ms conn id=2 side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:5001
212.1ms off thread=2 since=12.1ms woken=212ms syscall=ppoll arg=5000 timed=1 sp=800 waker-kind=interrupt
213ms chunk conn=2 thread=2 dir=read bytes=40 arrived=30ms last=30ms
213ms http-request conn=2 head=40 method=GET route=/a
214ms chunk conn=2 thread=2 dir=write bytes=40
214ms http-response conn=2 head=40 status=200
220ms end reason=time
`))
	took := map[timeline.Cause]recording.Duration{}
	for s := tl.Requests[1].Segments(); s.Next(); {
		took[s.Cause] += s.To.Sub(s.From)
	}
	if took[timeline.CausePool] != 182_000_000 {
		t.Errorf("it waits for the thread for %v, expected 182 ms: %v", took[timeline.CausePool], took)
	}
}
