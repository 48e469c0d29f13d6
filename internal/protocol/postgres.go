package protocol

import (
	"bytes"
	"encoding/binary"

	"github.com/getdwell/dwell/recording"
)

const (
	postgresHead  = 5 // of a message: its type and its length, which includes itself
	postgresV3    = 3 << 16
	postgresStop  = 80877102 // asks to cancel a query of another connection
	postgresTLS   = 80877103
	postgresGSS   = 80877104
	maxPostgres   = 1 << 30
	maxStatements = 256 // prepared statements that are remembered
	maxStatement  = 64  // bytes of a name that are remembered
)

// postgres is the grammar of PostgreSQL's protocol, version 3. A command is everything that one ReadyForQuery
// answers: a query, or messages up to a Sync.
type postgres struct {
	asking   bool // the client asks whether the connection may be encrypted
	quiet    bool // the open reply answers no known command
	bound    bool // the open command names what it executes
	executed bool // the open command executes something
	parsed   shape
	prepared map[string]shape
}

// shape is the part of a statement that is kept.
type shape struct{ verb, table string }

// starts implements grammar.
func (p *postgres) starts(b []byte, fromClient bool) match {
	if len(b) == 0 {
		return no
	}
	if fromClient && b[0] == 0 {
		return postgresOpening(b)
	}
	types := "RKSZTDCE123ntsIANVGHWdcv"
	if fromClient {
		types = "QPBEDCFHSXdcfp"
	}
	if p.asking && !fromClient {
		types = "SNGE"
	}
	if bytes.IndexByte([]byte(types), b[0]) < 0 {
		return no
	}
	if p.asking && !fromClient {
		return yes
	}
	_, m := postgresSize(b)
	return m
}

// postgresSize returns the size of the message that begins with b.
func postgresSize(b []byte) (int64, match) {
	if len(b) > 1 && b[1] > maxPostgres>>24 {
		return 0, no
	}
	if len(b) < postgresHead {
		return 0, maybe
	}
	n := int64(binary.BigEndian.Uint32(b[1:]))
	if n < 4 || n > maxPostgres {
		return 0, no
	}
	return 1 + n, yes
}

// postgresOpening reports whether b could be the first message of a connection.
func postgresOpening(b []byte) match {
	zero := []byte{0, 0}
	if n := min(len(b), 2); !bytes.Equal(b[:n], zero[:n]) {
		return no
	}
	if len(b) < 8 {
		return maybe
	}
	size := int(binary.BigEndian.Uint32(b))
	switch binary.BigEndian.Uint32(b[4:]) {
	case postgresTLS, postgresGSS:
		return match(2 * oneIf(size == 8))
	case postgresStop:
		return match(2 * oneIf(size == 16))
	case postgresV3:
	default:
		return no
	}
	if size < 9 || len(b) > size {
		return no
	}
	text := b[8:]
	for i, c := range text { // names and values, each terminated by a zero; one of them is the user
		if c > '~' || c < ' ' && c != 0 || c == 0 && i == 0 {
			return no
		}
	}
	if bytes.HasPrefix(text, []byte("user\x00")) || bytes.Contains(text, []byte("\x00user\x00")) {
		return yes
	}
	return match(oneIf(len(b) < size))
}

// postgresStart reports whether b could be sent by the client of a connection that was joined later. It is strict,
// because a type and a length alone prove little.
func postgresStart(b []byte) match {
	if len(b) == 0 {
		return no
	}
	if b[0] == 0 {
		return postgresOpening(b)
	}
	if bytes.IndexByte([]byte("QPB"), b[0]) < 0 {
		return no
	}
	if _, m := postgresSize(b); m != yes {
		return m
	}
	body := b[postgresHead:]
	if b[0] == 'P' {
		_, query, named := bytes.Cut(body, []byte{0})
		if body = query; !named {
			return maybe
		}
	}
	if b[0] != 'B' && sqlShape(body, false).verb != "" || b[0] != 'Q' && syncs(b) {
		return yes
	}
	return match(oneIf(b[0] != 'B' && len(body) < maxCommandName))
}

// syncs reports complete messages that end with a Sync, as in a keep-alive with an empty query.
func syncs(b []byte) bool {
	for {
		size, m := postgresSize(b)
		if m != yes || size > int64(len(b)) {
			return false
		}
		last := b[0]
		if last == 'S' && size == int64(len(b)) && size == postgresHead {
			return true
		}
		if bytes.IndexByte([]byte("PBDECH"), last) < 0 {
			return false
		}
		b = b[size:]
	}
}

