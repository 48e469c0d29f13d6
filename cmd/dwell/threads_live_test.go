//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/truth/calm"
)

// convoy has four threads that want one lock; each sleeps while it holds the lock.
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

// startConvoy starts the program and returns its pid; it ends with the test.
func startConvoy(t *testing.T) string {
	t.Helper()
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
	t.Cleanup(func() {
		stdin.Close() // ends it
		if err := program.Wait(); err != nil {
			t.Error("the program that was looked at: ", err)
		}
	})
	if n, err := stdout.Read(make([]byte, 8)); n == 0 {
		t.Fatal("the program did not start", err)
	}
	return strconv.Itoa(program.Process.Pid)
}

// A running program's threads: those that want a lock wait for its holder, which sleeps in the function that holds
// it.
func TestThreadsOfARunningProgram(t *testing.T) {
	pid := startConvoy(t)
	calm.Try(t, func() (problems []string) {
		c := newConsole()
		if status := execute(t.Context(), []string{"threads", "--pid", pid, "--json"}, c.world()); status != exitDone {
			t.Fatalf("status %d: %s", status, c.err.String())
		}
		var d report.Dump
		if err := json.Unmarshal(c.out.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		if d.Counts.Blocked != 3 || len(d.Blockers) != 1 || d.Blockers[0].TID == 0 || d.Blockers[0].Blocks != 3 {
			return []string{fmt.Sprintf("%+v, blockers %s; want one thread that blocks three", d.Counts, c.out.String())}
		}
		for _, th := range d.Threads {
			if th.TID == d.Blockers[0].TID && (th.State != "waiting" || !inStack(th, "hold")) {
				problems = append(problems, fmt.Sprintf("the holder is %s (%s) in %+v, want it asleep in hold", th.State, th.Cause, th.Stack))
			}
			if th.State == "blocked" && (!inStack(th, "want") || inStack(th, "hold")) {
				problems = append(problems, fmt.Sprintf("a thread is blocked in %+v, want it in want alone", th.Stack))
			}
		}
		return problems
	})
}

func inStack(t *report.DumpThread, function string) bool {
	for _, f := range t.Stack {
		if f.Full == function || strings.HasSuffix(f.Full, "."+function) {
			return true
		}
	}
	return false
}

// dwell watches for a condition: if it never holds, nothing is printed until dwell is interrupted; otherwise the
// first instant at which it holds is printed.
func TestThreadsOfARunningProgramOnACondition(t *testing.T) {
	pid := startConvoy(t)
	var when func(condition string, within time.Duration) string
	when = func(condition string, within time.Duration) string {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		c := newConsole()
		status := execute(ctx, []string{"threads", "--pid", pid, "--for", "1s", "--json", "--when", condition}, c.world())
		if strings.Contains(c.err.String(), errNotBegun.Error()) && within < time.Minute { // the host is busy
			return when(condition, 2*within)
		}
		if status != exitDone {
			t.Fatalf("%s: status %d: %s", condition, status, c.err.String())
		}
		return c.out.String()
	}
	if out := when("blocked>100", 4*time.Second); out != "" {
		t.Errorf("blocked>100 printed %s", out)
	}
	var d report.Dump
	if err := json.Unmarshal([]byte(when("blocked>2", time.Minute)), &d); err != nil {
		t.Fatal(err)
	}
	if d.Counts.Blocked < 3 {
		t.Errorf("blocked>2: %+v", d.Counts)
	}
}
