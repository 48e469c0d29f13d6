//go:build linux && (amd64 || arm64)

package capture

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// exchange sends one GET on its own connection, and returns from which port and when.
func exchange(t *testing.T, port int, path string) (local string, sent recording.Time) {
	t.Helper()
	c, err := net.Dial("tcp", localhost(port))
	if err != nil {
		t.Error(err)
		return "", 0
	}
	defer c.Close()
	get(t, c, path, &sent)
	return c.LocalAddr().String(), sent
}

// get sends a GET on an open connection and reads the response.
func get(t *testing.T, c net.Conn, path string, sent *recording.Time) {
	t.Helper()
	*sent = clock()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: example.com\r\n\r\n", path)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Error(err)
		return
	}
	io.Copy(io.Discard, resp.Body)
}

// Fifty requests, eight at a time, each on its own connection and thread:
//
//	client   send---------------------------------recv
//	socket        arrived------read          write
//	thread                      |---sleep---|
func TestThreadedPython(t *testing.T) {
	const port = 21030
	server := start(t, port, python(t), "testdata/server.py", "threaded", fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{})
	sent := map[string]recording.Time{}
	var mu sync.Mutex
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 7 {
				local, at := exchange(t, port, "/orders/list")
				mu.Lock()
				sent[local] = at
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	rec := l.stop()

	requests := all[*recording.HTTPRequest](rec)
	if len(requests) != 56 || len(sent) != 56 {
		t.Fatalf("%d requests recorded, %d connections made; want 56", len(requests), len(sent))
	}
	chunks := map[recording.ConnID][]*recording.Chunk{}
	for _, c := range all[*recording.Chunk](rec) {
		chunks[c.Conn] = append(chunks[c.Conn], c)
	}
	threads := map[recording.ThreadID]bool{}
	for _, c := range all[*recording.Conn](rec) {
		began, ok := sent[c.Peer]
		first := chunks[c.ID][0]
		if !ok || c.Side != recording.Inbound || c.Existing != 0 {
			t.Errorf("not a connection that was made: %+v", c)
		}
		if first.Dir != recording.Read || first.Arrived < began || first.Arrived > first.First {
			t.Errorf("sent at %d, but %+v", began, first)
		}
		threads[first.Thread] = true
	}
	if len(threads) != 56 {
		t.Errorf("%d threads read requests, want one for each of 56", len(threads))
	}
	if requests[0].Route != "/orders/list" || requests[0].Host != "example.com" {
		t.Errorf("%+v", requests[0])
	}
	checkSleeps(t, rec, 56)
	checkReleases(t, rec, 28) // a fast thread is not waited for
	if p := all[*recording.Process](rec); len(p) != 1 || p[0].PID != int64(server.Process.Pid) || p[0].Runtime != recording.RuntimePython {
		t.Errorf("processes: %+v", p)
	}
}

// checkSleeps checks that each handler's sleep appears as time off the CPU in that call, ended by a timer.
func checkSleeps(t *testing.T, rec *recording.Recording, want int) {
	t.Helper()
	slept := map[recording.ThreadID]recording.Duration{}
	for _, o := range all[*recording.Off](rec) {
		if o.Syscall != "clock_nanosleep" {
			continue
		}
		slept[o.Thread] += when(rec, o).Sub(o.Since)
		if o.State == recording.OffSleep && o.Woken != recording.NoTime &&
			(o.Timed != 1 || o.WakerKind != recording.WakerInterrupt) {
			t.Errorf("not ended by a timer: %+v", o)
		}
	}
	total := recording.Duration(0)
	for _, d := range slept {
		total += d
	}
	// Each requests 10 ms, less the time before it calls the kernel.
	if len(slept) != want || total < recording.Duration(want)*5_000_000 {
		t.Errorf("%d threads slept %d ns, want %d for 10 ms each", len(slept), total, want)
	}
}

// checkReleases checks that the first thread, which waits until each new thread signals that it runs, was woken by
// that thread's release of the lock.
func checkReleases(t *testing.T, rec *recording.Recording, want int) {
	t.Helper()
	n := 0
	for _, o := range all[*recording.Off](rec) {
		if o.Thread == 1 && o.WakerKind == recording.WakerThread && o.Release == 1 && o.Syscall == "futex" {
			n++
		}
	}
	if n < want {
		t.Errorf("%d waits of the first thread were ended by a release, want %d at least", n, want)
	}
}

// A connection that is older than the recording is followed from its start on.
func TestExistingConnection(t *testing.T) {
	const port = 21031
	server := start(t, port, python(t), "testdata/server.py", "threaded", fmt.Sprint(port))
	c, err := net.Dial("tcp", localhost(port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var sent [2]recording.Time
	get(t, c, "/before", &sent[0])
	l := record(t, server.Process.Pid, Options{})
	get(t, c, "/first", &sent[0])
	get(t, c, "/second", &sent[1])
	rec := l.stop()

	conns := all[*recording.Conn](rec)
	if len(conns) != 1 || conns[0].Existing != 1 || conns[0].Side != recording.Inbound || conns[0].Peer != c.LocalAddr().String() {
		t.Fatalf("connections: %+v", conns)
	}
	if conns[0].RoundTrip <= 0 {
		t.Error("the kernel's measure of the way to the client and back is not told")
	}
	var reads []*recording.Chunk
	for _, f := range all[*recording.Chunk](rec) {
		if f.Dir == recording.Read {
			reads = append(reads, f)
		}
	}
	if len(reads) != 2 {
		t.Fatalf("%d reads, want 2", len(reads))
	}
	for i, r := range reads {
		if r.Arrived < sent[i] || r.Arrived > r.First {
			t.Errorf("sent at %d, read: %+v", sent[i], r)
		}
	}
	if n := len(all[*recording.HTTPRequest](rec)); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// A client that sends its request and the end of its stream at once.
func TestDataWithFIN(t *testing.T) {
	const port = 21032
	server := start(t, port, python(t), "testdata/server.py", "threaded", fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{})
	c, err := net.Dial("tcp", localhost(port))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "GET /half HTTP/1.1\r\nHost: h\r\n\r\n")
	c.(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, c)
	c.Close()
	rec := l.stop()

	chunks := all[*recording.Chunk](rec)
	last := chunks[len(chunks)-1]
	if last.Dir != recording.Read || last.Bytes != 0 || last.Arrived == recording.NoTime || last.Arrived > last.First {
		t.Errorf("the end of the stream: %+v", last)
	}
	if chunks[0].Bytes == 0 || chunks[0].Arrived == recording.NoTime || last.Offset != chunks[0].Bytes {
		t.Errorf("the request: %+v", chunks[0])
	}
	if closed := all[*recording.Closed](rec); len(closed) != 1 || closed[0].By != recording.ClosedByPeer {
		t.Errorf("closed: %+v", closed)
	}
}

// Node's calls carry the async ids that distinguish them.
func TestNode(t *testing.T) {
	const port, upstream = 21033, 21034
	server := start(t, port, "node", "testdata/server.js", fmt.Sprint(port), fmt.Sprint(upstream))
	l := record(t, server.Process.Pid, Options{Boundaries: true})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() { exchange(t, port, "/front") })
	}
	clients.Wait()
	rec := l.stop()

	// Both ends of the calls to the upstream are in this process: 8 + 8 requests are read, 8 written.
	if n := len(all[*recording.HTTPRequest](rec)); n != 24 {
		t.Errorf("%d requests, want 24", n)
	}
	out := map[recording.ConnID]bool{}
	for _, c := range all[*recording.Conn](rec) {
		if c.Side == recording.Outbound {
			out[c.ID] = true
			if c.Exec == 0 || c.Counter < c.Exec {
				t.Errorf("a connection without async ids: %+v", c)
			}
		}
	}
	if len(out) != 2 {
		t.Errorf("%d connections to the upstream, want the pool's 2", len(out))
	}
	for _, c := range all[*recording.Chunk](rec) {
		if out[c.Conn] && c.Dir == recording.Write && c.Trigger == 0 {
			t.Errorf("a call without a trigger id: %+v", c)
		}
	}
	timers, fired, done, waiters := 0, map[int64]bool{}, map[int64]bool{}, map[int64]int{}
	for _, b := range all[*recording.Boundary](rec) {
		if b.What == "timers" {
			timers++
		}
		if b.What == "resolved" && 0 < b.Exec && b.Exec < b.Counter {
			fired[b.Exec] = true
			waiters[b.Waiter]++
		}
		if b.What == "done" && b.Trigger < b.Exec && b.Exec <= b.Counter {
			done[b.Exec] = true
		}
	}
	if timers < 8 || len(fired) != 8 {
		t.Errorf("timers ran %d times and %d of them resolved promises: want 8 at least, and the 8 of requests", timers, len(fired))
	}
	if len(waiters) != 8 || waiters[0] > 0 {
		t.Errorf("what waits for the promises of 8 requests: %v", waiters)
	}
	if len(done) != 16 {
		t.Errorf("%d callbacks of the thread pool: want 16, a file's and one more for each request", len(done))
	}
}

// A goroutine's id is on its reads, and its new connections name it as the parent of the dialing goroutine.
func TestGo(t *testing.T) {
	const port = 21035
	binary := filepath.Join(t.TempDir(), "goserver")
	if out, err := exec.Command("go", "build", "-o", binary, "./testdata/goserver").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	server := start(t, port, binary, fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{})
	for range 10 {
		exchange(t, port, "/outer")
	}
	exchange(t, port, "/busy") // 20 ms on a CPU
	rec := l.stop()

	readers := map[recording.GoroutineID]bool{}
	for _, c := range all[*recording.Chunk](rec) {
		if c.Goroutine == recording.NoGoroutine {
			t.Errorf("a chunk without a goroutine: %+v", c)
		}
		if c.Dir == recording.Read {
			readers[c.Goroutine] = true
		}
	}
	dialled := 0
	for _, c := range all[*recording.Conn](rec) {
		if c.Side == recording.Outbound {
			dialled++
			if !readers[c.Parent] {
				t.Errorf("dialled for no request: %+v", c)
			}
		}
	}
	if len(all[*recording.Sample](rec)) == 0 {
		t.Error("no goroutine was sampled on a CPU")
	}
	if n := len(all[*recording.HTTPRequest](rec)); dialled != 10 || n != 31 {
		t.Errorf("%d connections made and %d requests, want 10 and 31", dialled, n)
	}
}
