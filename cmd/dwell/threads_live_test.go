//go:build linux

package main

import (
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/report"
)

// convoy is four threads that want one lock; each sleeps while it has it.
const convoy = `
import sys, threading, time
lock = threading.Lock()
def hold():
    time.sleep(0.05)
def want():
    while True:
        with lock:
            hold()
for i in range(4):
    threading.Thread(target=want, daemon=True).start()
print("up", flush=True)
sys.stdin.read()
`

// A running program's threads: those that want a lock wait for the one that has it,
// which sleeps in the function that holds it.
func TestThreadsOfARunningProgram(t *testing.T) {
	needBPF(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED-NO-PYTHON")
	}
	program := exec.Command(python, "-c", convoy)
	stdin, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer program.Wait()
	defer stdin.Close() // ends it
	if n, err := stdout.Read(make([]byte, 8)); n == 0 {
		t.Fatal("the program did not start", err)
	}
	c := newConsole()
	if status := execute(t.Context(), []string{"threads", "--pid", strconv.Itoa(program.Process.Pid), "--json"}, c.world()); status != exitDone {
		t.Fatalf("status %d: %s", status, c.err.String())
	}
	var d report.Dump
	if err := json.Unmarshal(c.out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.Counts.Blocked != 3 || len(d.Blockers) != 1 || d.Blockers[0].TID == 0 || d.Blockers[0].Blocks != 3 {
		t.Fatalf("%+v, blockers %s; want one thread that blocks three", d.Counts, c.out.String())
	}
	for _, th := range d.Threads {
		if th.TID == d.Blockers[0].TID && (th.State != "waiting" || !inStack(th, "hold")) {
			t.Errorf("the holder is %s (%s) in %+v, want it asleep in hold", th.State, th.Cause, th.Stack)
		}
		if th.State == "blocked" && (!inStack(th, "want") || inStack(th, "hold")) {
			t.Errorf("a thread is blocked in %+v, want it in want alone", th.Stack)
		}
	}
}

func inStack(t *report.DumpThread, function string) bool {
	for _, f := range t.Stack {
		if f.Full == function || strings.HasSuffix(f.Full, "."+function) {
			return true
		}
	}
	return false
}
