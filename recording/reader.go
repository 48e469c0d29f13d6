package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// readBinary reads blocks up to the first that is not whole. That one and what
// follows is dropped and counted.
func readBinary(in io.Reader) (*Recording, error) {
	head := make([]byte, len(magic)+2)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, fmt.Errorf("%w: it was cut in its first bytes", ErrEmpty)
	}
	if v := int(binary.LittleEndian.Uint16(head[len(magic):])); v > Version {
		return nil, NewerError{Version: v}
	}
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("set up decompression of the recording: %w", err)
	}
	defer unpacker.Close()
	frames := frameReader{in: in, unpacker: unpacker, checksum: crc32.MakeTable(crc32.Castagnoli)}
	d := newDecoder()
	for {
		kind, payload, err := frames.next()
		if errors.Is(err, errMalformed) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read recording: %w", err)
		}
		if payload == nil {
			return finish(d.all(), 0)
		}
		if d.block(kind, payload) != nil {
			break
		}
	}
	rest, err := io.Copy(io.Discard, in)
	if err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	return finish(d.all(), frames.length+rest)
}

// frameReader takes the frames of a file one by one.
type frameReader struct {
	in       io.Reader
	unpacker *zstd.Decoder
	checksum *crc32.Table
	length   int64 // bytes consumed for the current frame
	stored   []byte
	plain    []byte
}

// next gives the type and the payload of the next frame; a nil payload at the end of
// the file, errMalformed where there is no whole frame. The payload is valid until
// the next call.
func (f *frameReader) next() (kind byte, payload []byte, err error) {
	var head [frameHead]byte
	n, err := io.ReadFull(f.in, head[:])
	f.length = int64(n)
	if errors.Is(err, io.EOF) {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, torn(err)
	}
	kind = head[0]
	stored, plain := binary.LittleEndian.Uint32(head[1:]), binary.LittleEndian.Uint32(head[5:])
	if stored > maxBlock || plain > maxBlock || plain/maxExpand > stored {
		return 0, nil, errMalformed
	}
	f.stored = slices.Grow(f.stored[:0], int(stored))[:stored]
	n, err = io.ReadFull(f.in, f.stored)
	f.length += int64(n)
	if err != nil {
		return 0, nil, torn(err)
	}
	sum := crc32.Update(crc32.Checksum(head[:9], f.checksum), f.checksum, f.stored)
	if sum != binary.LittleEndian.Uint32(head[9:]) {
		return 0, nil, errMalformed
	}
	if kind != frameEventsZstd {
		return kind, f.stored, nil
	}
	f.plain, err = f.unpacker.DecodeAll(f.stored, slices.Grow(f.plain[:0], int(plain)))
	if err != nil || len(f.plain) != int(plain) {
		return 0, nil, errMalformed
	}
	return kind, f.plain, nil
}

// torn tells the end of the file within a frame from a failure to read.
func torn(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errMalformed
	}
	return err
}

// manyEvents is from how many on events are kept in several slices while reading.
const manyEvents = 1 << 16

// decoder turns blocks into events.
type decoder struct {
	specs   []KindSpec
	kinds   []*readerRow      // by the number that the file gives them; nil where it defines none
	blocks  [][]Event         // full blocks of events, in the order of the file
	events  []Event           // the block being filled
	table   []string          // of the current block
	strings map[string]string // of all blocks, so that equal ones share memory
	fill    fillVisitor
	slabs   slabs
}

// readerRow is one kind as the file defines it, and its state within a block.
type readerRow struct {
	shape shape
	spec  *KindSpec // nil: not known to this version
	exact bool      // columns are where spec has them
	width int       // columns of shape or of spec, whichever has more
	last  [maxColumns]int64
}

func newDecoder() *decoder {
	return &decoder{specs: Kinds(), strings: map[string]string{}}
}

// all returns the events of all blocks.
func (d *decoder) all() []Event {
	if len(d.blocks) == 0 {
		return d.events
	}
	return slices.Concat(append(d.blocks, d.events)...)
}

