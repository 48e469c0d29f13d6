package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// While it records, dwell holds only the rights that recording goes on needing: BPF,
// performance events, and reading and ending the processes of others.
func TestLiveRecorderDropsRights(t *testing.T) {
	needBPF(t)
	service := exec.Command("sleep", "60")
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer service.Wait()
	defer service.Process.Kill()
	dwell := exec.Command(os.Args[0], "attach", "--pid", fmt.Sprint(service.Process.Pid),
		"-o", filepath.Join(t.TempDir(), "x.dwell"))
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
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "recording") {
	}
	const kill, dacReadSearch, sysPtrace, perfmon, bpf, checkpointRestore = 5, 2, 19, 38, 39, 40
	want := fmt.Sprintf("%016x", 1<<kill|1<<dacReadSearch|1<<sysPtrace|1<<perfmon|1<<bpf|1<<checkpointRestore)
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", dwell.Process.Pid))
	if err != nil || len(tasks) < 2 {
		t.Fatalf("threads of the recorder: %v, %v", tasks, err)
	}
	for _, path := range tasks {
		status, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		for _, set := range []string{"CapPrm", "CapEff", "CapBnd"} {
			if !strings.Contains(string(status), set+":\t"+want+"\n") {
				t.Errorf("%s: %s is not %s:\n%s", path, set, want, status)
			}
		}
	}
}
