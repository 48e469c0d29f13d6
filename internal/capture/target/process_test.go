package target

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

func TestInfo(t *testing.T) {
	pid, _ := start(t, "sh", "-c", "echo ready; kill -STOP $$")
	got, err := Info(pid)
	if err != nil {
		t.Fatal(err)
	}
	if got.PID != pid || got.Parent != os.Getpid() || got.Comm != "sh" || got.Runtime != recording.RuntimeNative {
		t.Errorf("got %+v", got)
	}
	own, err := Info(os.Getpid())
	if err != nil || own.Start > got.Start || own.Runtime != recording.RuntimeGo {
		t.Errorf("this process is %+v (%v), its child %+v", own, err, got)
	}
}

// The reasons why something cannot be watched are distinguished, because each has another remedy.
func TestInfoErrors(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Not yet waited for, so it is a zombie once it has ended.
	zombie := cmd.Process.Pid
	for {
		if s, err := readStat(strconv.Itoa(zombie)); err != nil || s.state == 'Z' {
			break
		}
	}
	if _, err := Info(zombie); !errors.Is(err, ErrZombie) {
		t.Errorf("zombie: %v", err)
	}
	cmd.Wait()
	if _, err := Info(zombie); !errors.Is(err, ErrNoProcess) || !strings.Contains(err.Error(), "--name") {
		t.Errorf("gone: %v", err)
	}
	if s, err := readStat("2"); err == nil && s.flags&kernelThread != 0 {
		if _, err := Info(2); !errors.Is(err, ErrKernelThread) {
			t.Errorf("kernel thread: %v", err)
		}
	}
}

// Without the rights to examine another user's process, the message says so.
func TestNoRights(t *testing.T) {
	err := procError(fmt.Errorf("open: %w", os.ErrPermission))
	if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "sudo") {
		t.Error(err)
	}
}

