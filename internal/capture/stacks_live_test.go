//go:build linux && (amd64 || arm64)

package capture

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
)

// stackLog is a Sink that keeps the stacks as texts of their frames in the program's own code, from the innermost
// frame on, such as "blocked nap stacks.py:17 < hold stacks.py:13".
type stackLog struct {
	session *Session
	own     string // source file, or executable, whose frames are shown

	mu     sync.Mutex
	events []recording.Event
	frames map[recording.FrameID]*recording.Frame
	stacks map[recording.StackID]*recording.Stack
	texts  map[recording.StackID]string
	seen   map[string]*recording.StackAt
	total  int64 // stacks taken
}

func newStackLog(own string) *stackLog {
	return &stackLog{own: own, frames: map[recording.FrameID]*recording.Frame{},
		stacks: map[recording.StackID]*recording.Stack{}, texts: map[recording.StackID]string{}, seen: map[string]*recording.StackAt{}}
}

// Write implements Sink.
func (s *stackLog) Write(e recording.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	switch f := e.Fact.(type) {
	case *recording.Frame:
		s.frames[f.ID] = f
	case *recording.Stack:
		s.stacks[f.ID] = f
	case *recording.StackAt:
		s.total++
		s.seen[f.Origin.String()+" "+s.text(f.Stack)] = f
	}
	return nil
}

// Flush implements Sink.
func (s *stackLog) Flush() error { return nil }

func (s *stackLog) text(stack recording.StackID) string {
	if text, ok := s.texts[stack]; ok {
		return text
	}
	var parts []string
	for id := stack; id != recording.NoStack; id = s.stacks[id].Caller {
		f := s.frames[s.stacks[id].Frame]
		switch s.own {
		case filepath.Base(f.File):
			parts = append(parts, fmt.Sprintf("%s %s:%d", f.Function, s.own, f.Line))
		case f.Module:
			parts = append(parts, f.Function)
		}
	}
	s.texts[stack] = strings.Join(parts, " < ")
	return s.texts[stack]
}

// find returns a stack that was seen and begins with the text, or nil.
func (s *stackLog) find(text string) *recording.StackAt {
	s.mu.Lock()
	defer s.mu.Unlock()
	for seen, at := range s.seen {
		if strings.HasPrefix(seen, text) {
			return at
		}
	}
	return nil
}

// await waits until all these stacks have been seen.
func (s *stackLog) await(t testing.TB, wants ...string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(wants) > 0; time.Sleep(20 * time.Millisecond) {
		for len(wants) > 0 && s.find(wants[0]) != nil {
			wants = wants[1:]
		}
		if time.Now().After(deadline) {
			break
		}
	}
	if len(wants) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for seen := range s.seen {
		t.Log("seen: ", seen)
	}
	t.Fatalf("not seen: %q", wants)
}

// recordStacks watches a process from now on; the returned function ends the recording, checks it and returns it.
func recordStacks(t testing.TB, pid int, own string, opts Stacks) (log *stackLog, stop func() *recording.Recording) {
	t.Helper()
	s, err := Open(Options{Stacks: opts})
	if errors.Is(err, ErrNotPermitted) {
		t.Skip("SKIPPED-NO-BPF: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Watch(pid); err != nil {
		t.Fatal(err)
	}
	if why := s.Stats().NoStacks; why != "" {
		t.Fatal(why)
	}
	log = newStackLog(own)
	log.session = s
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, log) }()
	return log, func() *recording.Recording {
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		return log.recording(t)
	}
}

// recording returns what was written, as a reader sees it, after validation.
func (s *stackLog) recording(t testing.TB) *recording.Recording {
	t.Helper()
	var text strings.Builder
	if err := recording.FormatText(&text, &recording.Recording{Events: s.events}); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Load(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range recording.Validate(rec) {
		t.Error(problem)
	}
	return rec
}

func TestStacksOfJava(t *testing.T) {
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("there is no java here")
	}
	service := start(t, 0, "java", "testdata/stacks/Stacks.java")
	log, stop := recordStacks(t, service.Process.Pid, "Stacks.java", DefaultStacks())
	log.await(t,
		"blocked void Stacks.nap() Stacks.java:12 < void Stacks.hold() Stacks.java:7",
		"blocked void Stacks.want() Stacks.java:16",
		"on-cpu double Stacks.burn(int) Stacks.java:2") // for compiled code the line is approximate
	fmt.Fprintln(service.stdin)
	log.await(t, "blocked void Stacks.late() Stacks.java:32") // by a thread that did not exist before
	stop()
}

