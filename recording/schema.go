package recording

import (
	"encoding/binary"
	"errors"
	"strings"
)

// fieldType is how a field is stored. The numbers are part of the binary form.
type fieldType byte

const (
	typeInt fieldType = iota
	typeEnum
	typeStr
)

// column is one field of a kind.
type column struct {
	name  string
	typ   fieldType
	names []string // of an enum
}

// shape is the layout of one kind: its name and its columns in the order of Visit.
type shape struct {
	name    string
	columns []column
}

// maxColumns is the maximum number of fields of a kind: the binary form has one 64-bit word that says which of them
// are set.
const maxColumns = 64

// maxKinds bounds the numbers that a file may define.
const maxKinds = 4096

// shapeVisitor collects the columns of a fact.
type shapeVisitor struct{ columns []column }

func (s *shapeVisitor) Int(name string, _ *int64) {
	s.columns = append(s.columns, column{name: name, typ: typeInt})
}

func (s *shapeVisitor) Enum(name string, names []string, _ *int64) {
	s.columns = append(s.columns, column{name: name, typ: typeEnum, names: names})
}

func (s *shapeVisitor) Str(name string, _ *string) {
	s.columns = append(s.columns, column{name: name, typ: typeStr})
}

func shapeOf(name string, f Fact) shape {
	var v shapeVisitor
	f.Visit(&v)
	return shape{name: name, columns: v.columns}
}

// sameStart reports whether a and b agree in the columns that both have, so that rows of one can be read as rows of
// the other.
func sameStart(a, b []column) bool {
	for i := range min(len(a), len(b)) {
		if a[i].name != b[i].name || a[i].typ != b[i].typ {
			return false
		}
	}
	return true
}

// signature distinguishes shapes that have the same name.
func (s shape) signature() string {
	var b strings.Builder
	b.WriteString(s.name)
	for _, c := range s.columns {
		b.WriteByte(0)
		b.WriteByte('0' + byte(c.typ))
		b.WriteString(c.name)
	}
	return b.String()
}

// appendShape adds the definition of kind number to a schema block.
func appendShape(b []byte, number int, s shape) []byte {
	b = binary.AppendUvarint(b, uint64(number))
	b = appendString(b, s.name)
	b = binary.AppendUvarint(b, uint64(len(s.columns)))
	for _, c := range s.columns {
		b = appendString(b, c.name)
		b = append(b, byte(c.typ))
		if c.typ != typeEnum {
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(c.names)))
		for _, n := range c.names {
			b = appendString(b, n)
		}
	}
	return b
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// errMalformed says that a block does not contain what its header promises.
var errMalformed = errors.New("malformed block")

// cursor reads the primitive values of a block. After the first failure it stays failed, and every read returns zero.
type cursor struct {
	b   []byte
	at  int // number of bytes read so far
	bad bool
}

// more reports whether there is more to read.
func (c *cursor) more() bool { return c.at < len(c.b) }

// fail stops reading.
func (c *cursor) fail() { c.b, c.at, c.bad = nil, 0, true }

// uvarint does the same as binary.Uvarint. It reads most of the bytes of a file, so it has a fast path for one byte.
func (c *cursor) uvarint() uint64 {
	if at := c.at; at < len(c.b) && c.b[at] < 0x80 {
		c.at = at + 1
		return uint64(c.b[at])
	}
	return c.longer()
}

// longer handles numbers of several bytes.
func (c *cursor) longer() (v uint64) {
	const last = binary.MaxVarintLen64 - 1
	for i, x := range c.b[c.at:] {
		if x < 0x80 && (i < last || i == last && x <= 1) {
			c.at += i + 1
			return v | uint64(x)<<(7*i)
		}
		if i >= last {
			break
		}
		v |= uint64(x&0x7f) << (7 * i)
	}
	c.fail()
	return 0
}

// skip passes over n numbers of any length.
func (c *cursor) skip(n int) {
	for ; n > 0 && c.more(); c.at++ {
		if c.b[c.at] < 0x80 {
			n--
		}
	}
	if n > 0 {
		c.fail()
	}
}

func (c *cursor) varint() int64 {
	u := c.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// count reads the number of things that follow, each at least one byte long.
func (c *cursor) count() int {
	n := c.uvarint()
	if n > uint64(len(c.b)-c.at) {
		c.fail()
		return 0
	}
	return int(n)
}

func (c *cursor) bytes() []byte {
	n := c.count()
	c.at += n
	return c.b[c.at-n : c.at]
}

func (c *cursor) byte() byte {
	if !c.more() {
		c.bad = true
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

// shape reads one definition as written by appendShape.
func (c *cursor) shape() (number uint64, s shape, err error) {
	number = c.uvarint()
	s.name = string(c.bytes())
	n := c.count()
	if n > maxColumns {
		return 0, s, errMalformed
	}
	for range n {
		col := column{name: string(c.bytes()), typ: fieldType(c.byte())}
		if col.typ > typeStr {
			return 0, s, errMalformed
		}
		if col.typ == typeEnum {
			for range c.count() {
				col.names = append(col.names, string(c.bytes()))
			}
		}
		s.columns = append(s.columns, col)
	}
	if c.bad || s.name == "" || number == 0 || number > maxKinds {
		return 0, s, errMalformed
	}
	return number, s, nil
}
