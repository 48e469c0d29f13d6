//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
	"golang.org/x/sys/unix"
)

// tearoom answers each request after a short sleep in the function brew.
const tearoom = `
import http.server, time
def brew():
    time.sleep(0.03)
class Tea(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        brew()
        self.send_response(204)
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.HTTPServer(("127.0.0.1", 8080), Tea)
print("ready", flush=True)
server.serve_forever()
`

// contain starts a program in the control group $1, in pid, mount, network, IPC and host name namespaces of its own.
// Its root is this machine's root under an overlay.
const contain = `
echo $$ > "$1/cgroup.procs"
exec unshare --kill-child --fork --pid --mount --net --uts --ipc sh -c '
	set -e
	mount -t tmpfs tmpfs "$2" && mkdir "$2/upper" "$2/work" "$2/root"
	mount -t overlay overlay -o lowerdir=/,upperdir="$2/upper",workdir="$2/work" "$2/root"
	mount -t proc proc "$2/root/proc"
	cp "$3" "$2/root/tearoom.py"
	ip link set lo up
	exec chroot "$2/root" python3 /tearoom.py
' sh "$@"
`

// controlGroups returns the mount point of the hierarchy that systemd uses, or would use.
func controlGroups(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var unified string
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		switch {
		case strings.HasSuffix(strings.TrimSpace(line), ",name=systemd"):
			return fields[4]
		case strings.Contains(line, " - cgroup2 "):
			unified = fields[4]
		}
	}
	if unified == "" {
		t.Skip("SKIPPED: no hierarchy of control groups that a unit could be in")
	}
	return unified
}

// startContained starts the tearoom as a runtime would, in the group of a unit and of a container. It returns the pid
// of the process that holds its namespaces.
func startContained(t *testing.T, unit, id string) int {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(t.TempDir(), "tearoom.py")
	if err := os.WriteFile(script, []byte(tearoom), 0o644); err != nil {
		t.Fatal(err)
	}
	outer := filepath.Join(controlGroups(t), unit)
	group := filepath.Join(outer, "docker-"+id+".scope")
	if err := os.MkdirAll(group, 0o755); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	service := exec.Command("sh", "-c", contain, "sh", group, dir, script)
	service.Stderr = os.Stderr
	out, err := service.StdoutPipe()
	if err == nil {
		err = service.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		service.Process.Kill() // which also ends what it started: --kill-child
		service.Wait()
		for until := time.Now().Add(10 * time.Second); os.Remove(group) != nil && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond) // the last process leaves its group shortly after it ends
		}
		os.Remove(outer)
	})
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Skip("SKIPPED: no container could be made: see above")
	}
	return service.Process.Pid
}

// within runs do in the network namespace of a child of a process.
func within(t *testing.T, parent int, do func()) {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	if err != nil {
		t.Fatal(err)
	}
	child, _, _ := strings.Cut(string(children), " ")
	space, err := os.Open("/proc/" + child + "/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := unix.Setns(int(space.Fd()), syscall.CLONE_NEWNET); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}

// A service in namespaces of its own, on an overlay, is chosen by its unit and by the beginning of its container's
// id. Each request is counted, the code in which it waits is named, and the recording says how it was chosen.
func TestLiveAttachToAContainer(t *testing.T) {
	needBPF(t)
	for _, tool := range []string{"python3", "unshare", "ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: no %s", tool)
		}
	}
	const count = 60
	unit, id := fmt.Sprintf("dwell-test-%d.service", os.Getpid()), fmt.Sprintf("%064x", os.Getpid()|0xd3e1<<40)
	id = id[40:] + id[:40]
	service := startContained(t, unit, id)
	for _, choice := range [][]string{{"--unit", unit, "attach by unit " + unit}, {"--container", id[:16], "attach by container " + id[:12]}} {
		c := newConsole()
		path := filepath.Join(t.TempDir(), "rec")
		attached := c.start(t, "attach", choice[0], choice[1], "--windows", "off", "-o", path)
		within(t, service, func() {
			for range count {
				if answer, err := exchange("127.0.0.1:8080"); err != nil || !strings.HasPrefix(answer, "HTTP/1.0 204") {
					t.Errorf("%q, %v", answer, err)
				}
			}
		})
		if s := attached.end(); s != exitDone && s != exitUndecided { // so few similar requests need not decide anything
			t.Fatalf("status %d: %s", s, c.err.String())
		}
		if r := diagnosisOf(t, path); r.Requests.Count != count {
			t.Errorf("%s: %d requests, the client sent %d", choice[0], r.Requests.Count, count)
		}
		tree := newConsole()
		if s := execute(t.Context(), []string{"show", path, "--tree"}, tree.world()); s != exitDone || !strings.Contains(tree.out.String(), "brew") {
			t.Errorf("%s: status %d, the function that requests sleep in is not named:\n%s", choice[0], s, tree.out.String())
		}
		rec, err := readRecording("facts", path)
		if err != nil {
			t.Fatal(err)
		}
		if m := rec.Events[0].Fact.(*recording.Manifest); m.Target != choice[2] {
			t.Errorf("chosen by %q, want %q", m.Target, choice[2])
		}
	}
}

