package build

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// A goroutine is on a thread until another one is seen there, but not across a pause: what ran meanwhile is not known.
//
//	ms           10    30      60    80
//	thread 101   |7 ---| pause |?    |8
func TestGoroutinesDoNotRunOnAcrossAPause(t *testing.T) {
	tl := parsed(t, []byte(`1ms manifest cpus=2 hooks="sched io goroutines go-runs"
1ms process id=1 pid=100 runtime=go comm=x
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
10ms go-run thread=1 goroutine=7
60ms gap from=30ms
80ms go-run thread=1 goroutine=8
90ms end reason=time
`))
	list := tl.Goroutines.Stints[timeline.GoroutineKey{Process: 1, Goroutine: 7}]
	if len(list) != 1 || list[0].From != 10_000_000 || list[0].To != 30_000_000 {
		t.Errorf("goroutine 7 ran %v, want from 10 to 30 ms", list)
	}
}

// A thread that returns from a read of a connection moves its bytes right then; otherwise it read something else. If it
// returned just as recording paused, this is not known.
func TestReadsBeforeAPauseAreOfAnything(t *testing.T) {
	for from, want := range map[string]timeline.Cause{"30ms": timeline.CauseIPC, "20100us": timeline.CauseUnknown} {
		tl := parsed(t, []byte(`1ms manifest cpus=2 hooks="sched stacks io sockets"
1ms process id=1 pid=100 runtime=native comm=x
1ms thread id=1 tid=101 process=1
20ms off thread=1 since=10ms woken=20ms syscall=read arg=5
60ms gap from=`+from+`
90ms end reason=time
`))
		if got, _ := timeline.SleepCause(tl, 0, tl.Strands[0].Intervals[1]); got != want {
			t.Errorf("recording pauses at %s: %v, want %v", from, got, want)
		}
	}
}
