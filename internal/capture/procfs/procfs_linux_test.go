package procfs

import (
	"errors"
	"io"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// helpers starts a helper for this test's own children.
func helpers(t *testing.T, of Watched) {
	t.Helper()
	ours, its, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Serve(its, func() error { return nil }) }()
	if err := Use(ours, of); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		Stop()
		if err := <-ended; err != nil {
			t.Errorf("the helper, when nobody can ask it any more: %v", err)
		}
	})
}

// child starts a process that waits.
func child(t *testing.T) int {
	t.Helper()
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "60"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		p.Wait()
	})
	return p.Pid
}

// The helper answers the supported questions about watched processes, and nothing else: it gives no access to other
// files or other processes.
func TestHelperAnswers(t *testing.T) {
	watched, other := child(t), child(t)
	helpers(t, Watched{PIDs: []int{watched}})
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(watched) + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	span := string(maps[:len("555555554000-555555556000")])
	for _, c := range []struct {
		question
		want error
	}{
		{question{Do: doOpen, PID: watched, Name: "maps"}, nil},
		{question{Do: doOpen, PID: watched, Name: "mem"}, nil},
		{question{Do: doOpen, PID: watched, Name: "exe"}, nil},
		{question{Do: doOpen, PID: watched, Name: "map_files/" + span}, nil},
		{question{Do: doReadlink, PID: watched, Name: "exe"}, nil},
		{question{Do: doIdentify, PID: watched, Name: "ns/net"}, nil},
		{question{Do: doSockets, PID: watched}, nil},
		{question{Do: doOpen, PID: other, Name: "maps"}, unix.EPERM},
		{question{Do: doOpen, PID: 1, Name: "mem"}, unix.EPERM},
		{question{Do: doSockets, PID: other}, unix.EPERM},
		{question{Do: doOpen, PID: watched, Name: "root/etc/shadow"}, unix.EINVAL},
		{question{Do: doOpen, PID: watched, Name: "map_files/../root/etc/shadow"}, unix.EINVAL},
		{question{Do: doOpen, PID: watched, Name: "../1/mem"}, unix.EINVAL},
		{question{Do: doOpen, PID: watched, Name: "fd/0"}, unix.EINVAL},
		{question{Do: doReadlink, PID: watched, Name: "cwd"}, unix.EINVAL},
		{question{Do: "write", PID: watched, Name: "mem"}, unix.EINVAL},
	} {
		a, err := ask(c.question)
		if !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.question, err, c.want)
		}
		if a.file != nil {
			a.file.Close()
		}
	}
}

// A file that it opens can be read, but not written.
func TestFilesAreForReading(t *testing.T) {
	pid := child(t)
	helpers(t, Watched{PIDs: []int{pid}})
	a, err := ask(question{Do: doOpen, PID: pid, Name: "exe"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.file.Close()
	begin := make([]byte, 4)
	if _, err := io.ReadFull(a.file, begin); err != nil || string(begin) != "\x7fELF" {
		t.Errorf("%q, %v", begin, err)
	}
	if _, err := a.file.WriteAt(begin, 0); !errors.Is(err, unix.EBADF) {
		t.Errorf("it can be written: %v", err)
	}
}

// Descendants are watched, including those whose parents have ended since they were seen. A process that reuses the
// number of a watched one is not watched.
func TestWhoIsWatched(t *testing.T) {
	pid := child(t)
	w := watch(Watched{PIDs: []int{os.Getpid()}})
	if w.look(); w.known[pid] == "" || !w.allows(pid) {
		t.Error("a child is not watched")
	}
	if w.allows(os.Getppid()) || w.allows(1) {
		t.Error("a parent is watched")
	}
	if reused := watch(Watched{}); reused.allows(pid) {
		t.Error("a stranger is watched")
	} else if reused.known[pid] = "long ago"; reused.allows(pid) {
		t.Error("a process is watched for the number that another one had")
	}
}

// If the helper has ended, questions fail at once.
func TestHelperEnds(t *testing.T) {
	pid := child(t)
	helpers(t, Watched{PIDs: []int{pid}})
	current.Load().conn.Close()
	if _, err := ask(question{Do: doOpen, PID: pid, Name: "maps"}); err == nil {
		t.Error("a helper that is gone answers")
	}
}
