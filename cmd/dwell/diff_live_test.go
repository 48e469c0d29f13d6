//go:build linux && (amd64 || arm64)

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/truth/calm"
)

// A program that ends by itself and serves nothing, such as a benchmark, yields a recording that can be compared and
// shown.
func TestLiveDiffOfBenchmarks(t *testing.T) {
	needBPF(t)
	calm.Try(t, func() []string { return diffOfBenchmarks(t, recordedBenchmarks(t)) })
}

// recordedBenchmarks returns recordings of a program that computes and of one whose threads wait.
func recordedBenchmarks(t *testing.T) (paths [2]string) {
	const one = `
import time
end = time.monotonic() + 1
while time.monotonic() < end: sum(range(1000))
`
	const many = `
import threading, time
end = time.monotonic() + 1
lock = threading.Lock()
def work():
    while time.monotonic() < end:
        with lock: time.sleep(0.002)
threads = [threading.Thread(target=work) for _ in range(20)]
for t in threads: t.start()
for t in threads: t.join()
`
	// Not a script that searches for the interpreter first: that has processes of its own.
	python := strings.TrimSpace(output(t, "python3", "-c", "import sys; print(sys.executable)"))
	for i, program := range []string{one, many} {
		path := filepath.Join(t.TempDir(), "rec")
		c := newConsole()
		status := execute(t.Context(), []string{"run", "-o", path, "--", python, "-c", program}, c.world())
		if status != exitDone || !strings.Contains(c.err.String(), "nothing is diagnosed: dwell diff") {
			t.Fatalf("run: status %d, %s", status, c.err.String())
		}
		if _, err := os.Stat(path); err != nil {
			t.Fatal("the recording was not kept: ", err)
		}
		paths[i] = path
	}
	return paths
}

// diffOfBenchmarks returns what is missing in dwell diff's output about them.
func diffOfBenchmarks(t *testing.T, paths [2]string) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	c := newConsole()
	if status := execute(t.Context(), []string{"diff", "--json", paths[0], paths[1]}, c.world()); status != exitDone {
		t.Fatalf("diff: status %d, %s", status, c.err.String())
	}
	var d struct {
		A, B     struct{ Program string }
		Measures []struct {
			What string
			A, B *float64
		}
		Unexercised []struct{ What string }
	}
	if err := json.Unmarshal(c.out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	found := map[string][2]float64{}
	for _, m := range d.Measures {
		if m.A != nil && m.B != nil {
			found[m.What] = [2]float64{*m.A, *m.B}
		}
	}
	if cpu := found["processors in use, mean"]; cpu[0] < 0.3 || cpu[1] > cpu[0]/2 {
		say("processors in use %v, want one computing beside many waiting", cpu)
	}
	if ran := found["threads that ran"]; ran[0] > 10 || ran[1] < 20 {
		say("threads that ran %v, want few and then more than 20", ran)
	}
	var missed []string
	for _, m := range d.Unexercised {
		missed = append(missed, m.What)
	}
	if !strings.Contains(strings.Join(missed, "; "), "wait for a lock") {
		say("A did not exercise %q, want waits for a lock", missed)
	}
	c = newConsole()
	if status := execute(t.Context(), []string{"show", "--folded", paths[0]}, c.world()); status != exitDone || !strings.Contains(c.out.String(), "[on-cpu]") {
		say("show --folded: status %d, %s", status, c.err.String())
	}
	return problems
}

func output(t *testing.T, command ...string) string {
	t.Helper()
	out, err := exec.Command(command[0], command[1:]...).Output()
	if err != nil {
		t.Fatal(command, err)
	}
	return string(out)
}
