//go:build linux && (amd64 || arm64)

package capture

import (
	"github.com/getdwell/dwell/internal/protocol"
	"github.com/getdwell/dwell/recording"
)

const familyUnix = 1

// send decodes a sent datagram. It keeps only what is recognised as telemetry.
func (d *decoder) send(e *probesSendEvent, data []byte) {
	f, ok := protocol.Telemetry(data, int64(e.Bytes))
	if !ok {
		return
	}
	f.Thread, f.Goroutine = d.actor(&e.H), recording.GoroutineID(e.Goid)
	f.Peer = unixName(e.Path[:])
	if e.Addr.Family != familyUnix {
		f.Peer = endpoint(e.Addr.Family, e.Addr.Peer, e.Addr.PeerPort)
	}
	d.emit(recording.Time(e.H.Ts), &f)
}
