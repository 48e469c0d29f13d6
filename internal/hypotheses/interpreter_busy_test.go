package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// A request waits from 10 to 30 ms for a thread of a pool. One thread of the interpreter
// runs until 14 and again from 20 on, another one from 18 to 22: nobody runs for 4 ms.
func TestMoreThreadsDoNotRunBesideABusyInterpreter(t *testing.T) {
	rec, err := recording.ParseText(strings.NewReader(`1ms manifest cpus=2 hooks="sched io"
1ms process id=1 pid=100 runtime=python comm=shop
1ms thread id=1 tid=101 process=1
1ms thread id=2 tid=102 process=1
1ms thread-state thread=1 on=1
1ms thread-state thread=2 state=sleep syscall=futex
18ms off thread=2 since=1ms woken=18ms state=sleep syscall=futex
20ms off thread=1 since=14ms woken=20ms state=sleep syscall=futex
40ms off thread=2 since=22ms woken=40ms state=sleep syscall=futex
50ms off thread=1 since=40ms woken=50ms state=sleep syscall=futex
60ms end reason=time
`))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Build(rec)
	if err != nil {
		t.Fatal(err)
	}
	got := besideInterpreter(&diagnosis.Case{Timeline: tl}, 1, []stay{{Span: diagnosis.Span{From: 10_000_000, To: 30_000_000}}})
	if len(got) != 1 || got[0].To-got[0].From != 4_000_000 {
		t.Errorf("%+v would go, want 4 ms", got)
	}
}
