package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The process that makes pages of the recording so far has no rights at all, and a system call filter.
func TestLivePagesOfAPartAreMadeWithoutRights(t *testing.T) {
	needBPF(t)
	held, err := os.Create(filepath.Join(t.TempDir(), "x.dwell"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	m, err := startSoFar(whyOptions{path: held.Name(), held: held})
	if err != nil {
		t.Fatal(err)
	}
	defer m.end()
	if _, err := m.page(); err == nil || !strings.Contains(err.Error(), "no model of a page") {
		t.Fatalf("of nothing yet it made: %v", err) // an answer: it has dropped its rights
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	const nobody = "Uid:\t65534\t65534\t65534\t65534\n"
	for _, line := range []string{nobody, "CapPrm:\t0000000000000000\n", "CapEff:\t0000000000000000\n", "NoNewPrivs:\t1\nSeccomp:\t2\n"} {
		if !strings.Contains(string(status), line) {
			t.Errorf("want %q in\n%s", line, status)
		}
	}
}

// If the user nobody may not execute dwell, the recording works as usual; dwell says that its page waits for the end.
func TestLiveNobodyMakesNoPageOfAPart(t *testing.T) {
	needBPF(t)
	program := filepath.Join(t.TempDir(), "dwell")
	copyTo(t, program, os.Args[0], 0o700)
	dwell := exec.Command(program, "run", "--view", "-o", filepath.Join(t.TempDir(), "x.dwell"), "--", "sleep", "0.1")
	dwell.Env = append(os.Environ(), "BE_DWELL=1")
	said, err := dwell.CombinedOutput()
	if !strings.Contains(string(said), "there is no page before the recording is over: start what makes pages") {
		t.Errorf("%v\n%s", err, said)
	}
}

func copyTo(t *testing.T, to, from string, mode os.FileMode) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}
