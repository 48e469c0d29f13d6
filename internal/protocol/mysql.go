package protocol

import (
	"bytes"
	"encoding/binary"

	"github.com/getdwell/dwell/recording"
)

// The protocol of MySQL and MariaDB. A packet consists of a length (3 bytes, little-endian), a sequence number, which
// is 0 where a command begins, and a body. The first byte of a command identifies it
// (dev.mysql.com/doc/dev/mysql-server: "Command Phase").
const (
	mysqlHead     = 4
	mysqlQuit     = 0x01
	mysqlInitDB   = 0x02
	mysqlQuery    = 0x03
	mysqlPing     = 0x0e
	mysqlPrepare  = 0x16
	mysqlExecute  = 0x17
	mysqlLongData = 0x18
	mysqlClose    = 0x19
	mysqlReset    = 0x1a
	mysqlFetch    = 0x1c
	mysqlLast     = 0x20

	mysqlOK, mysqlEnd, mysqlError = 0x00, 0xfe, 0xff

	// Capabilities that a client states in its first packet.
	mysqlCan41, mysqlCanTLS = 1 << 9, 1 << 11
	// Status flags that a server sends after a command.
	mysqlInTransaction, mysqlMore = 1 << 0, 1 << 3
	// mysqlTold is how much of a reply's packet is examined.
	mysqlTold = 64
	// mysqlLatest is MariaDB's id for the statement that was prepared last.
	mysqlLatest = 1<<32 - 1
)

// mysql is the grammar of MySQL's protocol. A reply extends to the end of its last result. If that end was not
// captured, the reply extends to the next command.
type mysql struct {
	preparing shape            // the statement to which the open reply will assign an id
	prepares  bool             // the open reply will assign one
	prepared  map[uint32]shape // by id
	latest    shape
	rows      bool // the open reply has begun to list its result
	columns   bool // and is past the end of the column list
	quiet     bool // what comes before the client speaks again is not needed
}

// mysqlSize returns the size of the packet that begins with b, and its body as far as captured.
func mysqlSize(b []byte) (size int64, body []byte, m match) {
	if len(b) < mysqlHead {
		return 0, nil, maybe
	}
	n := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
	return mysqlHead + n, b[mysqlHead:min(int64(len(b)), mysqlHead+n)], match(2 * oneIf(n > 0))
}

// mysqlStart reports whether b could be a client's packet. It is strict, because a length and a number alone prove
// little.
func mysqlStart(b []byte) match {
	size, body, m := mysqlSize(b)
	switch {
	case m != yes:
		return m
	case len(body) == 0:
		return maybe
	case b[3] == 1 || b[3] == 2:
		return mysqlLogin(body, size-mysqlHead)
	case b[3] != 0 || int64(len(b)) > size:
		return no
	}
	whole := int64(len(b)) == size
	switch body[0] {
	case mysqlPing:
		return match(2 * oneIf(size == mysqlHead+1))
	case mysqlQuery, mysqlPrepare:
		return match(2 * oneIf(mysqlStatement(body, whole).verb != ""))
	case mysqlExecute: // an id, flags, and a count that is always 1
		if len(body) < 10 {
			return match(oneIf(int64(len(b)) < size))
		}
		return match(2 * oneIf(body[5] <= 8 && binary.LittleEndian.Uint32(body[6:]) == 1))
	}
	return no
}

// mysqlLogin reports whether a body of n bytes could be a client's first one.
func mysqlLogin(body []byte, n int64) match {
	if n < 32 {
		return no
	}
	if len(body) < 32 {
		return maybe
	}
	return match(2 * oneIf(binary.LittleEndian.Uint32(body)&mysqlCan41 != 0 && bytes.Equal(body[9:28], make([]byte, 19))))
}

// mysqlStatement returns the shape of a command's statement; whole: all of it was captured.
func mysqlStatement(body []byte, whole bool) shape {
	text := body[1:]
	if len(text) > 2 && text[0] == 0 && text[1] == 1 { // no attributes, in one set
		text = text[2:]
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return shape{}
	}
	return statementShape(&sqlLexer{b: text, whole: whole, mysql: true})
}

// starts implements grammar.
func (y *mysql) starts(b []byte, fromClient bool) match {
	if fromClient {
		return mysqlStart(b)
	}
	if _, _, m := mysqlSize(b); m != yes {
		return m
	}
	return match(2 * oneIf(b[3] == 1 || b[3] == 2))
}

// element implements grammar.
func (y *mysql) element(d *dialogue, fromClient bool, x piece) int64 {
	size, body, m := mysqlSize(x.b)
	if m == maybe || m == yes && len(body) == 0 && !x.cut {
		return 0
	}
	switch {
	case m == no || len(body) == 0:
		return size // empty, or rows that were not captured
	case fromClient && x.b[3] == 0:
		return y.ask(d, x.at, size, body)
	case fromClient:
		return y.login(d, x.at, size, body)
	}
	if int64(len(x.b)) < min(size, mysqlTold) && !x.cut {
		return 0
	}
	y.answer(d, x.at+size, size, body)
	return size
}