func TestStacksOfPython(t *testing.T) {
	service := start(t, 0, python(t), "testdata/stacks/stacks.py")
	log, stop := recordStacks(t, service.Process.Pid, "stacks.py", DefaultStacks())
	log.await(t,
		"blocked nap stacks.py:17 < hold stacks.py:13 < forever stacks.py:42",
		"blocked Waiter.want stacks.py:22",
		"on-cpu burn stacks.py:29 < Waiter.want stacks.py:23")
	fmt.Fprintln(service.stdin)
	log.await(t, "blocked late stacks.py:33", "blocked child stacks.py:37")
	rec := stop()

	owner := map[recording.ThreadID]recording.ProcessID{}
	for _, f := range all[*recording.Thread](rec) {
		owner[f.ID] = f.Process
	}
	parent, child := owner[log.find("blocked late").Thread], owner[log.find("blocked child").Thread]
	if parent == recording.NoProcess || child == recording.NoProcess || parent == child {
		t.Errorf("the child's stack is that of process %d, the parent's that of %d", child, parent)
	}
}

// keepWriting writes to a program, more slowly than it reads, until the test ends.
func keepWriting(t *testing.T, p program) {
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				fmt.Fprintln(p.stdin)
			}
		}
	}()
}

func TestStacksOfNode(t *testing.T) {
	service := start(t, 0, "node", "testdata/stacks/stacks.js")
	log, stop := recordStacks(t, service.Process.Pid, "stacks.js", DefaultStacks())
	keepWriting(t, service)
	want := []string{"blocked readPipe stacks.js:14", "on-cpu compute stacks.js:"} // for optimised code the line is approximate
	if out, err := exec.Command("node", "--version").Output(); err == nil && !strings.HasPrefix(string(out), "v18.") {
		want = append(want, "on-cpu <anonymous> stacks.js:23 < search stacks.js:23") // beneath V8's own map, in a test of its own; not seen with Node 18
	}
	log.await(t, want...)
	stop()
}

func TestStacksOfGo(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "gostacks")
	if out, err := exec.Command("go", "build", "-o", binary, "./testdata/gostacks").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	service := start(t, 0, binary)
	log, stop := recordStacks(t, service.Process.Pid, "main.go", DefaultStacks())
	keepWriting(t, service)
	const reads, burns = "blocked main.readPipe main.go:18 < main.main main.go:31", "on-cpu main.burn main.go:11 < main.main.func1"
	log.await(t, reads, burns)
	stop()
	reader, burner := log.find(reads).Goroutine, log.find(burns).Goroutine
	if reader != 1 || burner <= 1 {
		t.Errorf("main is goroutine %d, want 1; the other %d, want another", reader, burner)
	}
	for seen := range log.seen {
		if strings.HasPrefix(seen, "blocked") && !strings.HasPrefix(seen, "blocked main.readPipe") {
			t.Errorf("a thread without goroutine counts as blocked: %s", seen)
		}
	}
}

// Native code is named by its symbols. Without a symbol it is named by its position, never by a nearby symbol.
func TestStacksOfNativeCode(t *testing.T) {
	for name, wants := range map[string][]string{
		"symbols":  {"blocked nap < hold < holder", "blocked hold < holder", "on-cpu burn < main"},
		"stripped": {"blocked stripped+0x", "on-cpu stripped+0x"},
	} {
		binary := filepath.Join(t.TempDir(), name)
		args := []string{"-O1", "-o", binary, "testdata/stacks/stacks.c", "-lpthread"}
		if name == "stripped" {
			args = append(args, "-s")
		}
		if out, err := exec.Command("cc", args...).CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
			t.Skip("there is no C compiler here")
		} else if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		service := start(t, 0, binary)
		log, stop := recordStacks(t, service.Process.Pid, name, DefaultStacks())
		keepWriting(t, service)
		log.await(t, wants...)
		stop()
		for seen := range log.seen {
			if name == "stripped" && strings.Contains(seen, " _") {
				t.Errorf("code without symbols has a name: %s", seen)
			}
		}
	}
}
