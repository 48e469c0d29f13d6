//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/truth/calm"
	"github.com/getdwell/dwell/recording"
)

// attachedTo starts a recorder process for a process.
func attachedTo(t *testing.T, pid int, path string) (*exec.Cmd, *bufio.Scanner, func()) {
	t.Helper()
	needBPF(t)
	dwell := exec.Command(os.Args[0], "attach", "--pid", fmt.Sprint(pid), "-o", path)
	dwell.Env = append(os.Environ(), "BE_DWELL=1")
	said, err := dwell.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dwell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dwell.Process.Kill(); dwell.Wait() })
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "recording") {
	}
	return dwell, lines, func() { said.Close() }
}

// What is served in the first second of a recording is in the file before that second is over: the file holds only
// one Clock fact then; the next one follows a second later. The service does almost nothing, so its facts do not fill
// a block.
func TestLiveFirstFactsAreFlushedAtOnce(t *testing.T) {
	service := exec.Command("python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", t.TempDir())
	told, err := service.StdoutPipe()
	if err == nil {
		err = service.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer service.Wait()
	defer service.Process.Kill()
	var port int
	if _, err := fmt.Fscanf(told, "Serving HTTP on 127.0.0.1 port %d", &port); err != nil {
		t.Fatal(err)
	}
	calm.Try(t, func() []string {
		path := filepath.Join(t.TempDir(), "x.dwell")
		dwell, _, _ := attachedTo(t, service.Process.Pid, path)
		defer dwell.Process.Kill()
		for {
			if _, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", port)); err != nil {
				t.Fatal(err)
			}
			rec, err := readRecording("facts", path)
			if err != nil {
				t.Fatal(err)
			}
			count := map[recording.Kind]int{}
			for _, e := range rec.Events {
				count[e.Fact.Kind()]++
			}
			if count[recording.KindHTTPRequest] > 0 && count[recording.KindClock] == 1 {
				return nil
			}
			if count[recording.KindClock] > 1 {
				return []string{fmt.Sprintf("a second has passed, and the file holds %d requests", count[recording.KindHTTPRequest])}
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// The recorder continues until it is told to end, even if the reader of its stderr is gone.
func TestLiveClosedStderrEndsNoRecording(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.dwell")
	dwell, _, closeStderr := attachedTo(t, os.Getpid(), path)
	closeStderr()
	before := clocks(t, path)
	for until := time.Now().Add(30 * time.Second); clocks(t, path) < before+7; time.Sleep(100 * time.Millisecond) { // a status line every 5 s
		if time.Now().After(until) {
			t.Fatal("recording has ended")
		}
	}
	dwell.Process.Signal(syscall.SIGQUIT)
	var exit *exec.ExitError
	if err := dwell.Wait(); errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGQUIT {
		t.Error("it did not end by itself")
	}
	if rec, err := readRecording("facts", path); err != nil || rec.Truncated {
		t.Errorf("the recording is not closed: %v", err)
	}
}

// A full disk ends a recording, and the service that was started for it, like any other end.
func TestLiveFullDiskEndsTheService(t *testing.T) {
	needBPF(t)
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=8k"); err != nil {
		t.Skipf("no small file system can be made: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	c := newConsole()
	status := execute(t.Context(), []string{"run", "-o", filepath.Join(dir, "rec"), "--", "/bin/sh", "-c", "echo $$; while :; do /bin/true; done"}, c.world())
	if status != exitCannot || strings.Count(c.last(), "no space left") != 1 {
		t.Errorf("status %d: %s", status, c.last())
	}
	pid := strings.TrimSpace(c.out.String())
	if _, err := os.Stat("/proc/" + pid); pid == "" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the service, pid %q, goes on: %v", pid, err)
	}
}
