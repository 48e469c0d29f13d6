//go:build linux && (amd64 || arm64)

package capture

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/internal/truth/calm"
	"github.com/getdwell/dwell/recording"
)

// Probes that rest while their process begins to run another program are dropped when they are due again: at their
// offsets that program has other code, which a probe would break.
func TestProbesStayOutOfOtherPrograms(t *testing.T) {
	s, err := Open(Options{})
	if errors.Is(err, ErrNotPermitted) {
		t.Skip("SKIPPED-NO-BPF: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	p := start(t, 0, "sh", "-c", "read word; exec sleep 60")
	before := runs(t, p.Process.Pid, "dash", "bash", "sh")
	var set probeSet
	t.Cleanup(set.detach)
	if err := set.add([]probe{{probeSite{p.Process.Pid, before, entry(t, before)}, s.groups["node-timers"].programs[0]}}); err != nil {
		t.Fatal(err)
	}
	set.detach()
	io.WriteString(p.stdin, "on\n")
	now := runs(t, p.Process.Pid, "sleep", "coreutils", "busybox")
	set.attach()
	if len(set.probes) > 0 || len(set.links) > 0 {
		t.Errorf("there are probes in another program: %+v", set.probes)
	}
	sameCode(t, p.Process.Pid, now)
}

// If a Node process performs so many file operations that reporting each callback would cost it too much, callbacks
// are no longer reported, but promises still are.
func TestCallbacksOfFilesHaveABudget(t *testing.T) {
	const port = 21063
	server := start(t, port, "node", "testdata/files.js", fmt.Sprint(port))
	calm.Try(t, func() []string { // it has the processor that it needs for so many operations
		l := record(t, server.Process.Pid, Options{Boundaries: true})
		time.Sleep(2500 * time.Millisecond)
		rec := l.stop()

		last := map[string]recording.Time{}
		for _, b := range all[*recording.Boundary](rec) {
			last[b.What] = when(rec, b)
		}
		spent := 0
		for _, m := range all[*recording.Missing](rec) {
			if m.What == "thread-pool" {
				spent++
			}
		}
		if last["done"] == 0 || last["resolved"] < last["done"]+recording.Time(time.Second) || last["spent"] != 0 || spent != 1 {
			return []string{fmt.Sprintf("callbacks were last told of at %d, promises at %d (spent: %d), and it is said %d times", last["done"], last["resolved"], last["spent"], spent)}
		}
		return nil
	})
}

// Each message to another thread is reported, and each message from one; the last request for a message finds none.
func TestMessagesOfWorkerThreads(t *testing.T) {
	const port, jobs = 21064, 6
	server := start(t, port, "node", "testdata/worker.js", fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{Boundaries: true})
	for range jobs {
		exchange(t, port, "/work")
	}
	exchange(t, port, "/take")
	rec := l.stop()

	seen := map[string]map[int64]int{}
	for _, b := range all[*recording.Boundary](rec) {
		if b.Port == 0 {
			continue
		}
		if seen[b.What] == nil {
			seen[b.What] = map[int64]int{}
		}
		seen[b.What][b.Port]++
	}
	worker := int64(0)
	for port, n := range seen["posted"] {
		if n == jobs {
			worker = port
		}
	}
	if worker == 0 || seen["messages"][worker] != jobs || seen["message"][worker] != jobs || seen["takes"][worker] != 0 {
		t.Errorf("%d messages were sent to a worker and answered; it is told: %v", jobs, seen)
	}
	if len(seen["takes"]) != 1 {
		t.Errorf("the program asked one port by itself; it is told: %v", seen["takes"])
	}
}

// runs waits until a process runs one of several programs.
func runs(t *testing.T, pid int, names ...string) target.CodeFile {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		p, err := target.Info(pid)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if p.Exe == name {
				file, err := target.ExecutableOf(pid)
				if err != nil {
					t.Fatal(err)
				}
				return file
			}
		}
	}
	t.Fatalf("process %d runs none of %v", pid, names)
	return target.CodeFile{}
}

// entry returns the position in an executable where its code begins to run.
func entry(t *testing.T, in target.CodeFile) uint64 {
	t.Helper()
	f, err := elf.Open(in.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && f.Entry >= p.Vaddr && f.Entry < p.Vaddr+p.Filesz {
			return f.Entry - p.Vaddr + p.Off
		}
	}
	t.Fatalf("%s begins nowhere", in.Path)
	return 0
}

// sameCode checks that the code of an executable is the same in memory and in the file.
func sameCode(t *testing.T, pid int, in target.CodeFile) {
	t.Helper()
	file, err := in.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	exe, err := os.Readlink(in.Path)
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	compared := 0
	for line := range bytes.Lines(maps) {
		var from, to, offset int64
		var perms, device, name string
		var inode int64
		if n, _ := fmt.Sscanf(string(line), "%x-%x %s %x %s %d %s", &from, &to, &perms, &offset, &device, &inode, &name); n < 7 || name != exe || perms[2] != 'x' {
			continue
		}
		want := make([]byte, to-from)
		n, _ := file.ReadAt(want, offset)
		got := make([]byte, n)
		if _, err := memory.ReadAt(got, from); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want[:n]) {
			t.Errorf("the code at %x of %s is not what the file holds", from, exe)
		}
		compared += n
	}
	if compared == 0 {
		t.Errorf("no code of %s was found in memory", exe)
	}
}