// A process put into a container from outside during recording, as docker exec does, is recorded too, although it is
// not a child of the processes in it.
func TestLiveWhatEntersAContainer(t *testing.T) {
	needBPF(t)
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("SKIPPED: no unshare")
	}
	const address = "127.0.0.1:21490"
	unit, id := fmt.Sprintf("dwell-enters-%d.service", os.Getpid()), fmt.Sprintf("%064x", os.Getpid()|0xe47e5<<40)
	id = id[40:] + id[:40]
	startContained(t, unit, id)
	c := newConsole()
	path := filepath.Join(t.TempDir(), "rec")
	attached := c.start(t, "attach", "--container", id[:16], "--windows", "off", "-o", path)
	group := filepath.Join(controlGroups(t), unit, "docker-"+id+".scope")
	const enter = `sh -c 'echo $$ > "$1/cgroup.procs"; exec python3 -c "$2"' sh "$1" "$2" & echo $!; wait` // not a child of dwell
	visitor := exec.Command("sh", "-c", enter, "sh", group, strings.Replace(tearoom, "8080", "21490", 1))
	pipe, err := visitor.StdoutPipe()
	if err == nil {
		err = visitor.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	var pid int
	if _, err := fmt.Fscanln(out, &pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(pid, syscall.SIGKILL)
		visitor.Wait()
	})
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	for until := time.Now().Add(10 * time.Second); ; {
		if answer, err := exchange(address); err != nil || !strings.HasPrefix(answer, "HTTP/1.0 204") {
			t.Fatalf("%q, %v", answer, err)
		}
		entered, requests := requestsOf(t, path, pid)
		if requests > 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("process %d is number %d, and none of its requests is recorded", pid, entered)
		}
	}
	if s := attached.end(); s != exitDone && s != exitUndecided {
		t.Fatalf("status %d: %s", s, c.err.String())
	}
}

// requestsOf returns a process's id in the recording so far, and how many requests it received.
func requestsOf(t *testing.T, path string, pid int) (entered recording.ProcessID, requests int) {
	t.Helper()
	entered = recording.NoProcess
	rec, err := readRecording("facts", path)
	if errors.Is(err, recording.ErrEmpty) {
		return entered, 0
	}
	if err != nil {
		t.Fatal(err)
	}
	owner := map[recording.ThreadID]recording.ProcessID{}
	chunks := map[recording.ConnID]recording.ProcessID{}
	for _, e := range rec.Events {
		switch f := e.Fact.(type) {
		case *recording.Process:
			if f.PID == int64(pid) {
				entered = f.ID
			}
		case *recording.Thread:
			owner[f.ID] = f.Process
		case *recording.Chunk:
			chunks[f.Conn] = owner[f.Thread]
		case *recording.HTTPRequest:
			if chunks[f.Conn] == entered && entered != recording.NoProcess {
				requests++
			}
		}
	}
	return entered, requests
}
