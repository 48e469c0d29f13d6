package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// Goroutine 8 waits for goroutine 7, of which only its release at 20 ms is known. Both threads of the process sleep
// from 13 to 19 ms: so goroutine 7 sleeps then, too.
//
//	ms            10  12  13        19  20
//	thread 101   -----|                 |--
//	thread 102   ---------|          |-----
//	goroutine 8     waits --------------|
func TestAGoroutineSleepsWhileItsProcessDoes(t *testing.T) {
	tl := parsed(t, []byte(`1ms manifest cpus=2 hooks="sched stacks parks goroutines"
1ms process id=1 pid=100 runtime=go comm=shop
1ms thread id=1 tid=101 process=1
1ms thread id=2 tid=102 process=1
1ms thread-state thread=1 on=1
1ms thread-state thread=2 on=1
1ms frame id=1 type=go function=main.export file=main.go line=9
1ms stack id=1 frame=1
19ms off thread=2 since=13ms woken=19ms state=sleep syscall=futex
20ms off thread=1 since=12ms woken=20ms state=sleep syscall=futex
20ms unpark thread=1 goroutine=7 word=1004 stack=1
20010us park thread=2 left=1 goroutine=8 since=10ms reason=mutex object=1000 word=1004 stack=1
60ms end reason=time
`))
	holder := timeline.StrandID(slices.IndexFunc(tl.Strands, func(s timeline.Strand) bool { return s.Goroutine == 7 }))
	var got strings.Builder
	for _, a := range tl.Doing(holder, tl.Waits[0].From, tl.Waits[0].To) {
		fmt.Fprintf(&got, "%d..%d %v asleep=%t\n", a.From/1000, a.To/1000, a.Cause, a.Asleep)
	}
	const want = `10000..13000 unknown asleep=false
13000..19000 unknown asleep=true
19000..20000 unknown asleep=false
`
	if got.String() != want {
		t.Errorf("goroutine 7\n%swant\n%s", got.String(), want)
	}
}
