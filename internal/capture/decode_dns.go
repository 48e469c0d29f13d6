//go:build linux && (amd64 || arm64)

package capture

import (
	"github.com/getdwell/dwell/internal/protocol"
	"github.com/getdwell/dwell/recording"
)

// repeatWithin is the time, in ns, within which an identical query counts as the same one: a call that sends several
// datagrams shows each of them several times. A resolver that retries waits longer.
const repeatWithin = 20_000_000

type lookupKey struct {
	thread recording.ThreadID
	part   recording.DNSPart
	id     int64
	name   string
	kind   string
}

type lookups struct {
	seen map[lookupKey]recording.Time
}

// isRepeat reports whether a datagram was seen just before, and remembers it.
func (l *lookups) isRepeat(f *recording.DNS, t recording.Time) bool {
	key := lookupKey{f.Thread, f.Part, f.ID, f.Name, f.Type}
	before, ok := l.seen[key]
	l.seen[key] = t
	return ok && t.Sub(before) < repeatWithin
}

func (l *lookups) forget(now recording.Time) {
	for key, t := range l.seen {
		if now.Sub(t) > repeatWithin {
			delete(l.seen, key)
		}
	}
}

func (d *decoder) datagram(e *probesDatagramEvent, data []byte) {
	f, ok := protocol.DNS(data)
	if !ok {
		return
	}
	f.Thread = d.actor(&e.H)
	t := recording.Time(e.H.Ts)
	if f.Part == recording.DNSQuery && d.lookups.isRepeat(&f, t) {
		return
	}
	if e.Addr.PeerPort != 0 {
		f.Server = endpoint(e.Addr.Family, e.Addr.Peer, e.Addr.PeerPort)
	}
	f.Arrived = recording.Time(e.Arrived)
	d.emit(t, &f)
}
