//go:build linux

package torture

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/getdwell/dwell/recording"
)

// phases are those in which a recorder is killed, by the line after which each begins.
func phases() []string { return []string{"loading", "joining", "recording", "ending", "run"} }

// fate is how one recorder ended.
type fate struct {
	phase string
	empty bool          // no block was written
	lost  time.Duration // between the last fact and the kill
}

// A recorder that is killed at any instant leaves nothing in the kernel, a service that goes on answering,
// and a recording for its owner alone that can be read. DWELL_KILLS says how often, DWELL_SEED begins the
// series of instants. Unless DWELL_BESIDE is set, nothing else may load programs meanwhile.
func TestLiveKilledAtAnyInstant(t *testing.T) {
	dwell := needDwell(t)
	count, seed := number("DWELL_KILLS", 10), uint64(number("DWELL_SEED", 1))
	if count < 0 {
		t.Fatal("DWELL_KILLS is negative")
	}
	service := startService(t)
	asking := startClient(t, address(t, service))
	asking.answers(t, 1)
	var fates []fate
	for i := range count {
		kill := &killing{T: t, dwell: dwell, phase: phases()[i%len(phases())], by: rand.New(rand.NewPCG(seed, uint64(i))), beside: os.Getenv("DWELL_BESIDE") != "", name: fmt.Sprintf("seed %d, kill %d", seed, i)}
		fates = append(fates, kill.once(service))
		asking.answers(t, 3)
		if t.Failed() {
			t.Fatalf("%s, when %s", kill.name, kill.phase)
		}
	}
	if n := asking.failed.Load(); n > 0 {
		t.Errorf("%d requests failed, %d were answered", n, asking.answered.Load())
	}
	t.Logf("%d recorders killed, of %d requests %d failed", count, asking.answered.Load()+asking.failed.Load(), asking.failed.Load())
	for _, phase := range phases() {
		t.Log(summary(fates, phase))
	}
}

// number is what a variable of the environment says, or the usual.
func number(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// summary says how those ended that were killed in a phase.
func summary(fates []fate, phase string) string {
	killed, empty := 0, 0
	var lost []time.Duration
	for _, f := range fates {
		switch {
		case f.phase != phase:
			continue
		case f.empty:
			empty++
		default:
			lost = append(lost, f.lost)
		}
		killed++
	}
	if len(lost) == 0 {
		return fmt.Sprintf("%s: %d killed, %d before anything was written", phase, killed, empty)
	}
	slices.Sort(lost)
	return fmt.Sprintf("%s: %d killed, %d before anything was written; lost at the end: %v at the median, %v at the most",
		phase, killed, empty, lost[len(lost)/2].Round(time.Millisecond), lost[len(lost)-1].Round(time.Millisecond))
}

// killing is one recorder, to be killed.
type killing struct {
	*testing.T
	dwell, phase, name string
	by                 *rand.Rand
	beside             bool // other recorders may begin and end meanwhile
}

func (k *killing) once(service *exec.Cmd) fate {
	dir, before := k.TempDir(), inKernel(k.T)
	path := filepath.Join(dir, "rec.dwell")
	args := []string{"attach", "--pid", fmt.Sprint(service.Process.Pid), "-o", path}
	if k.phase == "run" {
		args = []string{"run", "-o", path, "--", os.Args[0]}
	}
	cmd := exec.Command(k.dwell, args...)
	cmd.Env = append(os.Environ(), beService+"="+filepath.Join(dir, "address"))
	said, err := cmd.StderrPipe()
	if err != nil {
		k.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.Fatal(err)
	}
	defer cmd.Process.Kill()
	k.await(cmd, bufio.NewScanner(said), dir)
	killed := recording.Time(now())
	cmd.Process.Signal(syscall.SIGSTOP) // at this instant; what it has is looked at before it ends
	had := heldBy(cmd.Process.Pid)
	if k.phase == "recording" && (len(had["prog"]) == 0 || len(had["map"]) == 0 || len(had["link"]) == 0) {
		k.Errorf("while it records it has %v in the kernel", had)
	}
	cmd.Process.Kill()
	if k.phase == "run" {
		defer k.endOrphan(dir, cmd)
	}
	cmd.Wait()
	k.leftNothing(func(kind string, id uint32) bool {
		return had[kind][id] || !k.beside && !before[kind][id]
	})
	return k.left(dir, path, killed)
}

// await lets pass what comes before the instant.
func (k *killing) await(cmd *exec.Cmd, said *bufio.Scanner, dir string) {
	until := func(begins string) {
		for said.Scan() && !strings.HasPrefix(said.Text(), begins) {
		}
	}
	longest := time.Second
	switch k.phase {
	case "loading":
	case "joining":
		until("recording")
	case "recording":
		until("all that can be seen")
		longest = 3 * time.Second
	case "ending":
		until("all that can be seen")
		cmd.Process.Signal(os.Interrupt)
		longest = 200 * time.Millisecond
	case "run":
		until("recording")
		k.whereOrphan(dir)
	}
	time.Sleep(time.Duration(k.by.Int64N(int64(longest)))) // the instant
}

// whereOrphan waits until the service that dwell started says where it listens.
func (k *killing) whereOrphan(dir string) string {
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if text, err := os.ReadFile(filepath.Join(dir, "address")); err == nil && len(text) > 0 {
			return string(text)
		}
	}
	k.Fatal("the service that dwell started does not say where it listens")
	return ""
}

// endOrphan checks that the service that dwell started answers without it, and ends that.
func (k *killing) endOrphan(dir string, parent *exec.Cmd) {
	c := &client{url: "http://" + k.whereOrphan(dir) + "/"}
	if c.ask(); c.failed.Load() > 0 {
		k.Error("the service that dwell started does not answer once dwell is killed")
	}
	for _, pid := range holding(filepath.Join(dir, "address")) {
		if pid != parent.Process.Pid {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// holding are the processes that were given a file as what the service writes its address to.
func holding(file string) (pids []int) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains("\x00"+string(text), "\x00"+beService+"="+file+"\x00") {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// left is what became of the recording.
func (k *killing) left(dir, path string, killed recording.Time) fate {
	f := fate{phase: k.phase, empty: true}
	files, err := os.ReadDir(dir)
	if err != nil {
		k.Fatal(err)
	}
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			k.Fatal(err)
		}
		if file.Name() != "address" && info.Mode() != 0o600 {
			k.Errorf("%s is %v, and not for its owner alone", file.Name(), info.Mode())
		}
	}
	in, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return f
	}
	if err != nil {
		k.Fatal(err)
	}
	defer in.Close()
	rec, err := recording.Load(in)
	if err != nil {
		k.Errorf("the recording: %v", err)
		return f
	}
	last := recording.Time(0)
	for _, e := range rec.Events {
		last = max(last, e.Time)
	}
	f.empty, f.lost = len(rec.Events) == 0, time.Duration(killed-last)
	const most = 5 * time.Second // each second is written once it is over, however busy the machine is
	if !f.empty && k.phase != "ending" && f.lost > most {
		k.Errorf("%v are lost before the kill", f.lost)
	}
	return f
}

// now is the time by the clock of recordings.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}
