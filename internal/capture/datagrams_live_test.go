//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"github.com/getdwell/dwell/internal/protocol"
	"github.com/getdwell/dwell/recording"
)

// Telemetry is recorded where it is sent: over UDP and over Unix sockets, connected or not.
func TestTelemetry(t *testing.T) {
	const port = 24530
	dir := t.TempDir()
	statsd, log := filepath.Join(dir, "statsd.sock"), filepath.Join(dir, "log")
	for address, network := range map[string]string{localhost(port): "udp", statsd: "unixgram", log: "unixgram"} {
		c, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	client := start(t, 0, python(t), "testdata/telemetry.py", fmt.Sprint(port), statsd, log)
	l := record(t, client.Process.Pid, Options{})
	fmt.Fprintln(client.stdin)
	client.stdin.Close()
	if err := <-l.done; err != nil { // it ends by itself
		t.Fatal(err)
	}
	l.done <- nil
	rec := l.stop()

	var got []string
	for _, f := range all[*recording.Datagram](rec) {
		if f.Thread == recording.NoThread || f.Bytes == 0 {
			t.Errorf("%+v", f)
		}
		got = append(got, fmt.Sprint(f.Protocol, " ", f.Messages, " to ", f.Peer))
	}
	want := []string{"statsd 2 to 127.0.0.1:24530", "statsd 1 to 127.0.0.1:24530", "statsd 1 to " + protocol.SocketName(statsd), "syslog 1 to " + protocol.SocketName(log)}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A client of a datagram service is waiting for an answer when recording begins: its earlier question is not
// recorded, but the next one is.
func TestWhoWaitsForADatagramAsks(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.LocalAddr().String())
	client := start(t, 0, python(t), "-c", `import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("127.0.0.1", int(sys.argv[1])))
for ask in (b"first", b"second"):
    s.send(ask)
    s.recv(100)`, port)
	var l *live
	for range 2 {
		_, from, err := server.ReadFrom(make([]byte, 100))
		if err != nil {
			t.Fatal(err)
		}
		if l == nil {
			l = record(t, client.Process.Pid, Options{})
		}
		if _, err := server.WriteTo([]byte("answer"), from); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-l.done; err != nil { // it ends by itself
		t.Fatal(err)
	}
	l.done <- nil

	var got []string
	for _, f := range all[*recording.Chunk](l.stop()) {
		got = append(got, fmt.Sprint(f.Dir, " ", f.Bytes))
	}
	if want := []string{"write 6", "read 6"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
