package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
)

// While it records, dwell holds only the rights that recording goes on needing: BPF,
// performance events, and reading the processes of others. It can end none. When it is killed,
// what it wrote can be read, by its owner alone, and the service goes on.
func TestLiveRecorderDropsRightsAndMayBeKilled(t *testing.T) {
	needBPF(t)
	service := exec.Command("sleep", "60")
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer service.Wait()
	defer service.Process.Kill()
	path := filepath.Join(t.TempDir(), "x.dwell")
	dwell := exec.Command(os.Args[0], "attach", "--pid", fmt.Sprint(service.Process.Pid), "-o", path)
	dwell.Env = append(os.Environ(), "BE_DWELL=1")
	said, err := dwell.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dwell.Start(); err != nil {
		t.Fatal(err)
	}
	defer dwell.Wait()
	defer dwell.Process.Kill()
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "all that can be seen") {
	}
	const dacReadSearch, sysPtrace, perfmon, bpf, checkpointRestore = 2, 19, 38, 39, 40
	want := fmt.Sprintf("%016x", 1<<dacReadSearch|1<<sysPtrace|1<<perfmon|1<<bpf|1<<checkpointRestore)
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", dwell.Process.Pid))
	if err != nil || len(tasks) < 2 {
		t.Fatalf("threads of the recorder: %v, %v", tasks, err)
	}
	for _, path := range tasks {
		status, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		if !strings.Contains(string(status), "NoNewPrivs:\t1\n") {
			t.Errorf("%s: a program that it starts may have more rights:\n%s", path, status)
		}
		for _, set := range []string{"CapPrm", "CapEff", "CapBnd"} {
			if !strings.Contains(string(status), set+":\t"+want+"\n") {
				t.Errorf("%s: %s is not %s:\n%s", path, set, want, status)
			}
		}
	}
	seconds := func() int { return clocks(t, path) } // one fact is written each second
	for until := time.Now().Add(10 * time.Second); seconds() < 2; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("nothing is written while it records")
		}
	}
	dwell.Process.Kill()
	dwell.Wait()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the recording: %v, %v; want one for its owner alone", info.Mode(), err)
	}
	if n := seconds(); n < 2 {
		t.Errorf("%d seconds are left of the recording", n)
	}
	if err := service.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the service: %v", err)
	}
}

// clocks is how many Clock facts a recording has.
func clocks(t *testing.T, path string) (n int) {
	t.Helper()
	rec, err := readRecording("facts", path)
	if errors.Is(err, recording.ErrEmpty) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rec.Events {
		if e.Fact.Kind() == recording.KindClock {
			n++
		}
	}
	return n
}
