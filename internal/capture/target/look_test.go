package target

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// In one look an executable is identified by its place, and each table of sockets is read once. The next look sees
// what has come since then.
func TestALookReadsWhatProcessesShareOnce(t *testing.T) {
	files := new(Files)
	look := files.Look()
	for range 2 {
		for _, program := range [][]string{{"sleep", "65"}, {"tail", "-f", "/dev/null"}} {
			pid, _ := start(t, "sh", append([]string{"-c", `echo ready; exec "$0" "$@"`}, program...)...)
			path, err := exec.LookPath(program[0])
			if err == nil {
				path, err = filepath.EvalSymlinks(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			for exeName(pid) != filepath.Base(path) { // the shell has to execute it first
			}
			got, err1 := look.executable(pid)
			want, err2 := codeFile(procPath(pid, "exe"))
			if err1 != nil || err2 != nil || got != want {
				t.Errorf("%+v, %v; it runs %+v, %v", got, err1, want, err2)
			}
		}
	}
	listening := func(l *Look) int {
		all, err := l.Listeners(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	listen := func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	}
	listen()
	before := listening(look)
	listen()
	if now, next := listening(look), listening(files.Look()); now != before || next != before+1 {
		t.Errorf("%d listeners, then %d in the same look and %d in the next", before, now, next)
	}
}

// Several deleted files may have had the same name, and an ended process runs nothing.
func TestWhatIsNotToldByItsPlace(t *testing.T) {
	program := t.TempDir() + "/worker"
	sleep, err := os.ReadFile("/bin/sleep")
	if err == nil {
		err = os.WriteFile(program, sleep, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := start(t, "sh", "-c", `echo ready; exec "$0" 65`, program)
	for exeName(pid) != "worker" {
	}
	if _, sure := programOf(pid); !sure {
		t.Error("a file that is there is not sure")
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if at, sure := programOf(pid); sure {
		t.Errorf("%+v is sure", at)
	}
	if at, sure := programOf(1 << 30); sure {
		t.Errorf("no process, and %+v", at)
	}
}
