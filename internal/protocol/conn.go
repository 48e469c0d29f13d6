// Package protocol determines what the first bytes of messages are: HTTP/1 heads, TLS records, DNS messages, FastCGI
// requests, Redis, PostgreSQL and MySQL commands, and StatsD datagrams. Secrets end here: bytes come in, and only
// facts come out. These hold methods, routes, host names, operations from an allow-list, status codes and sizes. The
// package is pure: no clock, no I/O.
package protocol

import (
	"bytes"

	"github.com/getdwell/dwell/recording"
)

const (
	// enoughToTell is the longest prefix needed to distinguish the protocols.
	enoughToTell = 40
	// maxStrange is how many chunks of an unknown protocol are examined. It is large because following a connection
	// may begin in the middle of a long message.
	maxStrange = 256
)

// Conn follows the bytes of one connection. Its memory is bounded: at most about 6 KiB, and below 1 KiB while no head
// is incomplete. With replies held back, or with PostgreSQL's prepared statements, the bound is 60 KiB.
type Conn struct {
	id       recording.ConnID
	client   recording.Direction // the direction in which the client speaks
	protocol recording.Protocol
	start    [2]start
	strange  int
	last     recording.Direction // of the last strange chunk
	http     *httpConn
	tls      *tlsConn
	fcgi     *fastCGI
	dialogue *dialogue
	joined   bool
	frames   int        // chunks of a joined connection that consist of frames of HTTP/2
	asks     *agreement // with a SOCKS proxy, until it is complete
	from     [2]int64   // behind a proxy: where the bytes for and from the target begin
}

// start is the first bytes of a direction while they are too few to decide.
type start struct {
	offset int64
	bytes  []byte
	judged bool // what this side sent at its turn matches no known protocol
}

// NewConn follows the connection id, which side opened.
func NewConn(id recording.ConnID, side recording.Side) *Conn {
	c := &Conn{id: id, client: recording.Read}
	if side == recording.Outbound {
		c.client = recording.Write
	}
	return c
}

// Joined says that bytes went by before the first chunk.
func (c *Conn) Joined() { c.joined = true }

// Protocol returns the protocol that the connection was found to speak so far.
func (c *Conn) Protocol() recording.Protocol { return c.protocol }

// Chunk takes one read or write of size bytes at position offset of its direction. data is the captured beginning of
// it, possibly empty; it is not kept. The returned facts belong to the chunks in which their Offsets lie: a head that
// began in an earlier chunk is returned with the chunk that completes it. The next call reuses the returned slice.
func (c *Conn) Chunk(dir recording.Direction, offset, size int64, data []byte) []recording.Fact {
	if size <= 0 || offset < 0 || offset > maxOffset || size > maxOffset || dir != recording.Read && dir != recording.Write {
		return nil
	}
	data = data[:min(int64(len(data)), size)]
	switch c.protocol {
	case recording.ProtocolUnknown:
		return c.detect(chunk{dir, offset, size, data})
	case recording.ProtocolHTTP1:
		return c.converse(chunk{dir, offset, size, data})
	case recording.ProtocolTLS:
		return c.tls.chunk(chunk{dir, offset, size, data})
	case recording.ProtocolFastCGI:
		return c.fcgi.chunk(chunk{dir, offset, size, data})
	case recording.ProtocolRedis, recording.ProtocolPostgres, recording.ProtocolMySQL:
		return c.speak(chunk{dir, offset, size, data})
	}
	return nil
}

// speak takes a chunk of a protocol of commands and replies. The connection may change to another protocol.
func (c *Conn) speak(k chunk) []recording.Fact {
	facts := c.dialogue.chunk(k)
	if !c.dialogue.ended {
		return facts
	}
	c.protocol = recording.ProtocolOther
	if c.dialogue.secured {
		c.protocol = recording.ProtocolTLS
		c.tls = &tlsConn{id: c.id, client: c.client}
		for dir := range c.tls.start {
			c.tls.start[dir] = c.dialogue.tapes[dir].pos
		}
	}
	c.dialogue = nil
	return append(facts, &recording.ConnProtocol{Conn: c.id, Protocol: c.protocol})
}

// Close returns the facts about a message whose head was still incomplete.
func (c *Conn) Close() []recording.Fact {
	switch {
	case c.http != nil:
		return c.http.close()
	case c.tls != nil:
		return c.tls.close()
	case c.dialogue != nil:
		return c.dialogue.close()
	}
	return nil
}

// maxOffset keeps sums of offsets and lengths within 64 bits.
const maxOffset = 1 << 60

// chunk is one read or write; data is a prefix of it.
type chunk struct {
	dir          recording.Direction
	offset, size int64
	data         []byte
}

func (k chunk) end() int64 { return k.offset + k.size }

