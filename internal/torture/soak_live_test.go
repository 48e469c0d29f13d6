//go:build linux

package torture

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A recorder that records for long takes no more memory, descriptors or processor at its end than at its
// beginning, and tells of every request. DWELL_SOAK says for how long.
func TestLiveSoak(t *testing.T) {
	dwell := needDwell(t)
	long := 8 * time.Second
	if d, err := time.ParseDuration(os.Getenv("DWELL_SOAK")); err == nil {
		long = d
	}
	service := startService(t)
	asking := startClient(t, address(t, service))
	asking.answers(t, 1)
	path := filepath.Join(t.TempDir(), "rec.dwell")
	cmd, lines := recordAll(t, dwell, service, path)
	defer cmd.Process.Kill()
	go func() { // it goes on saying how it goes
		for lines.Scan() {
		}
	}()
	begun, early := asking.answered.Load(), sampled(t, cmd.Process.Pid, long/4)
	time.Sleep(long / 2)
	late := sampled(t, cmd.Process.Pid, long/4)
	sent := asking.answered.Load() - begun
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the recorder: %v", err)
	}
	told, size := reported(t, dwell, path), fileSize(t, path)
	t.Logf("recorded for %v: of %d requests %d told of, %d cut, %d facts lost; a file of %.1f MB; in the first and the last quarter %s and %s",
		long, sent, told.Requests.Count, told.Requests.Cut, told.Recording.Lost, float64(size)/1e6, early, late)
	if n := asking.failed.Load(); n > 0 {
		t.Errorf("%d requests failed", n)
	}
	if all := told.Requests.Count + told.Requests.Cut; all < sent && told.Recording.Lost == 0 {
		t.Errorf("of %d requests %d are told of, and no loss", sent, all)
	}
	const slack = 16 << 20 // what the runtime of Go may take more or less
	if late.memory > early.memory+early.memory/10+slack {
		t.Errorf("memory grew: %s, then %s", early, late)
	}
	if late.descriptors > early.descriptors+2 {
		t.Errorf("descriptors grew: %s, then %s", early, late)
	}
}

// taken is what a process took during a part of a test.
type taken struct {
	memory      int64 // resident bytes, at the median
	descriptors int
	ticks       int64 // of processors, 10 ms each
	during      time.Duration
}

func (s taken) String() string {
	return fmt.Sprintf("%.0f MB, %d descriptors, %.1f %% of a core", float64(s.memory)/1e6, s.descriptors,
		float64(s.ticks)*1000/float64(s.during.Milliseconds()))
}

func sampled(t *testing.T, pid int, during time.Duration) taken {
	t.Helper()
	s, memory := taken{during: during, ticks: -ticks(t, pid)}, []int64(nil)
	for range 20 {
		time.Sleep(during / 20)
		files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			t.Fatal(err)
		}
		s.descriptors = max(s.descriptors, len(files))
		memory = append(memory, procNumber(t, pid, "statm", 1)*int64(os.Getpagesize()))
	}
	slices.Sort(memory)
	s.memory = memory[len(memory)/2]
	s.ticks += ticks(t, pid)
	return s
}

// ticks are those that a process has run, in user mode and in the kernel.
func ticks(t *testing.T, pid int) int64 {
	return procNumber(t, pid, "stat", 13) + procNumber(t, pid, "stat", 14)
}

// procNumber is one number of a file of /proc; the first of dwell's have no spaces within.
func procNumber(t *testing.T, pid int, file string, at int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.Fields(string(text))[at], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// reportTotals is what a report tells of a recording as a whole.
type reportTotals struct {
	Recording struct {
		Lost int64 `json:"lost"`
	} `json:"recording"`
	Requests struct {
		Count int64 `json:"count"`
		Cut   int64 `json:"cut"`
	} `json:"requests"`
}

func reported(t *testing.T, dwell, path string) (totals reportTotals) {
	t.Helper()
	out, err := exec.Command(dwell, "why", path, "--json").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 3 {
		t.Fatalf("why: %v: %s", err, exit.Stderr)
	}
	if err := json.Unmarshal(out, &totals); err != nil {
		t.Fatal(err)
	}
	return totals
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
