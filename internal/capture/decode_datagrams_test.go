//go:build linux && (amd64 || arm64)

package capture

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

// sendEvent is a datagram of thread 100 to a Unix socket, or to 127.0.0.1:8125.
func sendEvent(ts uint64, path, data string) probesSendEvent {
	e := probesSendEvent{H: head(probesEventTypeEVENT_SEND, ts, 100, 1), Bytes: uint64(len(data)), DataLen: uint32(len(data))}
	e.Addr.Family, e.Addr.Peer, e.Addr.PeerPort = 2, [16]byte{127, 0, 0, 1}, 8125
	if path != "" {
		e.Addr.Family = familyUnix
	}
	for i := range path {
		e.Path[i] = int8(path[i])
	}
	return e
}

// Only telemetry datagrams are kept, without any name or value.
func TestDatagrams(t *testing.T) {
	d := watching(t)
	for i, c := range []struct{ path, data string }{
		{"", "shop.orders:1|c\nshop.time:320|ms"},
		{"/run/statsd.sock", "shop.orders:1|c|#user:4711"},
		{"\x00", "shop.orders:1|c"},
		{"/run/user/1000/statsd-7f3a.sock", "shop.orders:1|c"},
		{"/dev/log", "<13>Oct 11 22:14:15 app[1]: signed in"},
		{"", "something else"},
	} {
		feed(d, sendEvent(uint64(2000+i), c.path, c.data), []byte(c.data)...)
	}
	const statsd, syslog = recording.ProtocolStatsD, recording.ProtocolSyslog
	want := []recording.Datagram{
		{Protocol: statsd, Peer: "127.0.0.1:8125", Bytes: 32, Messages: 2},
		{Protocol: statsd, Peer: "/run/statsd.sock", Bytes: 26, Messages: 1},
		{Protocol: statsd, Peer: "@", Bytes: 15, Messages: 1},
		{Protocol: statsd, Peer: "/run/user/{}/{}.sock", Bytes: 15, Messages: 1},
		{Protocol: syslog, Peer: "/dev/log", Bytes: 37, Messages: 1},
	}
	var got []recording.Datagram
	for _, e := range d.out {
		if f, ok := e.Fact.(*recording.Datagram); ok {
			if f.Thread == recording.NoThread {
				t.Errorf("%+v has no thread", f)
			}
			f.Thread = recording.NoThread
			got = append(got, *f)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d datagrams, want %d\n%s", len(got), len(want), facts(d))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}
