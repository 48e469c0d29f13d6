//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/getdwell/dwell/recording"
)

// eventually waits until cond holds; it fails the test after ten seconds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !cond(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
	}
}

// A child that is forked later serves on its parent's socket.
func TestForkedChild(t *testing.T) {
	const port = 21040
	server := start(t, port, python(t), "testdata/server.py", "prefork", fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{})
	fmt.Fprintln(server.stdin)
	exchange(t, port, "/child")
	rec := l.stop()

	processes := all[*recording.Process](rec)
	if len(processes) != 2 || processes[1].Parent != processes[0].ID {
		t.Fatalf("processes: %+v", processes)
	}
	requests := all[*recording.HTTPRequest](rec)
	if len(requests) != 1 {
		t.Fatalf("requests: %+v", requests)
	}
	owner := map[recording.ThreadID]recording.ProcessID{}
	for _, f := range all[*recording.Thread](rec) {
		owner[f.ID] = f.Process
	}
	for _, c := range all[*recording.Chunk](rec) {
		if owner[c.Thread] != processes[1].ID {
			t.Errorf("not read or written by the child: %+v", c)
		}
	}
}

// A watched shell becomes a server: its program, its threads and its listening socket are recorded from the start,
// and its end ends the recording.
func TestExec(t *testing.T) {
	const port = 21041
	script := fmt.Sprintf("read go; exec %s testdata/server.py threaded %d", python(t), port)
	server := start(t, 0, "sh", "-c", script)
	l := record(t, server.Process.Pid, Options{})
	fmt.Fprintln(server.stdin)
	await(t, port)
	exchange(t, port, "/after/exec")
	eventually(t, "the request is recorded", func() bool { return l.session.Stats().Requests == 1 })
	server.Process.Kill()
	if err := <-l.done; err != nil {
		t.Fatal(err)
	}
	l.done <- nil
	rec := l.stop()

	execs := all[*recording.Exec](rec)
	if len(execs) == 0 || execs[len(execs)-1].Runtime != recording.RuntimePython {
		t.Errorf("programs: %+v", execs)
	}
	if listen := all[*recording.Listen](rec); len(listen) != 1 || listen[0].Port != port || listen[0].Backlog != 128 {
		t.Errorf("listeners: %+v", listen)
	}
	if end := all[*recording.End](rec); len(end) != 1 || end[0].Reason != "target-exit" {
		t.Errorf("end: %+v", end)
	}
	if exits := all[*recording.ProcessExit](rec); len(exits) != 1 {
		t.Errorf("exits: %+v", exits)
	}
}

func TestRefused(t *testing.T) {
	const port = 21042 // nothing listens there
	client := start(t, 0, python(t), "testdata/server.py", "refused", fmt.Sprint(port))
	l := record(t, client.Process.Pid, Options{})
	fmt.Fprintln(client.stdin)
	client.stdin.Close()
	if err := <-l.done; err != nil { // it ends by itself
		t.Fatal(err)
	}
	l.done <- nil
	rec := l.stop()

	conns, closed := all[*recording.Conn](rec), all[*recording.Closed](rec)
	if len(conns) != 1 || conns[0].Peer != localhost(port) || conns[0].Thread == recording.NoThread {
		t.Fatalf("connections: %+v", conns)
	}
	if len(closed) != 1 || closed[0].By != recording.ClosedRefused {
		t.Errorf("closed: %+v", closed)
	}
	if n := len(all[*recording.Established](rec)); n != 0 {
		t.Errorf("%d connections came up, want none", n)
	}
}

// Many small writes yield few facts, and no byte is missing.
func TestBulk(t *testing.T) {
	const port = 21043
	server := start(t, port, python(t), "testdata/server.py", "bulk", fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{})
	c, err := net.Dial("tcp", localhost(port))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "GET /file HTTP/1.1\r\nHost: h\r\n\r\n")
	read, err := io.Copy(io.Discard, c)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	rec := l.stop()

	var written, writes int64
	for _, f := range all[*recording.Chunk](rec) {
		if f.Dir == recording.Write {
			written += f.Bytes
			writes++
		}
	}
	if closed := all[*recording.Closed](rec); len(closed) != 1 || closed[0].By != recording.ClosedByUs || closed[0].Thread == recording.NoThread {
		t.Errorf("not closed once by a thread of ours: %d times", len(closed))
	}
	if written != read || writes > 1024 {
		t.Errorf("%d bytes in %d facts, the client read %d; want the same in far fewer than 2048", written, writes, read)
	}
}

// Losses of a ring that is too small are counted, with their time.
func TestLoss(t *testing.T) {
	const port = 21044
	server := start(t, port, python(t), "testdata/server.py", "threaded", fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{RingBytes: 4096})
	began := clock()
	const clients, each = 8, 50 // more in parallel than the ring holds between two readings
	var burst sync.WaitGroup
	for range clients {
		burst.Go(func() {
			for range each {
				exchange(t, port, "/lossy")
			}
		})
	}
	burst.Wait()
	rec := l.stopLossy()

	lost := int64(0)
	for _, f := range all[*recording.Loss](rec) {
		lost += f.Count
		if f.From < began || when(rec, f) < f.From || f.Count < 1 {
			t.Errorf("not a loss while there was load: %+v", f)
		}
	}
	if lost == 0 || lost != l.session.Stats().Lost {
		t.Errorf("%d events lost by the facts, %d by the status; want the same, and some", lost, l.session.Stats().Lost)
	}
	if n := len(all[*recording.HTTPRequest](rec)); n >= clients*each {
		t.Errorf("all %d requests recorded in spite of the losses", n)
	}
}
