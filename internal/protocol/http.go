package protocol

import (
	"bytes"
	"slices"

	"github.com/getdwell/dwell/recording"
)

const (
	// maxHead is how much of a head is kept while it is incomplete.
	maxHead = 2 << 10
	// maxPipelined is how many requests may be unanswered.
	maxPipelined = 64
)

// httpConn follows the messages of an HTTP/1 connection in both directions.
type httpConn struct {
	id       recording.ConnID
	client   recording.Direction
	streams  [2]httpStream
	methods  []string // of requests not yet answered
	last     recording.Direction
	spoken   bool   // last is set
	answered bool   // a final response has begun since the client last spoke
	tunnel   bool   // the connection no longer speaks HTTP
	target   string // what the last CONNECT asked for
	behind   int64  // where the target's bytes begin, once the proxy relays them
	held     *recording.HTTPRequest
	form     bool              // the last head that was cut off belongs to a form
	facts    [2]recording.Fact // memory for the facts of a chunk, unless there are more
}

// httpStream is one direction.
type httpStream struct {
	state streamState
	seen  bool
	pos   int64  // where the next chunk begins unless bytes were missed
	begin int64  // inHead: of the message
	end   int64  // inBody: of the message
	head  []byte // inHead: its captured bytes
}

type streamState int

const (
	atStart streamState = iota // a message begins at pos
	inHead
	inBody // up to end
	// inTurn: the end of the message is not known. It ends at the latest when the other side begins to speak.
	inTurn
)

// chunk takes the next bytes of either direction. The facts are valid until the next call.
func (h *httpConn) chunk(k chunk) []recording.Fact {
	if h.tunnel {
		return nil
	}
	s := &h.streams[k.dir]
	facts := h.release(k, h.facts[:0])
	if s.seen && k.offset != s.pos {
		facts = append(facts, h.gap(k)...)
	}
	s.seen = true
	if s.state == inTurn && h.turned(k.dir) && startLine(k.data, k.dir == h.client) != no {
		s.state = atStart
	}
	if k.dir == h.client && h.turned(k.dir) && h.streams[1-k.dir].state == inTurn {
		h.methods = h.methods[:0] // the outstanding requests were answered unseen, in the middle of a chunk
	}
	final, interim := false, false // heads of this chunk
	for p := k.offset; p < k.end() && !h.tunnel; {
		switch s.state {
		case inBody:
			if p = min(s.end, k.end()); p == s.end {
				s.state = atStart
			}
		case inTurn:
			p = k.end()
		case atStart:
			p = h.begin(k, p)
		case inHead:
			var f recording.Fact
			p, f = h.head(k, p)
			if r, ok := f.(*recording.HTTPResponse); ok && r.Status < 200 && r.Status != 101 {
				interim, f = true, nil // not the final answer
			}
			if f != nil {
				facts, final = append(facts, f), true
			}
		}
	}
	s.pos = k.end()
	pending := interim || s.state == inHead // the final answer, if this was not it
	h.answered = k.dir != h.client && (h.answered || final || !pending)
	h.last, h.spoken = k.dir, true
	return facts
}

// turned reports whether a message may begin because the other side has spoken. An interim response such as 100
// Continue does not give the client the turn: its body follows.
func (h *httpConn) turned(dir recording.Direction) bool {
	return h.spoken && h.last != dir && (dir != h.client || h.answered)
}

// release adds to facts what was waiting for the chunk k: a request held back for the first bytes of its body, and a
// head of the other direction that will not be completed.
func (h *httpConn) release(k chunk, facts []recording.Fact) []recording.Fact {
	if f := h.held; f != nil {
		switch s := &h.streams[h.client]; {
		case k.dir != h.client || k.offset != s.pos:
		case f.Head == 0:
			f.Operation = laterAction(k.data, int64(len(k.data)) == k.size)
		case k.offset == f.Offset+f.Head:
			f.Operation = formAction(k.data, f.Length)
		}
		facts, h.held = append(facts, f), nil
	}
	if h.streams[1-k.dir].state == inHead {
		facts = append(facts, h.cut(1-k.dir)...)
	}
	return facts
}

// close returns everything that is held back.
func (h *httpConn) close() []recording.Fact {
	var facts []recording.Fact
	if h.held != nil {
		facts, h.held = append(facts, h.held), nil
	}
	for _, dir := range []recording.Direction{recording.Read, recording.Write} {
		if h.streams[dir].state == inHead {
			facts = append(facts, h.cut(dir)...)
		}
	}
	return facts
}

// gap handles bytes of a direction that were missed before k. A gap within a body of known length has no effect.
func (h *httpConn) gap(k chunk) []recording.Fact {
	s := &h.streams[k.dir]
	if s.state == inBody && k.offset > s.pos && k.offset <= s.end {
		return nil
	}
	var facts []recording.Fact
	if s.state == inHead {
		facts = h.cut(k.dir)
	}
	s.state = inTurn
	return facts
}

