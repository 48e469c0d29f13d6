package diagnosis

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// A thread is seen from 1 to 100 ms, and recording rests for 60 of them: rates refer to the other 39.
func TestAProfileIsOfWhatWasRecorded(t *testing.T) {
	rec, err := recording.ParseText(strings.NewReader(`1ms manifest cpus=2 hooks="sched io"
1ms process id=1 pid=100 runtime=native comm=shop exe=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
80ms gap from=20ms
80ms thread-state thread=1 on=1
100ms off thread=1 since=90ms woken=99ms syscall=read
100ms end reason=time
`))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	if p := NewProfile(tl, "shop"); p.Span != 39_000_000 {
		t.Errorf("seen for %d ns, want 39 ms", p.Span)
	}
}
