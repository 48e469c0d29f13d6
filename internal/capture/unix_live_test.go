//go:build linux && (amd64 || arm64)

package capture

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/protocol"
	"github.com/getdwell/dwell/recording"
)

// A service behind a Unix socket calls another one with an abstract name. One connection exists before recording
// begins; ten more are opened later, one after the other:
//
//	client    send------------------------------------------recv
//	socket         arrived---read
//	service                     ask--------------read  write
//	upstream                       read---answer
func TestUnixSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "service.sock")
	answered := answerUnix(t, "@dwell-test-upstream")
	server := exec.Command(python(t), "testdata/unix.py", path, "@dwell-test-upstream")
	awaitReady(t, server)
	early := dialUnix(t, path)
	sent := map[string]recording.Time{}
	ask := func(c net.Conn, path string) {
		var at recording.Time
		get(t, c, path, &at)
		sent[path] = at
	}
	ask(early, "/before/recording")

	l := record(t, server.Process.Pid, Options{})
	const fresh, existing = 10, 2
	for i := range fresh {
		c := dialUnix(t, path)
		ask(c, fmt.Sprintf("/fresh/%c", 'a'+i))
		c.Close()
	}
	ask(early, "/existing/first")
	ask(early, "/existing/second")
	time.Sleep(2 * tickEvery) // closed connections are detected once a second
	rec := l.stop()

	conns, requests := map[recording.ConnID]*recording.Conn{}, map[recording.ConnID]int{}
	for _, c := range all[*recording.Conn](rec) {
		conns[c.ID] = c
	}
	for _, r := range all[*recording.HTTPRequest](rec) {
		requests[r.Conn]++
		if !strings.HasPrefix(r.Route, "/fresh/") && !strings.HasPrefix(r.Route, "/existing/") {
			t.Errorf("%+v", r)
		}
	}
	closed := map[recording.ConnID]bool{}
	for _, c := range all[*recording.Closed](rec) {
		closed[c.Conn] = true
	}
	var inbound, outbound int
	for id, c := range conns {
		switch c.Side {
		case recording.Inbound:
			inbound += requests[id]
			if c.Local != protocol.SocketName(path) || (c.Existing == 1) != (requests[id] == existing) || closed[id] != (c.Existing == 0) {
				t.Errorf("%d requests, closed: %v, on %+v", requests[id], closed[id], c)
			}
		case recording.Outbound:
			outbound += requests[id]
			if c.Peer != "@dwell-test-upstream" || c.Existing != 0 || c.Thread == recording.NoThread || !closed[id] {
				t.Errorf("%d calls, closed: %v, on %+v", requests[id], closed[id], c)
			}
		}
	}
	if want := fresh + existing; inbound != want || outbound != want {
		t.Errorf("%d requests, %d calls; want %d of each", inbound, outbound, want)
	}
	checkUnixArrivals(t, rec, sent, answered)
}

// checkUnixArrivals checks that requests arrived after they were sent, answers after they were written, and both
// before they were read.
func checkUnixArrivals(t *testing.T, rec *recording.Recording, sent map[string]recording.Time, answered *times) {
	t.Helper()
	undated := 0
	begins := map[recording.ConnID][]recording.Time{} // the earliest time at which each request, or answer, may have arrived
	sides := map[recording.ConnID]recording.Side{}
	for _, c := range all[*recording.Conn](rec) {
		sides[c.ID] = c.Side
	}
	for _, r := range all[*recording.HTTPRequest](rec) {
		if sides[r.Conn] == recording.Inbound {
			begins[r.Conn] = append(begins[r.Conn], sent[r.Route])
		} else {
			begins[r.Conn] = append(begins[r.Conn], answered.of(r.Route))
		}
	}
	for _, c := range all[*recording.Chunk](rec) {
		if c.Dir != recording.Read || c.Bytes == 0 {
			continue
		}
		at := begins[c.Conn][0]
		begins[c.Conn] = begins[c.Conn][1:]
		switch {
		case c.Arrived == recording.NoTime:
			undated++
		case c.Arrived < at || c.Arrived > c.First || c.Last != c.Arrived:
			t.Errorf("sent at %d, but %+v", at, c)
		}
	}
	// One was waiting when its connection became known; and a reader that is awake may read before the sender's
	// event.
	if undated > 4 {
		t.Errorf("%d reads of which it is not known when that had arrived", undated)
	}
}

// times records when something was done, by path.
type times struct {
	mu sync.Mutex
	at map[string]recording.Time
}

func (x *times) of(path string) recording.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.at[path]
}

// answerUnix answers every request on a Unix socket after 2 ms, and records when.
func answerUnix(t *testing.T, name string) *times {
	t.Helper()
	listener, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	answered := &times{at: map[string]recording.Time{}}
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Millisecond)
		answered.mu.Lock()
		defer answered.mu.Unlock()
		answered.at[r.URL.Path] = clock()
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return answered
}

func dialUnix(t *testing.T, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// awaitReady starts a program and waits for its first line.
func awaitReady(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}
