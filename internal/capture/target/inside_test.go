package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/capture/target/container"
)

// A process that enters a control group, or one below it, is reported once; ignored processes are never reported.
func TestWhoEnteredAGroup(t *testing.T) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	all := hierarchies(string(mounts))
	if len(all) == 0 {
		t.Skip("SKIPPED: no control groups on this machine")
	}
	group := filepath.Join(all[len(all)-1].at, fmt.Sprintf("dwell-enter-%d", os.Getpid()))
	below := filepath.Join(group, "below")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Skipf("SKIPPED: may not make a control group: %v", err)
	}
	t.Cleanup(func() {
		for until := time.Now().Add(10 * time.Second); os.Remove(below) != nil && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond) // the last process leaves its group shortly after it ends
		}
		os.Remove(group)
	})
	alone := 0
	g := gate{dirs: []string{group}, ours: func(pid int) bool { return pid == alone }}
	enter := func(group string) int { // a process that this one did not start itself
		_, line := start(t, "sh", "-c", "sleep 65 >/dev/null & echo $!; wait")
		pid, err := strconv.Atoi(line)
		if err == nil {
			t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
			err = os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(line), 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	asked := func(want ...int) {
		t.Helper()
		if came, err := g.entered(); err != nil || fmt.Sprint(came) != fmt.Sprint(want) {
			t.Errorf("%v, %v; want %v", came, err, want)
		}
	}
	asked()
	asked(enter(group))
	asked(enter(below))
	alone = enter(group)
	asked()
	g.err = errors.New("not to be seen")
	if _, err := g.entered(); err != g.err {
		t.Error(err)
	}
}

// A container that sees only a part of the hierarchy finds what is in that part, and nothing else.
func TestDirectoriesOfGroups(t *testing.T) {
	if dirs, err := groupDirs([]container.Group{{Path: "/no/such/group"}}); err == nil {
		t.Errorf("%v", dirs)
	}
	part := hierarchy{unified: true, root: "/docker/f00", at: "/sys/fs/cgroup"}
	if below := part.below("/docker/f00/web"); below != "/web" || !part.has("") || part.has("cpu") {
		t.Errorf("%s", below)
	}
	if v1 := (hierarchy{controllers: []string{"rw", "cpu", "cpuacct"}}); !v1.has("cpu,cpuacct") || v1.has("cpuset") || v1.has("") {
		t.Error("of version 1")
	}
}
