package timeline

import (
	"fmt"
	"testing"
)

// A request that lay in its socket before recording began, and is read long after, took at
// least since then; one that is read soon after may have come just before.
func TestWhatWaitedSinceBeforeTheRecordingCounts(t *testing.T) {
	for _, c := range []struct {
		read        string
		hooks       string
		queued, cut bool
	}{{"3100", "sched io sockets arrivals", true, false}, {"900", "sched io sockets arrivals", false, true}, {"3100", "sched io sockets", false, true}} {
		tl := parsed(t, fmt.Appendf(nil, `1ms manifest cpus=2 hooks="%[2]s"
1ms process id=1 pid=100 runtime=ruby comm=puma
1ms thread id=2 tid=102 process=1 name=worker
1ms thread-state thread=2 on=1
1ms conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
%[1]sms chunk conn=1 thread=2 dir=read bytes=40
%[1]sms http-request conn=1 head=40 method=GET route=/a
3200ms chunk conn=1 thread=2 dir=write bytes=40
3200ms http-response conn=1 head=40 status=200
3300ms end reason=time
`, c.read, c.hooks))
		r := &tl.Requests[0]
		if r.Queued != c.queued || r.Cut != c.cut || c.queued && r.Duration() != 3_199_000_000 {
			t.Errorf("read at %s ms, %s: queued %v, cut %v, %d ns; want %v, %v", c.read, c.hooks, r.Queued, r.Cut, r.Duration(), c.queued, c.cut)
		}
	}
}