// begin starts a message at p, where one is expected, and returns where to continue.
func (h *httpConn) begin(k chunk, p int64) int64 {
	s := &h.streams[k.dir]
	rest := k.from(p)
	if bytes.HasPrefix(rest, []byte("\r\n")) {
		return p + 2 // an empty line before a message means nothing
	}
	if startLine(rest, k.dir == h.client) == no { // or its beginning was not captured
		s.state = inTurn
		return k.end()
	}
	s.state, s.begin, s.head = inHead, p, nil
	return p
}

// head takes the bytes of a head from position p. It returns where the message's body begins, with the fact, or the
// end of the chunk.
func (h *httpConn) head(k chunk, p int64) (int64, recording.Fact) {
	s := &h.streams[k.dir]
	rest := k.from(p)
	searched := max(0, len(s.head)-3)
	captured := rest
	if len(s.head) > 0 {
		s.head = append(s.head, rest[:min(len(rest), maxHead-len(s.head))]...)
		captured = s.head
	}
	if i := bytes.Index(captured[searched:], []byte("\r\n\r\n")); i >= 0 {
		n := searched + i + 4
		s.head = nil
		return s.begin + int64(n), h.message(k.dir, captured[:n], captured[n:])
	}
	if len(s.head) == 0 {
		s.head = bytes.Clone(rest[:min(len(rest), maxHead)])
	}
	if startLine(s.head, k.dir == h.client) == no {
		s.state, s.head = inTurn, nil
		return k.end(), nil
	}
	if p+int64(len(rest)) == k.end() && len(s.head) < maxHead {
		return k.end(), nil
	}
	facts := h.cut(k.dir)
	if len(facts) == 0 {
		return k.end(), nil
	}
	if f, ok := facts[0].(*recording.HTTPRequest); ok && h.form && f.Operation == "" {
		h.held = f // its body may come in a separate chunk
		return k.end(), nil
	}
	return k.end(), facts[0]
}

// cut ends a head whose end will not be seen, and returns what is known of it.
func (h *httpConn) cut(dir recording.Direction) []recording.Fact {
	s := &h.streams[dir]
	head := s.head
	s.state, s.head = inTurn, nil
	var fact recording.Fact
	if dir == h.client {
		if f, form, ok := parseRequest(head, false); ok {
			f.Conn, f.Offset, h.form = h.id, s.begin, form
			h.sent(f.Method)
			fact = f
		}
	} else if f, ok := parseResponse(head, false, h.method()); ok && (f.Status >= 200 || f.Status == 101) {
		f.Conn, f.Offset = h.id, s.begin
		h.received(f)
		fact = f
	}
	if fact == nil {
		return nil
	}
	return []recording.Fact{fact}
}

// message takes a complete head and sets the state of its direction that follows.
func (h *httpConn) message(dir recording.Direction, head, body []byte) recording.Fact {
	s := &h.streams[dir]
	s.state = inTurn
	if dir != h.client {
		return h.response(head)
	}
	f, form, ok := parseRequest(head, true)
	if !ok {
		return nil
	}
	f.Conn, f.Offset = h.id, s.begin
	h.sent(f.Method)
	if f.Method == "CONNECT" {
		h.target = authority(head)
	} else {
		s.bodyOf(f.Head, f.Length)
	}
	switch {
	case !form || f.Operation != "" || f.Length <= 0:
	case len(body) > 0:
		f.Operation = formAction(body, f.Length)
	default:
		h.held = f // its body is in the next chunk
		return nil
	}
	return f
}

func (h *httpConn) response(head []byte) recording.Fact {
	s := &h.streams[1-h.client]
	known := len(h.methods) > 0
	f, ok := parseResponse(head, true, h.method())
	if !ok {
		return nil
	}
	f.Conn, f.Offset = h.id, s.begin
	switch {
	case f.Status < 200 && f.Status != 101:
		s.state = atStart
		return f
	case known || f.Length == 0:
		s.bodyOf(f.Head, f.Length)
	}
	h.received(f) // otherwise it may answer a HEAD that was not seen, and its end is unknown
	return f
}

// bodyOf sets the state according to the length of the body after a head.
func (s *httpStream) bodyOf(head, length int64) {
	switch {
	case length == 0:
		s.state = atStart
	case length > 0:
		s.state, s.end = inBody, s.begin+head+length
	default:
		s.state = inTurn
	}
}

func (h *httpConn) sent(method string) {
	if len(h.methods) < maxPipelined {
		h.methods = append(h.methods, method)
	}
}

// method returns the method of the request that the next response answers.
func (h *httpConn) method() string {
	if len(h.methods) == 0 {
		return ""
	}
	return h.methods[0]
}

// received takes note of a final response.
func (h *httpConn) received(f *recording.HTTPResponse) {
	if connect := h.method() == "CONNECT" && f.Status < 300; f.Status == 101 || connect {
		f.Upgrade, h.tunnel = 1, true
		if connect && f.Head > 0 {
			h.behind = f.Offset + f.Head
		}
	}
	if len(h.methods) > 0 {
		h.methods = slices.Delete(h.methods, 0, 1)
	}
}