// element implements grammar.
func (p *postgres) element(d *dialogue, fromClient bool, x piece) int64 {
	b := x.b
	switch {
	case fromClient && b[0] == 0:
		return p.open(d, x.at, b)
	case !fromClient && p.asking:
		p.asking = false
		d.secured, d.ended = b[0] == 'S', b[0] == 'S' || b[0] == 'G'
		if b[0] != 'E' {
			return 1
		}
	}
	size, m := postgresSize(b)
	if m != yes {
		return int64(m) - 1 // maybe: 0
	}
	body := b[postgresHead:min(int64(len(b)), size)]
	if int64(len(b)) < size && !x.cut && (!fromClient && b[0] != 'D' || fromClient && b[0] != 'd') {
		return 0 // a message that is not needed completely is not waited for
	}
	if fromClient {
		return p.ask(d, x.at, size, pgMessage{b[0], body})
	}
	return p.answer(d, x.at, size, pgMessage{b[0], body})
}

// pgMessage is one message, or its captured part.
type pgMessage struct {
	kind byte
	body []byte
}

// open takes the first message of a connection.
func (p *postgres) open(d *dialogue, at int64, b []byte) int64 {
	if len(b) < 8 {
		return 0
	}
	size := int64(binary.BigEndian.Uint32(b))
	if size < 8 || size > maxPostgres {
		return -1
	}
	switch binary.BigEndian.Uint32(b[4:]) {
	case postgresTLS, postgresGSS:
		p.asking = true
	case postgresV3:
		d.asks(at).Operation = "STARTUP"
		d.asked(at + size)
	case postgresStop:
	default:
		return -1
	}
	return size
}

// ask takes a message of the client.
func (p *postgres) ask(d *dialogue, at, size int64, m pgMessage) int64 {
	if d.command == nil {
		p.bound, p.executed, p.parsed = false, false, shape{}
	}
	switch m.kind {
	case 'Q':
		p.does(d.asks(at), sqlShape(m.body, false))
		d.asked(at + size)
	case 'F':
		p.does(d.asks(at), shape{verb: "FUNCTION"})
		d.asked(at + size)
	case 'P':
		f := d.asks(at)
		p.prepare(m.body)
		p.does(f, p.parsed)
	case 'B':
		p.bound = true
		p.bind(d.asks(at), m.body)
	case 'E':
		f := d.asks(at)
		if p.executed = true; !p.bound { // executes what an earlier command had bound
			p.does(f, shape{verb: "FETCH"})
		}
	case 'D', 'H':
		d.asks(at)
	case 'C':
		d.asks(at)
		p.forget(m.body)
	case 'S':
		f := d.asks(at)
		if !p.executed && p.parsed.verb != "" {
			f.Operation, f.Target = "PREPARE", p.parsed.table
		}
		d.asked(at + size)
	case 'X', 'd', 'c', 'f', 'p': // termination; data of a COPY; a password
	default:
		return -1
	}
	return size
}

// does names a command after the first of its statements that does more than begin or end a transaction.
func (p *postgres) does(f *recording.Command, s shape) {
	if f.Operation == "" || frames(f.Operation) && s.verb != "" {
		f.Operation, f.Target = s.verb, s.table
	}
}

// frames reports whether a verb begins or ends a transaction, or sets its options.
func frames(verb string) bool {
	switch verb {
	case "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "SET":
		return true
	}
	return false
}

func (p *postgres) prepare(body []byte) {
	name, query, ok := bytes.Cut(body, []byte{0})
	if !ok {
		return
	}
	p.parsed = sqlShape(query, false)
	if len(name) > maxStatement {
		return
	}
	if p.prepared == nil || len(p.prepared) >= maxStatements {
		p.prepared = map[string]shape{}
	}
	p.prepared[string(name)] = p.parsed
}

func (p *postgres) bind(f *recording.Command, body []byte) {
	_, rest, _ := bytes.Cut(body, []byte{0}) // the portal
	name, _, ok := bytes.Cut(rest, []byte{0})
	if ok {
		p.does(f, p.prepared[string(name)])
	}
}

func (p *postgres) forget(body []byte) {
	if len(body) > 1 && body[0] == 'S' {
		delete(p.prepared, string(bytes.TrimSuffix(body[1:], []byte{0})))
	}
}

// reset implements grammar.
func (p *postgres) reset(fromClient bool) {
	if !fromClient {
		p.quiet = false
	}
}
