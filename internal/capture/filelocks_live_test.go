//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A process waits for file locks that another process holds, using both interfaces: each wait shows the system call
// and the file.
func TestLocksOfFilesBetweenProcesses(t *testing.T) {
	p := start(t, 0, python(t), "testdata/filelocks.py", diskDir(t))
	l := record(t, p.Process.Pid, Options{})
	fmt.Fprintln(p.stdin)
	rec, files := filesOf(t, l)
	waits := map[string]int{}
	for _, off := range all[*recording.Off](rec) {
		if off.State == recording.OffSleep && (off.Syscall == "flock" || off.Syscall == "fcntl") {
			waits[off.Syscall+" "+files[off.File]]++
		}
	}
	for what := range waits {
		if what != "flock carts.lock" && what != "fcntl users.lock" {
			t.Errorf("waits for %q", what)
		}
	}
	if waits["flock carts.lock"] < 4 || waits["fcntl users.lock"] < 4 { // of 8 each, if the parent had always come in time
		t.Errorf("waits: %v", waits)
	}
}
