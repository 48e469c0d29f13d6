package protocol

import (
	"bytes"
	"encoding/binary"

	"github.com/getdwell/dwell/recording"
)

// Types of FastCGI records, and the length of a record's head.
const (
	fcgiBegin  = 1
	fcgiEnd    = 3
	fcgiParams = 4
	fcgiStdout = 6
	fcgiStderr = 7
	fcgiHead   = 8
)

// fastCGI follows a connection on which a web server passes requests to an application, one after the other. They are
// HTTP requests in another encoding. Only the parameters that correspond to the fields used of an HTTP head are read.
type fastCGI struct {
	id     recording.ConnID
	client recording.Direction
	tapes  [2]tape
	open   *recording.HTTPRequest // the request whose parameters are being read
	script string                 // the route of its script, used if REQUEST_URI is missing
	begun  bool                   // its answer has begun
	facts  []recording.Fact
}

// fcgiStart reports whether b could begin a request, or its answer.
func fcgiStart(b []byte, fromClient bool) match {
	if !fromClient {
		kinds := []byte{fcgiStdout, fcgiStderr, fcgiEnd}
		return match(2 * oneIf(len(b) >= fcgiHead && b[0] == 1 && bytes.IndexByte(kinds, b[1]) >= 0 && b[7] == 0))
	}
	if m := hasPrefix(b, "\x01\x01"); m != yes || len(b) < fcgiHead {
		return m
	}
	return match(2 * oneIf(binary.BigEndian.Uint16(b[2:]) != 0 && binary.BigEndian.Uint16(b[4:]) == 8 && b[7] == 0))
}

// chunk takes the next bytes of either direction.
func (c *fastCGI) chunk(k chunk) []recording.Fact {
	c.facts = nil
	s, fromClient := &c.tapes[k.dir], k.dir == c.client
	s.follow(k)
	if s.lost && (k.offset == 0 || fcgiStart(k.data, fromClient) == yes) {
		s.find(k.offset)
	}
	s.run(k, func(p piece) int64 {
		if len(p.b) < fcgiHead {
			return 0
		}
		content := int64(binary.BigEndian.Uint16(p.b[4:]))
		body := p.b[fcgiHead:min(int64(len(p.b)), fcgiHead+content)]
		kind, n := p.b[1], fcgiHead+content+int64(p.b[6])
		switch {
		case p.b[0] != 1:
			return -1
		case fromClient && (kind == fcgiBegin || kind == fcgiParams), !fromClient && kind == fcgiStdout && !c.begun:
			if int64(len(body)) < content && !p.cut {
				return 0
			}
		}
		if fromClient {
			c.asks(kind, piece{p.at, body, int64(len(body)) < content}, p.at+n)
		} else {
			c.answers(kind, p.at, body)
		}
		return n
	})
	return c.facts
}

// asks takes a record from the web server that ends at a position.
func (c *fastCGI) asks(kind byte, p piece, end int64) {
	switch {
	case kind == fcgiBegin:
		c.open, c.script, c.begun = &recording.HTTPRequest{Conn: c.id, Offset: p.at, Length: lengthUnknown}, "", false
	case kind != fcgiParams || c.open == nil:
	case end == p.at+fcgiHead: // the last parameters record, which is empty
		c.open.Head, c.open.Length = end-c.open.Offset, lengthChunked
		c.asked()
	default:
		if c.params(p.b, p.cut); p.cut {
			c.asked() // their end may lie beyond the captured bytes
		}
	}
}

// asked reports the open request, if its method is known.
func (c *fastCGI) asked() {
	if c.open.Route == "" {
		c.open.Route = Route(c.script)
	}
	if c.open.Method != "" {
		c.facts = append(c.facts, c.open)
	}
	c.open = nil
}

// params reads pairs of names and values. cut: not all were captured.
func (c *fastCGI) params(b []byte, cut bool) {
	for len(b) > 0 {
		var size [2]int
		for i := range size {
			n, of := fcgiLength(b)
			if n == 0 {
				return
			}
			size[i], b = of, b[n:]
		}
		if size[0] > len(b) {
			return
		}
		name, value := b[:size[0]], b[size[0]:]
		whole := size[1] <= len(value)
		if !whole && !cut {
			return // it continues in another record
		}
		value = value[:min(size[1], len(value))]
		b = b[size[0]+len(value):]
		c.param(string(name), value, whole)
	}
}

// param takes one pair; whole: value was captured completely.
func (c *fastCGI) param(name string, value []byte, whole bool) {
	switch {
	case name == "REQUEST_URI" && len(value) > 0:
		t := parseTarget(c.open.Method, string(value), whole)
		c.open.Route, c.open.Operation = t.route, t.operation
	case !whole:
	case name == "REQUEST_METHOD":
		c.open.Method = methodOf(value)
	case name == "SCRIPT_NAME":
		c.script = string(value)
	case name == "HTTP_HOST":
		c.open.Host = hostName(string(value))
	}
}

// fcgiLength reads a length of one or four bytes. n is how many bytes it occupies, 0 if some are missing.
func fcgiLength(b []byte) (n, length int) {
	switch {
	case len(b) > 0 && b[0] < 0x80:
		return 1, int(b[0])
	case len(b) >= 4:
		return 4, int(binary.BigEndian.Uint32(b) & (1<<31 - 1))
	}
	return 0, 0
}

// answers takes a record from the application.
func (c *fastCGI) answers(kind byte, at int64, body []byte) {
	if !c.begun && (kind == fcgiEnd || kind == fcgiStdout && len(body) > 0) {
		f := &recording.HTTPResponse{Conn: c.id, Offset: at, Length: lengthUnknown}
		if kind == fcgiStdout {
			f.Status = cgiStatus(body)
		}
		c.facts = append(c.facts, f)
	}
	c.begun = kind != fcgiEnd && (c.begun || kind == fcgiStdout && len(body) > 0)
}

// cgiStatus returns the status that an application's head names, 200 if it names none, and 0 if the head was not
// captured completely.
func cgiStatus(b []byte) int64 {
	for {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && named(name, "status") {
			value = bytes.TrimSpace(value)
			return max(0, contentLength(string(value[:min(3, len(value))])))
		}
		if whole && len(line) == 0 {
			return 200
		}
		if !whole {
			return 0
		}
		b = rest
	}
}
