//go:build linux && (amd64 || arm64)

package capture

import (
	"bytes"
	"slices"

	"github.com/getdwell/dwell/internal/protocol"
	"github.com/getdwell/dwell/recording"
)

const (
	// maxSealings is how many calls of a thread may wait for the write that carries them.
	maxSealings = 16
	// tlsPlain is the maximum number of plain bytes in a record; tlsRecordHead is the length of a record's head.
	tlsPlain, tlsRecordHead = 1 << 14, 5
	// What block ciphers add to a record: an initialisation vector, a tag and padding.
	minBlocks, maxBlocks = 16 + 20 + 1, 16 + 48 + 16
)

// sslKey identifies a connection within a TLS library.
type sslKey struct {
	tgid uint32
	ssl  uint64
}

// sealing is one call that passed bytes to a TLS library for encryption.
type sealing struct {
	key   sslKey
	bytes int64
	data  []byte // the captured part of them
}

// plaintext matches what goes into TLS libraries with the connections on which it leaves. The zero plaintext is ready
// to use.
type plaintext struct {
	waiting map[threadKey][]sealing
	conns   map[sslKey]*conn
	// What the session has to follow up, by tgid.
	secure []uint32 // opened a TLS connection
	forks  []forked
	spent  []uint32 // cost too much
}

// forked is a process and the child that it created.
type forked struct{ parent, child uint32 }

// plainConn is what was passed to a TLS library for one connection.
type plainConn struct {
	key    sslKey
	parser *protocol.Conn
	added  int64    // by encryption to a record's payload
	next   [2]int64 // plain bytes so far; for reads only that there were some
	starts [8]plainStart
	count  int
}

// plainStart says where a call's bytes begin: in the plain text, and on the wire.
type plainStart struct {
	plain, wire int64
	time        recording.Time
}

func (p *plainConn) at(offset int64) (best plainStart) {
	for i := range min(p.count, len(p.starts)) {
		if s := p.starts[i]; s.plain <= offset && s.plain >= best.plain {
			best = s
		}
	}
	return best
}

// sealing records what a thread passes to its TLS library. If the library refuses it, because the socket is full or
// the handshake continues, the thread retries with the same bytes, perhaps at another address.
func (d *decoder) sealing(h *probesHead, e *tlsProbesTlsWriteEvent, data []byte) {
	p := &d.plain
	if p.waiting == nil {
		p.waiting, p.conns = map[threadKey][]sealing{}, map[sslKey]*conn{}
	}
	thread := threadKey{h.Tid, h.Start}
	s := sealing{sslKey{h.Tgid, e.Ssl}, int64(e.Bytes), bytes.Clone(data)}
	list := slices.DeleteFunc(p.waiting[thread], func(o sealing) bool {
		return o.key == s.key && o.bytes == s.bytes && bytes.Equal(o.data, s.data)
	})
	if len(list) >= maxSealings {
		if c := p.conns[list[0].key]; c != nil {
			c.plain = nil // following data would be misread
		}
		list = list[1:]
	}
	p.waiting[thread] = append(list, s)
}

// overTLS takes a chunk of a TLS connection, with the facts about its records.
func (d *decoder) overTLS(c *conn, h *probesHead, f *recording.Chunk, facts []recording.Fact) {
	if !c.secure && c.fact.Side == recording.Outbound {
		c.secure = true
		d.plain.secure = append(d.plain.secure, h.Tgid)
	}
	if f.Dir == recording.Write {
		d.unseal(c, threadKey{h.Tid, h.Start}, f, facts)
	} else {
		d.plainRead(c, f.Bytes)
	}
}

// unseal finds the content of the records of a write: what the same thread passed to its TLS library before. The
// lengths must agree. A connection without a known counterpart is matched with the thread's last call, and stays
// matched.
func (d *decoder) unseal(c *conn, thread threadKey, f *recording.Chunk, facts []recording.Fact) {
	list := d.plain.waiting[thread]
	if len(list) == 0 {
		return
	}
	key, added := list[len(list)-1].key, int64(0)
	if c.plain != nil {
		key, added = c.plain.key, c.plain.added
	} else if other := d.plain.conns[key]; other != nil && other.ended == recording.NoTime {
		return // it belongs to another connection
	}
	for _, fact := range facts {
		r, ok := fact.(*recording.TLS)
		if !ok || r.Record != recording.TLSApplication {
			continue
		}
		for i, s := range list {
			if s.key == key && fits(s.bytes, r.Bytes, added) {
				d.joined(c, thread, i, carried{at: r.Offset, end: f.Offset + f.Bytes, added: r.Bytes - min(s.bytes, tlsPlain), time: f.First})
				return
			}
		}
	}
}

