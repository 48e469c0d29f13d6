//go:build linux && (amd64 || arm64)

package capture

import (
	"encoding/binary"
	"errors"

	"github.com/getdwell/dwell/internal/protocol"
	"github.com/getdwell/dwell/recording"
)

// noName stands for a Unix socket without a name: usually the connecting end.
const noName = "@"

// path keeps the name of a Unix socket for the connection that is reported next.
func (d *decoder) path(e *probesPathEvent) { d.paths[e.Id] = unixName(e.Path[:]) }

// unixName returns the name of a Unix socket in the form that may be kept; abstract names begin with NUL, shown as @.
func unixName(raw []int8) string {
	if raw[0] == 0 {
		return protocol.SocketName(noName + cString(raw[1:]))
	}
	return protocol.SocketName(cString(raw))
}

// nameUnix sets the socket names of a connection; only the accepting end has a name.
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

// neverUsed is the age, in ns, at which a connection counts as over if nothing was sent on it: until then it is not
// among the listed open connections.
const neverUsed = 60_000_000_000

// forgetUnix ends the Unix socket connections that are no longer open. The time of closing is not known: it is at the
// earliest the time of the last use.
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

// followUnix finds out which Unix socket connections are over.
func (s *Session) followUnix(sink Sink) error {
	const unixGroup = "unix-ends"
	if !s.has(unixGroup) || !s.decoder.hasUnix() {
		return nil
	}
	if err := s.drain(sink); err != nil { // so that all uses are known
		return err
	}
	ids, err := s.collect(unixGroup)
	if errors.Is(err, errUnentered) { // already noted; unlisted connections may still be open
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
