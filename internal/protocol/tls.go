package protocol

import (
	"github.com/getdwell/dwell/recording"
)

// Content types of TLS records.
const (
	tlsChangeCipherSpec = 20
	tlsAlert            = 21
	tlsHandshake        = 22
	tlsApplication      = 23

	recordHead = 5
	maxRecord  = 1<<14 + 2048 // payload
	maxHello   = 1800         // kept of a hello while it is incomplete

	// manyRecords is how many records of each direction are reported individually. That exceeds any handshake and
	// what follows it (session tickets). Later records are reported once per chunk.
	manyRecords = 16
)

// recordStart reports whether b could begin a TLS record.
func recordStart(b []byte) match {
	for i, c := range b[:min(len(b), recordHead)] {
		switch {
		case i == 0 && (c < tlsChangeCipherSpec || c > tlsApplication):
			return no
		case i == 1 && c != 3:
			return no
		case i == 2 && c > 4:
			return no
		case i == 3 && int(c)<<8 > maxRecord:
			return no
		}
	}
	if len(b) < recordHead {
		return maybe
	}
	if n := int(b[3])<<8 | int(b[4]); n == 0 || n > maxRecord {
		return no
	}
	return yes
}

// tlsConn follows the records of a TLS connection.
type tlsConn struct {
	id      recording.ConnID
	client  recording.Direction
	start   [2]int64 // where TLS begins in each direction
	streams [2]tlsStream
	session []byte // the session id that the client offered; nil: not seen
}

// tlsStream is one direction. The position of a record follows from the lengths of those before it, as long as their
// heads were captured. Otherwise the stream is lost until a chunk begins with a record.
type tlsStream struct {
	seen   bool
	lost   bool
	secret bool   // handshake messages are encrypted from here
	pos    int64  // where the next chunk begins unless bytes were missed
	next   int64  // where the next record begins
	head   []byte // of that record, while it is incomplete
	count  int    // number of records seen
	hello  *recording.TLS
	begun  []byte // captured part of hello's payload
}

// chunk takes the next bytes of either direction.
func (t *tlsConn) chunk(k chunk) []recording.Fact {
	s := &t.streams[k.dir]
	if !s.seen {
		s.seen, s.secret, s.next, s.pos = true, k.offset != t.start[k.dir], k.offset, k.offset
	}
	var facts []recording.Fact
	if f := t.goOn(s, k); f != nil {
		facts = append(facts, f)
	}
	if k.offset != s.pos && (k.offset < s.pos || k.offset > s.next || len(s.head) > 0) {
		s.lost, s.head = true, nil
	}
	if s.lost && recordStart(k.data) == yes {
		s.lost, s.next = false, k.offset
	}
	s.pos = k.end()
	told := false
	for !s.lost && s.next < k.end() {
		f, payload := t.record(s, k)
		if f == nil {
			break
		}
		s.count++
		if f.Record == recording.TLSHandshake && !s.secret {
			s.hello, s.begun = f, payload
			if f = t.finish(s, k); f == nil {
				break
			}
		}
		repeated := f.Record == recording.TLSApplication && told && s.count > manyRecords
		if told = true; !repeated {
			facts = append(facts, f)
		}
	}
	return facts
}

// record reads the head of the record at s.next. It returns the record's fact and the captured part of its payload,
// or nil if the head is incomplete or not captured.
func (t *tlsConn) record(s *tlsStream, k chunk) (*recording.TLS, []byte) {
	rest := k.from(s.next + int64(len(s.head)))
	missing := recordHead - len(s.head)
	s.head = append(s.head, rest[:min(len(rest), missing)]...)
	if len(s.head) < recordHead {
		s.lost = s.next+int64(len(s.head)) != k.end() // the rest was not captured
		if s.lost {
			s.head = nil
		}
		return nil, nil
	}
	head := s.head
	s.head = nil
	if recordStart(head) != yes {
		s.lost = true
		return nil, nil
	}
	f := &recording.TLS{Conn: t.id, Dir: k.dir, Offset: s.next, Bytes: int64(head[3])<<8 | int64(head[4])}
	switch head[0] {
	case tlsHandshake:
		f.Record = recording.TLSHandshake
	case tlsChangeCipherSpec:
		f.Record, s.secret = recording.TLSChangeCipherSpec, true
	case tlsAlert:
		f.Record = recording.TLSAlert
	case tlsApplication:
		f.Record, s.secret = recording.TLSApplication, true
	}
	s.next += recordHead + f.Bytes
	payload := rest[missing:]
	return f, payload[:min(int64(len(payload)), f.Bytes)]
}

// goOn adds the bytes of k to an incomplete hello. It returns the hello if no more of it will be seen.
func (t *tlsConn) goOn(s *tlsStream, k chunk) recording.Fact {
	if s.hello == nil {
		return nil
	}
	if k.offset == s.pos {
		more := k.data[:min(int64(len(k.data)), s.next-k.offset)]
		s.begun = append(s.begun, more[:min(len(more), maxHello-len(s.begun))]...)
	}
	if f := t.finish(s, k); f != nil {
		return f
	}
	return nil
}

// finish classifies the plain handshake record s.hello. It returns nil if the next chunk may contain more of it.
func (t *tlsConn) finish(s *tlsStream, k chunk) *recording.TLS {
	f := s.hello
	payload := f.Offset + recordHead
	whole := payload+int64(len(s.begun)) == k.end() // nothing missed so far
	if whole && k.end() < s.next && len(s.begun) < maxHello && (len(s.begun) == 0 || isHello(s.begun[0])) {
		s.begun = append([]byte(nil), s.begun...) // the memory may belong to the caller
		return nil
	}
	b := s.begun
	s.hello, s.begun = nil, nil
	switch {
	case len(b) == 0:
	case b[0] == clientHello && k.dir == t.client:
		t.clientHello(f, b)
	case b[0] == serverHello && k.dir != t.client:
		t.serverHello(f, b)
	}
	return f
}

// close returns a hello that was still incomplete.
func (t *tlsConn) close() []recording.Fact {
	var facts []recording.Fact
	for dir := range t.streams {
		s := &t.streams[dir]
		if s.hello == nil {
			continue
		}
		// A chunk after a gap: nothing more will come.
		facts = append(facts, t.finish(s, chunk{dir: recording.Direction(dir), offset: s.next, size: 1}))
	}
	return facts
}