// from returns the captured bytes at and after position p.
func (k chunk) from(p int64) []byte {
	if skip := p - k.offset; skip < int64(len(k.data)) {
		return k.data[skip:]
	}
	return nil
}

// detect determines which protocol the connection speaks, and starts its parser.
func (c *Conn) detect(k chunk) []recording.Fact {
	if c.mayAgree(k) {
		return c.agree(k)
	}
	s := &c.start[k.dir]
	if len(s.bytes) > 0 && k.offset == s.offset+int64(len(s.bytes)) {
		k = chunk{k.dir, s.offset, k.size + int64(len(s.bytes)), append(s.bytes, k.data...)}
	}
	s.bytes = nil
	protocol, undecided := guess(k.data, k.dir == c.client)
	if protocol == recording.ProtocolUnknown && k.dir == c.client && c.client == recording.Write {
		protocol, undecided = guessDialogue(k.data)
	}
	if undecided && int64(len(k.data)) == k.size && len(k.data) < enoughToTell {
		s.offset, s.bytes = k.offset, bytes.Clone(k.data)
		return nil
	}
	if protocol == recording.ProtocolUnknown && c.joined && http2Frames(k) {
		if c.frames++; c.frames < http2Chunks {
			return nil
		}
		protocol, undecided = recording.ProtocolHTTP2, false
	}
	if undecided || protocol == recording.ProtocolUnknown {
		c.strange++
		// The very first chunk may belong to a message that began earlier.
		turn := k.offset == c.from[k.dir] && k.dir == c.client || c.strange > 1 && c.last != k.dir
		c.last = k.dir
		s.judged = s.judged || turn && len(k.data) > 0
		if c.strange < maxStrange && !(c.start[0].judged && c.start[1].judged) {
			return nil
		}
		protocol = recording.ProtocolOther
	}
	c.protocol = protocol
	facts := []recording.Fact{&recording.ConnProtocol{Conn: c.id, Protocol: protocol}}
	switch protocol {
	case recording.ProtocolHTTP1:
		c.http = &httpConn{id: c.id, client: c.client}
		return append(facts, c.converse(k)...)
	case recording.ProtocolTLS:
		c.tls = &tlsConn{id: c.id, client: c.client, start: c.from}
		return append(facts, c.tls.chunk(k)...)
	case recording.ProtocolFastCGI:
		c.fcgi = &fastCGI{id: c.id, client: c.client}
		return append(facts, c.fcgi.chunk(k)...)
	case recording.ProtocolRedis, recording.ProtocolPostgres, recording.ProtocolMySQL:
		c.dialogue = &dialogue{id: c.id, client: c.client, joined: c.joined, grammar: grammarOf(protocol)}
		return append(facts, c.speak(k)...)
	}
	return facts
}

func grammarOf(p recording.Protocol) grammar {
	switch p {
	case recording.ProtocolRedis:
		return &redis{}
	case recording.ProtocolPostgres:
		return &postgres{}
	}
	return &mysql{}
}

// guess names the protocol in which a message could begin with b. undecided: more bytes are needed.
func guess(b []byte, fromClient bool) (p recording.Protocol, undecided bool) {
	if len(b) == 0 {
		return recording.ProtocolUnknown, false
	}
	if fromClient && hasPrefix(b, http2Preface) != no {
		return recording.ProtocolHTTP2, hasPrefix(b, http2Preface) == maybe
	}
	if match := startLine(b, fromClient); match != no {
		return recording.ProtocolHTTP1, match == maybe
	}
	if match := recordStart(b); match != no {
		return recording.ProtocolTLS, match == maybe
	}
	if match := fcgiStart(b, true); fromClient && match != no {
		return recording.ProtocolFastCGI, match == maybe
	}
	return recording.ProtocolUnknown, false
}

// guessDialogue names the protocol of commands and replies in which a client's message could begin with b.
func guessDialogue(b []byte) (p recording.Protocol, undecided bool) {
	if m := redisStart(b); m != no {
		return recording.ProtocolRedis, m == maybe
	}
	if m := postgresStart(b); m != no {
		return recording.ProtocolPostgres, m == maybe
	}
	if m := mysqlStart(b); m != no {
		return recording.ProtocolMySQL, m == maybe
	}
	return recording.ProtocolUnknown, false
}

const http2Preface = "PRI * HTTP/2"

// match says whether bytes have a form; maybe: they agree as far as they go.
type match int

const (
	no match = iota
	maybe
	yes
)

func hasPrefix(b []byte, prefix string) match {
	n := min(len(b), len(prefix))
	switch {
	case string(b[:n]) != prefix[:n]:
		return no
	case n < len(prefix):
		return maybe
	}
	return yes
}