// login takes a client's packet that is not a command.
func (y *mysql) login(d *dialogue, at, size int64, body []byte) int64 {
	if d.command != nil || d.pending > 0 || mysqlLogin(body, size-mysqlHead) != yes {
		return size
	}
	if size == mysqlHead+32 && binary.LittleEndian.Uint32(body)&mysqlCanTLS != 0 {
		d.secured, d.ended = true, true
		return size
	}
	d.asks(at).Operation = "STARTUP"
	d.asked(at + size)
	return size
}

// ask takes a command.
func (y *mysql) ask(d *dialogue, at, size int64, body []byte) int64 {
	kind, whole := body[0], int64(len(body)) == size-mysqlHead
	switch {
	case kind == 0 || kind > mysqlLast:
		return -1
	case kind == mysqlQuit || kind == mysqlLongData || kind == mysqlClose: // these have no answer
		return size
	}
	if d.reply != nil { // the client asks again, so the reply is complete
		d.answered(d.tapes[1-d.client].pos)
	}
	f := d.asks(at)
	y.quiet, y.rows, y.columns, y.prepares = false, false, false, kind == mysqlPrepare
	switch kind {
	case mysqlQuery:
		s := mysqlStatement(body, whole)
		f.Operation, f.Target = s.verb, s.table
	case mysqlPrepare:
		y.preparing = mysqlStatement(body, whole)
		y.latest = y.preparing
		f.Operation, f.Target = "PREPARE", y.preparing.table
	case mysqlExecute:
		s := y.statement(body[1:])
		f.Operation, f.Target = s.verb, s.table
	default:
		f.Operation = map[byte]string{mysqlInitDB: "USE", mysqlPing: "PING", mysqlReset: "RESET", mysqlFetch: "FETCH"}[kind]
	}
	d.asked(at + size)
	return size
}

// statement returns the statement that was prepared under the id at the beginning of b.
func (y *mysql) statement(b []byte) shape {
	if len(b) < 4 {
		return shape{}
	}
	id := binary.LittleEndian.Uint32(b)
	if id == mysqlLatest {
		return y.latest
	}
	return y.prepared[id]
}

// answer takes a packet of the server that ends at a position.
func (y *mysql) answer(d *dialogue, end, size int64, body []byte) {
	if y.quiet || d.pending == 0 {
		return
	}
	if d.reply == nil {
		d.answers(end - size)
	}
	f, kind, short := d.reply, body[0], size == mysqlHead+5 && len(body) == 5
	switch {
	case kind == mysqlError && len(body) >= 9:
		f.Outcome = recording.OutcomeError
		if body[3] == '#' && sqlState(body[4:9]) {
			f.Code = string(body[4:9])
		}
		y.over(d, end)
	case y.prepares && kind == mysqlOK && len(body) >= 5:
		y.remember(binary.LittleEndian.Uint32(body[1:]))
		f.Outcome = recording.OutcomeOK
		y.over(d, end)
	case !y.rows && kind != mysqlOK:
		y.rows = true // the number of columns; each column and each row follows in a packet
	case y.rows && (kind != mysqlEnd || size >= mysqlHead+1<<24-1):
	case short && y.rows && !y.columns:
		y.columns = true // old clients also get an end-of-columns packet
	case short:
		y.result(d, end, binary.LittleEndian.Uint16(body[3:]))
	default:
		y.result(d, end, mysqlStatus(body[1:]))
	}
}

// result takes the end of a result; another may follow.
func (y *mysql) result(d *dialogue, end int64, status uint16) {
	y.rows, y.columns = false, false
	d.reply.Outcome, d.reply.Transaction = recording.OutcomeOK, recording.TransactionIdle
	if status&mysqlInTransaction != 0 {
		d.reply.Transaction = recording.TransactionOpen
	}
	if status&mysqlMore == 0 {
		y.over(d, end)
	}
}

// over ends the reply; the rest of the command's answer is not needed.
func (y *mysql) over(d *dialogue, end int64) {
	y.quiet = true
	d.answered(end)
}

// remember stores the prepared statement under its id.
func (y *mysql) remember(id uint32) {
	if y.prepared == nil || len(y.prepared) >= maxStatements {
		y.prepared = map[uint32]shape{}
	}
	y.prepared[id] = y.preparing
}

// mysqlStatus returns the server's status in an OK packet. It follows two numbers of one to nine bytes.
func mysqlStatus(b []byte) uint16 {
	for range 2 {
		if len(b) == 0 {
			return 0
		}
		n := 1
		switch b[0] {
		case 0xfc:
			n = 3
		case 0xfd:
			n = 4
		case 0xfe:
			n = 9
		}
		b = b[min(len(b), n):]
	}
	if len(b) < 2 {
		return 0
	}
	return binary.LittleEndian.Uint16(b)
}

// reset implements grammar.
func (y *mysql) reset(fromClient bool) {
	if !fromClient {
		y.rows, y.columns = false, false
	}
}
