//go:build linux && (amd64 || arm64)

package capture

import (
	"encoding/binary"
	"errors"

	"github.com/getdwell/dwell/internal/protocol"
	"github.com/getdwell/dwell/recording"
)

// noName stands for a Unix socket without a name: the end that connects, as a rule.
const noName = "@"

// path keeps the name of a Unix socket for the connection that is told next.
func (d *decoder) path(e *probesPathEvent) { d.paths[e.Id] = unixName(e.Path[:]) }

// unixName is the name of a Unix socket, as it may be kept; abstract ones begin with NUL, shown as @.
func unixName(raw []int8) string {
	if raw[0] == 0 {
		return protocol.SocketName(noName + cString(raw[1:]))
	}
	return protocol.SocketName(cString(raw))
}

// nameUnix says through which socket a connection is; only who accepts has a name.
func (d *decoder) nameUnix(c *conn, id uint64) {
	name, known := d.paths[id]
	delete(d.paths, id)
	if !known {
		name = noName
	}
	c.unix = true
	c.fact.Local, c.fact.Peer = name, noName
	if c.fact.Side == recording.Outbound {
		c.fact.Local, c.fact.Peer = noName, name
	}
}

// neverUsed is how old, in ns, a connection is that counts as over if nothing was sent on
// it: until then it is not listed among those that are open.
const neverUsed = 60_000_000_000

// forgetUnix ends the connections through Unix sockets that are not among those still
// open. When that was is not told: at the earliest when they were used last.
func (d *decoder) forgetUnix(open map[uint64]bool) {
	for id, c := range d.conns {
		if !c.unix || c.ended != recording.NoTime || open[id] || c.used == recording.NoTime && d.now.Sub(c.began) < neverUsed {
			continue
		}
		c.ended = d.now
		d.closed = append(d.closed, c)
		if !c.declared {
			continue
		}
		d.found(c, c.parser.Close())
		by := recording.ClosedUnknown
		if c.eof {
			by = recording.ClosedByPeer
		}
		d.emit(max(c.began, c.used), &recording.Closed{Conn: c.fact.ID, By: by})
	}
}

// followUnix finds out which connections through Unix sockets are over.
func (s *Session) followUnix(sink Sink) error {
	const unixGroup = "unix-ends"
	if !s.has(unixGroup) || !s.decoder.hasUnix() {
		return nil
	}
	if err := s.drain(sink); err != nil { // what was used is known
		return err
	}
	ids, err := s.collect(unixGroup)
	if errors.Is(err, errUnentered) { // that is said; what is there is not known to be closed
		return nil
	}
	if err != nil {
		s.lacking(unixGroup, err)
		return nil
	}
	open := map[uint64]bool{}
	for ; len(ids) >= 8; ids = ids[8:] {
		open[binary.NativeEndian.Uint64(ids)] = true
	}
	s.decoder.forgetUnix(open)
	return s.write(sink)
}

func (d *decoder) hasUnix() bool {
	for _, c := range d.conns {
		if c.unix && c.ended == recording.NoTime {
			return true
		}
	}
	return false
}