// fits reports whether a record, the first if there are several, may contain so many plain bytes. added is what
// encryption is known to add on the connection, 0 if unknown: stream ciphers always add the same.
func fits(plain, record, added int64) bool {
	more := record - min(plain, tlsPlain)
	switch {
	case added > 0 && added < minBlocks:
		return more == added
	case more >= minBlocks:
		return more <= maxBlocks
	}
	switch more {
	case 1 + 16, 1 + 8: // TLS 1.3: the type and the tag
	case 8 + 16, 16: // TLS 1.2: AES; ChaCha20, or AES with a short tag
	default:
		return false
	}
	return added == 0
}

// carried is a part of a write, starting with a record.
type carried struct {
	at, end int64 // on the wire
	added   int64 // by encryption to each record's payload
	time    recording.Time
}

// joined matches the i-th waiting call of a thread with the beginning of a part of a write, and the next calls on the
// same connection with what follows. It drops earlier calls: they left unseen, or never.
func (d *decoder) joined(c *conn, thread threadKey, i int, w carried) {
	list := d.plain.waiting[thread]
	key := list[i].key
	if c.plain == nil || slices.ContainsFunc(list[:i], func(s sealing) bool { return s.key == key }) {
		d.closePlain(c)
		c.plain = &plainConn{key: key, added: w.added, parser: protocol.NewConn(c.fact.ID, c.fact.Side)}
		d.plain.conns[key] = c
	}
	var rest []sealing
	for k, s := range list {
		switch {
		case s.key != key || k > i && w.at >= w.end:
			rest = append(rest, s)
		case k >= i:
			d.plainWrite(c, s, plainStart{wire: w.at, time: w.time})
			records := (s.bytes + tlsPlain - 1) / tlsPlain
			w.at += s.bytes + records*(tlsRecordHead+w.added)
		}
	}
	d.plain.keep(thread, rest)
}

// plainWrite passes bytes that left at a place to the parser.
func (d *decoder) plainWrite(c *conn, s sealing, at plainStart) {
	p := c.plain
	at.plain = p.next[recording.Write]
	p.starts[p.count%len(p.starts)] = at
	p.count++
	p.next[recording.Write] += s.bytes
	d.foundPlain(c, p.parser.Chunk(recording.Write, at.plain, s.bytes, s.data))
}

func (p *plaintext) keep(thread threadKey, list []sealing) {
	if p.waiting[thread] = list; len(list) == 0 {
		delete(p.waiting, thread)
	}
}

// plainRead tells the parser that the peer sent something: a message of unknown length has ended.
func (d *decoder) plainRead(c *conn, n int64) {
	if p := c.plain; p != nil {
		d.foundPlain(c, p.parser.Chunk(recording.Read, p.next[recording.Read], n, nil))
		p.next[recording.Read] += n
	}
}

// foundPlain writes the heads of requests, and commands, at their places on the wire.
func (d *decoder) foundPlain(c *conn, facts []recording.Fact) {
	if c.fact.Side != recording.Outbound {
		return
	}
	for _, fact := range facts {
		var at plainStart
		switch f := fact.(type) {
		case *recording.HTTPRequest:
			at = c.plain.at(f.Offset)
			f.Offset, f.Route = at.wire, d.routes.Of(f.Route)
		case *recording.Command:
			at = c.plain.at(f.Offset)
			f.Offset = at.wire
		default:
			continue
		}
		d.emit(at.time, fact)
	}
}

// closePlain ends a connection.
func (d *decoder) closePlain(c *conn) {
	if c.plain == nil {
		return
	}
	d.foundPlain(c, c.plain.parser.Close())
	if d.plain.conns[c.plain.key] == c {
		delete(d.plain.conns, c.plain.key)
	}
}

// unsent drops what was passed to a TLS library and can no longer be sent.
func (p *plaintext) unsent(key sslKey) {
	for thread, list := range p.waiting {
		p.keep(thread, slices.DeleteFunc(list, func(s sealing) bool { return s.key == key }))
	}
}

// forget drops what waits in threads that have ended.
func (p *plaintext) forget(threads map[threadKey]*thread) {
	for key := range p.waiting {
		if t := threads[key]; t == nil || t.ended != recording.NoTime {
			delete(p.waiting, key)
		}
	}
}