func TestRuntimes(t *testing.T) {
	programs := []struct {
		want recording.Runtime
		cmd  []string
	}{
		{recording.RuntimePython, []string{"python3", "-c", "print('ready', flush=True); input()"}},
		{recording.RuntimeNode, []string{"node", "-e", "console.log('ready'); setInterval(() => {}, 1000)"}},
		{recording.RuntimeRuby, []string{"ruby", "-e", "puts 'ready'; STDOUT.flush; sleep"}},
		{recording.RuntimeJVM, []string{"java", "testdata/Ready.java"}},
	}
	for _, p := range programs {
		t.Run(p.want.String(), func(t *testing.T) {
			if _, err := exec.LookPath(p.cmd[0]); err != nil {
				t.Skipf("%s is not installed", p.cmd[0])
			}
			cmd := exec.Command(p.cmd[0], p.cmd[1:]...)
			if _, err := cmd.StdinPipe(); err != nil {
				t.Fatal(err)
			}
			pid, line := startCmd(t, cmd)
			if line != "ready" {
				t.Fatalf("printed %q", line)
			}
			// A launcher may run the interpreter as its child.
			tree, err := new(Files).Tree(pid)
			if err != nil {
				t.Fatal(err)
			}
			if got := tree[len(tree)-1]; got.Runtime != p.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestRuntimeByLibraryAndName(t *testing.T) {
	maps := "7f00-7f01 r-xp 00000000 08:01 42    /opt/my app/lib/libpython3.11.so.1.0\n"
	if got := runtimeByLibrary(maps); got != recording.RuntimePython {
		t.Errorf("libpython: %v", got)
	}
	for exe, want := range map[string]recording.Runtime{
		"python3.11": recording.RuntimePython, "nodejs": recording.RuntimeNode, "ruby3.1": recording.RuntimeRuby,
		"nodetool": recording.RuntimeNative, "pythonista": recording.RuntimeNative, "": recording.RuntimeNative,
	} {
		if got := runtimeByName(exe); got != want {
			t.Errorf("%q: %v, want %v", exe, got, want)
		}
	}
}

// A server with two workers, one of which has a child.
func TestTreeAndRoots(t *testing.T) {
	pid, _ := start(t, "sh", "-c", "sleep 61 & sh -c 'sleep 62; true' & echo ready; wait")
	tree, err := new(Files).Tree(pid)
	for err == nil && len(tree) < 4 { // they are still starting
		tree, err = new(Files).Tree(pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tree[1:] {
		t.Cleanup(func() { killPID(p.PID) })
	}
	seen := map[int]bool{}
	for i, p := range tree {
		if seen[p.PID] = true; i > 0 && !seen[p.Parent] {
			t.Errorf("%+v stands before its parent", p)
		}
	}
	if tree[0].PID != pid || len(tree) != 4 {
		t.Errorf("got %+v, want the shell and three others", tree)
	}
	if roots := Roots(tree); len(roots) != 1 || roots[0].PID != pid {
		t.Errorf("roots: %+v", roots)
	}
	if roots := Roots(tree[1:]); len(roots) != 2 {
		t.Errorf("roots of the workers: %+v", roots)
	}
}

func killPID(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}

func TestThreads(t *testing.T) {
	pid, _ := start(t, "sh", "-c", "echo ready; exec sleep 63")
	const clockNanosleep = 230
	// The shell may still have to start sleep, and sleep may still have to begin sleeping.
	for {
		threads, err := Threads(pid)
		if err != nil || len(threads) != 1 {
			t.Fatalf("%+v, %v", threads, err)
		}
		if th := threads[0]; th.Syscall == clockNanosleep && th.State == 'S' {
			if th.TID != pid || th.Name != "sleep" {
				t.Errorf("got %+v", th)
			}
			return
		}
	}
}

func TestFind(t *testing.T) {
	// Linked under a name that nothing else on this machine has.
	name := fmt.Sprintf("t%d-worker", os.Getpid())
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(sleep, link); err != nil {
		t.Fatal(err)
	}
	pid, _ := start(t, "sh", "-c", `echo ready; exec "$0" 64 # `, link)
	for {
		found, err := Find("^" + name + "$")
		if err == nil && slices.ContainsFunc(found, func(p Process) bool { return p.PID == pid }) {
			break
		}
		if err != nil && !errors.Is(err, ErrNoProcess) {
			t.Fatal(err)
		}
	}
	if found, err := Find("target.test"); err == nil && slices.ContainsFunc(found, func(p Process) bool { return p.PID == os.Getpid() }) {
		t.Error("found itself")
	}
	if _, err := Find("no-such-program-anywhere"); !errors.Is(err, ErrNoProcess) {
		t.Errorf("nothing: %v", err)
	}
	if _, err := Find("("); err == nil {
		t.Error("a bad expression was accepted")
	}
}

// Only names of programs are matched, never the arguments after them.
func TestNames(t *testing.T) {
	for _, c := range []struct{ comm, exe, cmdline, want string }{
		{"python3", "python3.11", "/usr/bin/python3\x00/srv/app/main.py\x00--password\x00secret\x00", "python3 python3.11 python3 main.py"},
		{"puma 6.4", "ruby", "puma 6.4.0 (tcp://0.0.0.0:9292) [shop]\x00\x00\x00", "puma 6.4 ruby puma"},
		{"gone", "", "", "gone"},
	} {
		if got := strings.Join(names(c.comm, c.exe, []byte(c.cmdline)), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.comm, got, c.want)
		}
	}
}

func TestParseStat(t *testing.T) {
	rest := " S 1 2 3 4 5 2097152 7 8 9 10 11 12 13 14 15 16 17 18 1234 20 21"
	got, err := parseStat([]byte("42 (a) b (c)" + rest))
	want := procStat{comm: "a) b (c", state: 'S', parent: 1, flags: kernelThread, start: 12_340_000_000, cpu: 230_000_000}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"", "42 (sh", "42 (sh) S 1", "42 (sh)" + strings.Replace(rest, "1234", "x", 1)} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	if !SameStart(got.start, 12_349_999_999) || SameStart(got.start, 12_350_000_000) {
		t.Error("start times are compared at another resolution than a clock tick")
	}
}

func TestParseSyscall(t *testing.T) {
	for line, want := range map[string]string{
		"running\n": "-1 0", "-1 0x7ffe 0x55\n": "-1 0", "202 0x7f10 0x80 0x0 0x0 0x0 0x0 0x7ffe 0x7f\n": "202 32528", "": "-1 0",
	} {
		nr, arg := parseSyscall(line)
		if got := fmt.Sprint(nr, arg); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}
