//go:build linux

package torture

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A recorder that is stopped holds up nobody. Whatever it could not take meanwhile is counted.
func TestLiveStoppedRecorder(t *testing.T) {
	dwell := needDwell(t)
	service := startService(t)
	asking := startClient(t, address(t, service))
	asking.answers(t, 1)
	path := filepath.Join(t.TempDir(), "rec.dwell")
	cmd, lines := recordAll(t, dwell, service, path)
	defer cmd.Process.Kill()
	begun := asking.answered.Load()
	asking.answers(t, 100)
	cmd.Process.Signal(syscall.SIGSTOP)
	asking.answers(t, 1000)
	cmd.Process.Signal(syscall.SIGCONT)
	asking.answers(t, 100)
	sent := asking.answered.Load() - begun
	cmd.Process.Signal(os.Interrupt)
	for lines.Scan() {
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) && exit.ExitCode() != 3 || err != nil && exit == nil {
		t.Errorf("the recorder: %v", err)
	}
	if n := asking.failed.Load(); n > 0 {
		t.Errorf("%d requests failed while the recorder was stopped", n)
	}
	told := reported(t, dwell, path)
	t.Logf("%d requests while it recorded, %d of them told of, %d cut, %d facts lost", sent, told.Requests.Count, told.Requests.Cut, told.Recording.Lost)
	if told.Requests.Count == 0 || told.Recording.Lost == 0 && told.Requests.Count+told.Requests.Cut < sent*9/10 {
		t.Errorf("of %d requests %d are told of, and no loss", sent, told.Requests.Count)
	}
}
