package build

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// Threads of two processes wait for the locks of two files, without stacks.
func TestLocksOfFilesAreTheirs(t *testing.T) {
	rec, err := recording.ParseText(strings.NewReader(`1 manifest hooks="sched wakings"
1 process id=1 pid=9
1 process id=2 pid=10
1 thread id=1 tid=9 process=1
1 thread id=2 tid=10 process=2
1 file id=1 name=carts
1 file id=2 name=users
20000000 off thread=1 since=1000000 woken=19000000 waker-kind=thread waker=2 syscall=flock arg=6 file=1
40000000 off thread=2 since=21000000 woken=39000000 waker-kind=thread waker=1 syscall=flock arg=7 file=1
60000000 off thread=1 since=41000000 woken=59000000 waker-kind=thread waker=2 syscall=fcntl arg=6 file=2
`))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	waits := map[string]int{}
	for i := range tl.Locks {
		waits[tl.Locks[i].Name] = len(tl.Locks[i].Waits)
	}
	if len(waits) != 2 || waits["file carts"] != 2 || waits["file users"] != 1 {
		t.Errorf("waits by lock: %v", waits)
	}
}
