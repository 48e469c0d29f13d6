package exchange

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

const (
	tlsHeader = 5      // bytes of a record's header
	tls13     = 0x0304 // protocol version
)

// handshake is what the records of a connection show: when the handshake ran, and where application data begins in each
// direction.
type handshake struct {
	from, to recording.Time
	data     [2]int64 // by Direction: first byte of application data
	resumed  recording.Tristate
	version  int64
}

// finishedSize reports whether a record's payload may be TLS 1.3's Finished: a hash of
// 32 or 48 bytes, a header of 4, the content type and the cipher's tag of 16.
func finishedSize(bytes int64) bool { return bytes == 53 || bytes == 69 }

// readHandshake finds the handshake of an outbound connection. In TLS 1.3 everything
// after the hellos looks like application data: the client's first such record is its
// Finished, and what the server sent before reading it belongs to the handshake.
func readHandshake(c *facts.Conn) handshake {
	var h handshake
	version := int64(0)
	for _, r := range c.TLS {
		next := r.Offset + tlsHeader + max(r.Bytes, 0)
		switch r.Record {
		case recording.TLSClientHello:
			if h.from == recording.NoTime {
				h.from = r.At
			}
		case recording.TLSServerHello:
			version, h.resumed = r.Version, r.Resumed
			if version == tls13 {
				h.to = recording.NoTime
			}
		case recording.TLSApplication:
			if version == tls13 && h.to == recording.NoTime && r.Dir == recording.Write && finishedSize(r.Bytes) {
				h.to = r.At
				h.data[recording.Write] = max(h.data[recording.Write], next)
				continue
			}
			if version != tls13 || h.to != recording.NoTime {
				continue
			}
		}
		h.handshakeRecord(r, next, version)
	}
	if h.from == recording.NoTime {
		return handshake{}
	}
	h.to, h.version = max(h.to, h.from), version
	return h
}

// handshakeRecord moves the start of application data behind a handshake record.
func (h *handshake) handshakeRecord(r facts.TLS, next, version int64) {
	if r.Record == recording.TLSAlert || r.Record == recording.TLSOther {
		return
	}
	if h.to != recording.NoTime && version == tls13 {
		return
	}
	if next > h.data[r.Dir] {
		h.data[r.Dir] = next
	}
	if version != tls13 && h.from != recording.NoTime {
		h.to = r.At // of the last handshake record, for now
	}
}

// skipTickets moves the start of the server's application data behind the session tickets of TLS 1.3. These follow the
// server's handshake, and may be read before or with the first answer. If two records of equal size open the stream,
// and more follows before the client sends again, they are tickets, not answers.
func (h *handshake) skipTickets(c *facts.Conn) {
	if h.version != tls13 {
		return
	}
	var after []facts.TLS
	for _, r := range c.TLS {
		if r.Dir == recording.Read && r.Offset >= h.data[recording.Read] && r.Record == recording.TLSApplication {
			after = append(after, r)
		}
		if len(after) == 3 {
			break
		}
	}
	if len(after) < 2 || after[0].Bytes != after[1].Bytes {
		return
	}
	end := after[1].Offset + tlsHeader + after[1].Bytes
	more := recording.NoTime // when the data after the tickets was read
	for _, r := range c.Chunks[recording.Read] {
		if r.End() > end {
			more = r.At
			break
		}
	}
	if more == recording.NoTime || h.sentBetween(c, after[0].At, more) {
		return
	}
	h.data[recording.Read] = end
}

// sentBetween reports whether the client sent a request before from, and again
// between from and to.
func (h *handshake) sentBetween(c *facts.Conn, from, to recording.Time) bool {
	asked := false
	for _, w := range c.Chunks[recording.Write] {
		if w.End() <= h.data[recording.Write] {
			continue
		}
		if asked && w.At > from && w.At < to {
			return true
		}
		asked = asked || w.At <= from
		if w.At >= to {
			break
		}
	}
	return false
}

// buildHandshakes fills in the TLS part of all outbound connections.
func buildHandshakes(t *timeline.Timeline, f *facts.Facts) {
	for i := range f.Conns {
		c := &f.Conns[i]
		if len(c.TLS) == 0 || c.Decl.Side != recording.Outbound {
			continue
		}
		h := readHandshake(c)
		t.Conns[i].TLSFrom, t.Conns[i].TLSTo, t.Conns[i].Resumed = h.from, h.to, h.resumed
	}
}