// block decodes one frame; on error nothing of it is kept. Frames of unknown type
// are for newer versions and skipped.
func (d *decoder) block(kind byte, payload []byte) error {
	c := &cursor{b: payload}
	switch kind {
	case frameSchema:
		return d.schema(c)
	case frameEvents, frameEventsZstd:
		if len(d.events) > manyEvents { // rather than to copy them when they outgrow their memory
			d.blocks = append(d.blocks, d.events)
			d.events = make([]Event, 0, cap(d.events))
		}
		before := len(d.events)
		if err := d.eventBlock(c); err != nil {
			clear(d.events[before:])
			d.events = d.events[:before]
			return err
		}
	}
	return nil
}

func (d *decoder) schema(c *cursor) error {
	for len(c.b) > 0 {
		number, s, err := c.shape()
		if err != nil {
			return err
		}
		row := &readerRow{shape: s, width: len(s.columns)}
		for i := range d.specs {
			if d.specs[i].Name == s.name {
				row.spec = &d.specs[i]
				own := shapeOf(s.name, row.spec.New()).columns
				row.exact, row.width = sameStart(s.columns, own), max(len(s.columns), len(own))
			}
		}
		for uint64(len(d.kinds)) <= number {
			d.kinds = append(d.kinds, nil)
		}
		d.kinds[number] = row
	}
	return nil
}

func (d *decoder) eventBlock(c *cursor) error {
	for _, row := range d.kinds {
		if row != nil {
			row.last = [maxColumns]int64{}
		}
	}
	d.table = append(d.table[:0], "")
	for range c.count() {
		d.table = append(d.table, d.intern(c.bytes()))
	}
	var t Time
	for len(c.b) > 0 {
		var row *readerRow
		if number := c.uvarint(); number < uint64(len(d.kinds)) {
			row = d.kinds[number]
		}
		t += Time(c.varint())
		set := c.uvarint()
		if row == nil || c.bad || bits.Len64(set) > len(row.shape.columns) {
			return errMalformed
		}
		values := &d.fill.values
		clear(values[:row.width])
		for ; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			row.last[i] += c.varint()
			values[i] = row.last[i]
		}
		f, err := d.fact(row)
		if err != nil || c.bad {
			return errMalformed
		}
		d.events = append(d.events, Event{Time: t, Fact: f})
	}
	if c.bad {
		return errMalformed
	}
	return nil
}

// fact makes the fact whose values are in d.fill.
func (d *decoder) fact(row *readerRow) (Fact, error) {
	if row.spec == nil {
		return d.unknown(row)
	}
	f := d.slabs.make(row.spec)
	if row.exact {
		d.fill.next, d.fill.table, d.fill.bad = 0, d.table, false
		f.Visit(&d.fill)
		if d.fill.bad {
			return nil, errMalformed
		}
		return f, nil
	}
	u, err := d.unknown(row)
	if err != nil {
		return nil, err
	}
	f.Visit(&matchVisitor{fields: u.Fields})
	return f, nil
}

// unknown makes a fact from the file's own definition of its kind.
func (d *decoder) unknown(row *readerRow) (*UnknownFact, error) {
	u := &UnknownFact{Name: row.shape.name}
	for i, c := range row.shape.columns {
		v := d.fill.values[i]
		field := Field{Name: c.name, IsStr: c.typ != typeInt}
		switch {
		case c.typ == typeInt:
			field.Int = v
		case c.typ == typeEnum && v >= 0 && v < int64(len(c.names)):
			field.Str = c.names[v]
		case c.typ == typeEnum:
			field.IsStr, field.Int = false, v
		case v >= 0 && v < int64(len(d.table)):
			field.Str = d.table[v]
		default:
			return nil, errMalformed
		}
		u.Fields = append(u.Fields, field)
	}
	return u, nil
}

func (d *decoder) intern(b []byte) string {
	if s, ok := d.strings[string(b)]; ok {
		return s
	}
	s := string(b)
	d.strings[s] = s
	return s
}
