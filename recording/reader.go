package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// readBinary reads blocks up to the first incomplete one. It drops that block and everything after it; the second
// result is how many bytes that is.
func readBinary(by Workers, in io.Reader) ([]Event, int64, error) {
	r, err := newBlockReader(by, in)
	if err != nil {
		return nil, 0, err
	}
	r.kept = true
	var all [][]Event // in the order of the file
	dropped, err := r.all(func(blocks [][]Event) { all = append(all, blocks...) })
	if err != nil {
		return nil, 0, err
	}
	return joined(by, all), dropped, nil
}

// newBlockReader reads the head of a file.
func newBlockReader(by Workers, in io.Reader) (*blockReader, error) {
	in = bufio.NewReaderSize(in, 64<<10)
	head := make([]byte, len(magic)+2)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, fmt.Errorf("%w: it was cut in its first bytes", ErrEmpty)
	}
	if v := int(binary.LittleEndian.Uint16(head[len(magic):])); v > Version {
		return nil, NewerError{Version: v}
	}
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(by.count()), zstd.WithDecoderMaxMemory(maxBlock), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("set up decompression of the recording: %w", err)
	}
	return &blockReader{by: by, in: in, unpacker: unpacker, decoders: Of(by, func() *decoder { return newDecoder(unpacker) })}, nil
}

// all passes the events of all complete blocks to take, some blocks at a time, in the order of the file. It returns
// how many bytes at the end form no complete block. It can be called once. The memory of the lists of events is
// reused unless kept is set.
func (r *blockReader) all(take func(blocks [][]Event)) (int64, error) {
	defer r.unpacker.Close()
	for !r.done {
		if err := r.read(r.in); err != nil {
			return 0, fmt.Errorf("read recording: %w", err)
		}
		take(r.decode())
	}
	rest, err := io.Copy(io.Discard, r.in)
	if err != nil {
		return 0, fmt.Errorf("read recording: %w", err)
	}
	return r.dropped + rest, nil
}

// joined returns the events of all blocks.
func joined(by Workers, blocks [][]Event) []Event {
	starts, n := make([]int, len(blocks)), 0
	for i, b := range blocks {
		starts[i] = n
		n += len(b)
	}
	all := make([]Event, n)
	by.Do(len(blocks), func(_, i int) { copy(all[starts[i]:], blocks[i]) })
	return all
}

// framesAtOnce is how many stored frames are in memory at a time.
const framesAtOnce = 16

// blockReader reads many frames at a time and decodes them in parallel.
type blockReader struct {
	by       Workers
	in       io.Reader
	unpacker *zstd.Decoder
	decoders []*decoder // one for each worker
	frames   []frame
	sparse   []bool // by frame to come: only facts for which lasts is true are wanted; nil: all facts are
	dropped  int64  // bytes
	done     bool   // there are no more frames, or no more complete ones
	kept     bool   // the caller keeps the lists of events
}

// frame is one stored frame, and memory for its events.
type frame struct {
	head   [frameHead]byte
	stored []byte
	events []Event
}

// read reads the next frames of a file, up to and including one that defines kinds.
func (r *blockReader) read(in io.Reader) error {
	r.frames = r.frames[:0]
	for len(r.frames) < framesAtOnce {
		f := r.room()
		n, err := io.ReadFull(in, f.head[:])
		if errors.Is(err, io.EOF) {
			r.done = true
			return nil
		}
		if err == nil {
			var body int
			body, err = f.read(in)
			n += body
		}
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, errMalformed) {
			r.dropped, r.done = int64(n), true
			return nil
		}
		if err != nil {
			return err
		}
		r.frames = append(r.frames, f)
		if f.head[0] == frameSchema {
			break
		}
	}
	return nil
}

// room returns a frame that reuses the memory of an earlier one.
func (r *blockReader) room() (f frame) {
	if n := len(r.frames); n < cap(r.frames) {
		old := &r.frames[:n+1][n]
		f.stored, f.events = old.stored, old.events[:0]
	}
	return f
}

// read reads what follows the head of a frame, and returns the number of bytes read.
func (f *frame) read(in io.Reader) (int, error) {
	stored, plain := f.sizes()
	if stored > maxBlock || plain > maxBlock || plain/maxExpand > stored {
		return 0, errMalformed
	}
	f.stored = slices.Grow(f.stored[:0], int(stored))[:stored]
	return io.ReadFull(in, f.stored)
}

func (f *frame) sizes() (stored, plain uint32) {
	return binary.LittleEndian.Uint32(f.head[1:]), binary.LittleEndian.Uint32(f.head[5:])
}

