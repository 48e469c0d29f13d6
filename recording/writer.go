package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Version of the binary form and of the text form. It changes only when older readers would misunderstand a
// recording; new kinds and new fields do not change it.
const Version = 1

const (
	magic = "\x89dwell\r\n" // then two bytes: the version, little-endian

	frameSchema     = 'S' // payload: definitions of kinds
	frameEvents     = 'E' // payload: events
	frameEventsZstd = 'Z' // payload: events, compressed

	// A frame consists of its type, the stored length, the decompressed length, a checksum of these three and the
	// payload, and the payload.
	frameHead = 1 + 4 + 4 + 4

	blockTarget = 64 << 10 // a block is written when it reaches this length
	maxEvent    = 64 << 10 // the longest string, and the longest event
	maxBlock    = 1 << 20  // readers accept nothing longer
	// Readers refuse blocks that expand by more than this factor, so that memory stays in proportion to the file. The
	// writer stores such blocks uncompressed.
	maxExpand = 32
)

// Writer appends events to the binary form of a recording. It is not safe for
// concurrent use. After an error every method returns that error.
type Writer struct {
	out      io.Writer
	packer   *zstd.Encoder
	rows     []*writerRow   // by number, as in the schema written
	unknown  map[string]int // signature of an UnknownFact -> its number
	strings  map[string]int64
	table    []byte // the strings of this block
	body     []byte // the events of this block
	block    []byte // reused: the strings and events of a block
	frame    []byte // reused: a block with its head
	time     Time   // of the last event in this block
	row      rowVisitor
	failed   error
	checksum *crc32.Table
}

// writerRow is the state of one kind within a block.
type writerRow struct {
	shape shape
	last  [maxColumns]int64 // last value other than zero, by column
}

// NewWriter begins a recording on w by writing its header and schema. The caller
// closes w.
func NewWriter(w io.Writer) (*Writer, error) {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("set up compression of the recording: %w", err)
	}
	wr := &Writer{
		out: w, packer: packer, unknown: map[string]int{}, strings: map[string]int64{},
		checksum: crc32.MakeTable(crc32.Castagnoli), rows: []*writerRow{nil}, // numbers begin at 1
	}
	wr.row.writer = wr
	var schema []byte
	for _, k := range Kinds() {
		s := shapeOf(k.Name, k.New())
		wr.rows = append(wr.rows, &writerRow{shape: s})
		schema = appendShape(schema, int(k.Kind), s)
	}
	head := binary.LittleEndian.AppendUint16([]byte(magic), Version)
	if _, err := w.Write(wr.appendFrame(head, frameSchema, schema)); err != nil {
		return nil, fmt.Errorf("write the head of the recording: %w", err)
	}
	return wr, nil
}

// Write adds an event. Events need not be in order of time. An event that cannot be
// stored (a string beyond 64 KiB, an UnknownFact with more than 64 fields) is an error
// and ends the recording.
func (w *Writer) Write(e Event) error {
	if w.failed != nil {
		return w.failed
	}
	number := int(e.Fact.Kind())
	if u, ok := e.Fact.(*UnknownFact); ok {
		if number = w.define(u); w.failed != nil {
			return w.failed
		}
	}
	if number <= 0 || number >= len(w.rows) {
		return w.fail(fmt.Errorf("write event: kind %d is not in the table of kinds", number))
	}
	before := len(w.body) + len(w.table)
	w.row.n, w.row.set = 0, 0
	e.Fact.Visit(&w.row)
	b := binary.AppendUvarint(w.body, uint64(number))
	b = binary.AppendVarint(b, int64(e.Time-w.time))
	b = binary.AppendUvarint(b, w.row.set)
	last := &w.rows[number].last
	for i := range w.row.n {
		if v := w.row.values[i]; v != 0 {
			b = binary.AppendVarint(b, v-last[i])
			last[i] = v
		}
	}
	w.body, w.time = b, e.Time
	size := len(w.body) + len(w.table)
	switch {
	case w.failed != nil:
		return w.failed
	case size-before > maxEvent:
		return w.fail(fmt.Errorf("write event: a %q of %d bytes is too long", kindName(e.Fact, Kinds()), size-before))
	case size >= blockTarget:
		return w.Flush()
	}
	return nil
}

