//go:build linux && (amd64 || arm64)

package capture

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/truth/names"
	"github.com/getdwell/dwell/recording"
)

// glibc sends the queries for both address families in one call, and each of them is recorded once.
func TestLookup(t *testing.T) {
	const server = "127.0.0.91"
	served, err := names.Serve(server, func() time.Duration { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	config := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(config, []byte("nameserver "+server+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// In its own mount namespace, with its own resolver configuration.
	within := names.Within(config, python(t)+" testdata/server.py resolve 0")
	client := start(t, 0, within...)
	l := record(t, client.Process.Pid, Options{})
	fmt.Fprintln(client.stdin)
	client.stdin.Close()
	if err := <-l.done; err != nil { // it ends by itself
		t.Fatal(err)
	}
	l.done <- nil
	rec := l.stop()

	seen := map[string]int{}
	var asked recording.Time
	for _, d := range all[*recording.DNS](rec) {
		seen[d.Part.String()+" "+d.Type+" "+d.Addrs]++
		if d.Name != "db.dwell.test" || d.Server != server+":53" || d.Thread == recording.NoThread {
			t.Errorf("%+v", d)
		}
		if d.Part == recording.DNSQuery {
			asked = when(rec, d)
		} else if d.Arrived < asked || d.Arrived > when(rec, d) {
			t.Errorf("asked at %d, answered at %d, read at %d", asked, d.Arrived, when(rec, d))
		}
	}
	for _, want := range []string{"query A ", "query AAAA ", "answer A 127.0.0.1", "answer AAAA "} {
		if seen[want] != 1 {
			t.Errorf("%q was seen %d times, want once; all: %v", want, seen[want], seen)
		}
	}
}

// Go's listeners use Multipath TCP if the kernel allows it. If the client supports it too, data is read from a socket
// whose handshake is not seen.
func TestMultipathTCP(t *testing.T) {
	const port = 21036
	binary := filepath.Join(t.TempDir(), "goserver")
	if out, err := exec.Command("go", "build", "-o", binary, "./testdata/goserver").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	server := start(t, port, binary, fmt.Sprint(port))
	l := record(t, server.Process.Pid, Options{})
	var d net.Dialer
	d.SetMultipathTCP(true)
	c, err := d.DialContext(context.Background(), "tcp", localhost(port))
	if err != nil {
		t.Fatal(err)
	}
	if multipath, err := c.(*net.TCPConn).MultipathTCP(); err != nil || !multipath {
		t.Skip("this kernel does not speak Multipath TCP")
	}
	var sent, again recording.Time
	get(t, c, "/inner", &sent)
	get(t, c, "/inner", &again)
	c.Close()
	rec := l.stop()

	if conns := all[*recording.Conn](rec); len(conns) != 1 || conns[0].Existing != 0 || conns[0].Side != recording.Inbound {
		t.Fatalf("connections: %+v", conns)
	}
	var arrivals []recording.Time
	for _, f := range all[*recording.Chunk](rec) {
		if f.Dir == recording.Read && f.Bytes > 0 {
			arrivals = append(arrivals, f.Arrived)
		}
	}
	if len(arrivals) == 0 || arrivals[0] < sent || arrivals[0] > again {
		t.Errorf("sent at %d and %d, arrived at %v", sent, again, arrivals)
	}
	if n := len(all[*recording.HTTPRequest](rec)); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}
