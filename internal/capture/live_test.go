//go:build linux && (amd64 || arm64)

package capture

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
)

// program is a process under test.
type program struct {
	*exec.Cmd
	stdin io.WriteCloser
}

// start runs a program until the test ends, and waits until it listens on port (0: it does not listen).
func start(t testing.TB, port int, argv ...string) program {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // including its children
		cmd.Wait()
	})
	if port != 0 {
		await(t, port)
	}
	return program{cmd, stdin}
}

// python returns the interpreter itself: python3 may be a script that searches for it.
func python(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal("these tests need python3: ", err)
	}
	return strings.TrimSpace(string(out))
}

func await(t testing.TB, port int) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		c, err := net.Dial("tcp", localhost(port))
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing listens on port %d: %v", port, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func localhost(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// live is a recording in progress.
type live struct {
	t       *testing.T
	session *Session
	cancel  context.CancelFunc
	done    chan error
	log     bytes.Buffer
	writer  *recording.Writer
}

// record watches a process from now on; tune may adjust the session first.
func record(t *testing.T, pid int, opts Options, tune ...func(*Session)) *live {
	t.Helper()
	s, err := Open(opts)
	if errors.Is(err, ErrNotPermitted) {
		t.Skip("SKIPPED-NO-BPF: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for _, do := range tune {
		do(s)
	}
	if err := s.Watch(pid); err != nil {
		t.Fatal(err)
	}
	l := &live{t: t, session: s, done: make(chan error, 1)}
	if l.writer, err = recording.NewWriter(&l.log); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	t.Cleanup(cancel)
	go func() { l.done <- s.Run(ctx, l.writer) }()
	return l
}

// stop ends the recording, checks it and returns it.
func (l *live) stop() *recording.Recording {
	l.t.Helper()
	rec := l.stopLossy()
	for _, problem := range recording.Validate(rec) {
		l.t.Error(problem)
	}
	for _, lost := range all[*recording.Loss](rec) {
		l.t.Errorf("lost: %+v", lost)
	}
	l.t.Cleanup(func() {
		if l.t.Failed() {
			var text bytes.Buffer
			recording.FormatText(&text, rec)
			l.t.Log(text.String())
		}
	})
	return rec
}

// stopLossy ends the recording and returns it unchecked.
func (l *live) stopLossy() *recording.Recording {
	l.t.Helper()
	l.cancel()
	if err := <-l.done; err != nil {
		l.t.Fatal(err)
	}
	if err := l.writer.Close(); err != nil {
		l.t.Fatal(err)
	}
	rec, err := recording.Load(&l.log)
	if err != nil {
		l.t.Fatal(err)
	}
	return rec
}

// all lists the facts of one kind.
func all[F recording.Fact](rec *recording.Recording) []F {
	var out []F
	for _, e := range rec.Events {
		if f, ok := e.Fact.(F); ok {
			out = append(out, f)
		}
	}
	return out
}

// when returns the time of a fact.
func when(rec *recording.Recording, f recording.Fact) recording.Time {
	for _, e := range rec.Events {
		if e.Fact == f {
			return e.Time
		}
	}
	return recording.NoTime
}