// define assigns a number to the shape of an UnknownFact, and first writes it to the schema.
func (w *Writer) define(u *UnknownFact) int {
	if len(u.Fields) > maxColumns {
		w.fail(fmt.Errorf("write event: a %q has %d fields, more than %d", u.Name, len(u.Fields), maxColumns))
		return 0
	}
	s := shapeOf(u.Name, u)
	key := s.signature()
	if n, ok := w.unknown[key]; ok {
		return n
	}
	number := len(w.rows)
	definition := appendShape(nil, number, s)
	if len(definition) > maxEvent || u.Name == "" || number > maxKinds {
		w.fail(errors.New("write event: facts of unknown kinds have no name, too long names, or too many layouts"))
		return 0
	}
	w.frame = w.appendFrame(w.frame[:0], frameSchema, definition)
	if _, err := w.out.Write(w.frame); err != nil {
		w.fail(fmt.Errorf("write recording: %w", err))
		return 0
	}
	w.unknown[key] = number
	w.rows = append(w.rows, &writerRow{shape: s})
	return number
}

// Flush writes the events so far as one block. Flushed events can be read even if the recording is never closed.
func (w *Writer) Flush() error {
	if w.failed != nil || len(w.body) == 0 {
		return w.failed
	}
	w.block = binary.AppendUvarint(w.block[:0], uint64(len(w.strings)))
	w.block = append(append(w.block, w.table...), w.body...)
	w.frame = w.appendFrame(w.frame[:0], frameEventsZstd, w.block)
	if _, err := w.out.Write(w.frame); err != nil {
		return w.fail(fmt.Errorf("write recording: %w", err))
	}
	w.table, w.body, w.time = w.table[:0], w.body[:0], 0
	clear(w.strings)
	for _, r := range w.rows[1:] {
		r.last = [maxColumns]int64{}
	}
	return nil
}

// Close flushes and ends the recording.
func (w *Writer) Close() error {
	err := w.Flush()
	if w.failed == nil {
		w.failed = errors.New("write event: the recording is closed")
	}
	return err
}

func (w *Writer) fail(err error) error {
	if w.failed == nil {
		w.failed = err
	}
	return w.failed
}

// appendFrame adds a frame with its checksum to b.
func (w *Writer) appendFrame(b []byte, kind byte, payload []byte) []byte {
	start := len(b)
	b = append(b, make([]byte, frameHead)...)
	if kind == frameEventsZstd {
		b = w.packer.EncodeAll(payload, b)
		if stored := len(b) - start - frameHead; stored >= len(payload) || stored*maxExpand < len(payload) {
			kind, b = frameEvents, b[:start+frameHead]
		}
	}
	if kind != frameEventsZstd {
		b = append(b, payload...)
	}
	head := b[start : start+frameHead]
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(b)-start-frameHead))
	binary.LittleEndian.PutUint32(head[5:], uint32(len(payload)))
	sum := crc32.Update(crc32.Checksum(head[:9], w.checksum), w.checksum, b[start+frameHead:])
	binary.LittleEndian.PutUint32(head[9:], sum)
	return b
}

// rowVisitor gathers the values of one fact. Strings become numbers in the block's table.
type rowVisitor struct {
	writer *Writer
	n      int
	set    uint64 // bit i: values[i] is not zero
	values [maxColumns]int64
}

// Int implements Visitor.
func (r *rowVisitor) Int(_ string, v *int64) { r.add(*v) }

// Enum implements Visitor.
func (r *rowVisitor) Enum(_ string, _ []string, v *int64) { r.add(*v) }

// Str implements Visitor.
func (r *rowVisitor) Str(_ string, v *string) {
	if *v == "" {
		r.add(0)
		return
	}
	r.add(r.writer.intern(*v))
}

func (r *rowVisitor) add(v int64) {
	if v != 0 {
		r.set |= 1 << r.n
	}
	r.values[r.n] = v
	r.n++
}

// intern returns the number of a string in this block's table, from 1.
func (w *Writer) intern(s string) int64 {
	if n, ok := w.strings[s]; ok {
		return n
	}
	if len(s) > maxEvent {
		w.fail(fmt.Errorf("write event: a string of %d bytes is too long", len(s)))
		return 0
	}
	n := int64(len(w.strings) + 1)
	w.strings[s] = n
	w.table = appendString(w.table, s)
	return n
}
