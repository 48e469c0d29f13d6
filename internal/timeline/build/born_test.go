package build

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// One process began 400 us before the recording, on a host that was suspended for 5 ms since its boot; the kernel's
// start time includes that. Another process began to run its program during the recording.
func TestBornOnAHostThatWasSuspended(t *testing.T) {
	rec, err := recording.ParseText(strings.NewReader(`# dwell recording, text form 1
1000000 manifest cpus=1
1000000 process id=1 pid=100 start=5600000
1000000 process id=2 pid=101 start=5700000
1000000 process id=3 pid=102
1100000 clock wall=1 suspended=5000000
1200000 exec process=2
1300000 end reason=time
`))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []recording.Time{600000, 1200000, recording.NoTime} {
		if got := tl.Processes[i].Born; got != want {
			t.Errorf("process %d was born at %d, want %d", i+1, got, want)
		}
	}
}

// When a process becomes a service, its first thread takes the service's name; another thread that it had made before
// keeps its own name.
func TestAThreadIsNamedByTheProgramThatItRuns(t *testing.T) {
	rec, err := recording.ParseText(strings.NewReader(`# dwell recording, text form 1
1000000 manifest cpus=1
1000000 process id=1 pid=100 comm=launcher
1000000 thread id=1 tid=100 process=1 name=launcher
1000000 thread id=2 tid=101 process=1 name=launcher
1200000 exec process=1 comm=node exe=node runtime=node
1300000 end reason=time
`))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := tl.Strands[0].Name, tl.Strands[1].Name; a != "node" || b != "launcher" {
		t.Errorf("the first thread is %q, the other %q", a, b)
	}
}