// decode returns the events of the frames that were read, up to the first that is not complete. If a frame has an
// error, nothing of it is kept. Frames of an unknown type come from newer versions and yield no events.
func (r *blockReader) decode() [][]Event {
	blocks, failed := make([][]Event, len(r.frames)), make([]error, len(r.frames))
	r.by.Do(len(r.frames), func(worker, i int) {
		d, f := r.decoders[worker], &r.frames[i]
		d.sparse = i < len(r.sparse) && r.sparse[i]
		if r.kept {
			d.events = d.apart()
		} else {
			d.events = f.events
		}
		blocks[i], failed[i] = d.frame(f)
		f.events = blocks[i]
	})
	r.sparse = r.sparse[min(len(r.frames), len(r.sparse)):]
	for i := range r.frames {
		if failed[i] == nil && r.frames[i].head[0] == frameSchema {
			failed[i] = r.define(r.frames[i].stored)
		}
		if failed[i] != nil {
			for _, f := range r.frames[i:] {
				r.dropped += int64(frameHead + len(f.stored))
			}
			r.done = true
			return blocks[:i]
		}
	}
	return blocks
}

// define passes definitions of kinds to all decoders.
func (r *blockReader) define(payload []byte) error {
	for _, d := range r.decoders {
		if err := d.schema(&cursor{b: payload}); err != nil {
			return err
		}
	}
	return nil
}

// slabEvents is how many events share one piece of memory while they are read.
const slabEvents = 1 << 16

// decoder turns frames into events.
type decoder struct {
	unpacker *zstd.Decoder
	checksum *crc32.Table
	plain    []byte
	specs    []KindSpec
	kinds    []*readerRow      // by the number that the file assigns; nil for numbers it does not define
	events   []Event           // of the current block
	table    []string          // of the current block
	strings  map[string]string // of all blocks, so that equal ones share memory
	fill     fillVisitor
	slabs    slabs

	glance bool // a block yields one event, at its earliest time, which stands for the whole block
	sparse bool // only facts that matter outside windows are wanted of a block, see lasts
}

func newDecoder(unpacker *zstd.Decoder) *decoder {
	return &decoder{unpacker: unpacker, checksum: crc32.MakeTable(crc32.Castagnoli), specs: Kinds(), strings: map[string]string{}}
}

// frame returns the events of a frame, if it has any.
func (d *decoder) frame(f *frame) ([]Event, error) {
	sum := crc32.Update(crc32.Checksum(f.head[:9], d.checksum), d.checksum, f.stored)
	if sum != binary.LittleEndian.Uint32(f.head[9:]) {
		return nil, errMalformed
	}
	payload := f.stored
	switch f.head[0] {
	case frameEventsZstd:
		var err error
		_, plain := f.sizes()
		if d.plain, err = d.unpacker.DecodeAll(f.stored, slices.Grow(d.plain[:0], int(plain))); err != nil || len(d.plain) != int(plain) {
			return nil, errMalformed
		}
		payload = d.plain
	case frameEvents:
	default:
		return nil, nil
	}
	return d.block(payload)
}

// apart returns memory for events, after those that are kept.
func (d *decoder) apart() []Event {
	if cap(d.events)-len(d.events) < slabEvents/8 { // avoids copying them when they outgrow their memory
		d.events = make([]Event, 0, slabEvents)
	}
	return d.events[len(d.events):]
}

// block returns the events of a block, or none if it is malformed.
func (d *decoder) block(payload []byte) ([]Event, error) {
	read := d.eventBlock
	if d.glance {
		read = d.glanceAt
	}
	if err := read(&cursor{b: payload}); err != nil {
		return nil, err
	}
	return d.events, nil
}

// readerRow is one kind as the file defines it, and its state within a block.
type readerRow struct {
	shape shape
	spec  *KindSpec // nil: not known to this version
	exact bool      // columns have the same positions as in spec
	width int       // number of columns of shape or of spec, whichever is larger
	last  [maxColumns]int64
}

func (d *decoder) schema(c *cursor) error {
	for c.more() {
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

// strs reads the strings to which the facts of a block refer.
func (d *decoder) strs(c *cursor) {
	d.table = append(d.table[:0], "")
	for range c.count() {
		d.table = append(d.table, d.intern(c.bytes()))
	}
}

func (d *decoder) eventBlock(c *cursor) error {
	for _, row := range d.kinds {
		if row != nil {
			row.last = [maxColumns]int64{}
		}
	}
	d.strs(c)
	var t Time
	for c.more() {
		var row *readerRow
		if number := c.uvarint(); number < uint64(len(d.kinds)) {
			row = d.kinds[number]
		}
		t += Time(c.varint())
		set := c.uvarint()
		if row == nil || c.bad || bits.Len64(set) > len(row.shape.columns) {
			return errMalformed
		}
		row.values(c, set, &d.fill.values)
		if d.sparse && !row.lasts() {
			continue
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
