package recording

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Stream reads a recording as LoadBy does, its texts as Printable makes them, and hands each of
// its events over once, in their order. It holds no more of them at a time than are not in
// their order in the file: to know which those are it reads a binary file twice, if in can be
// put back to its beginning. The Recording that it returns has no events. On error, what was
// handed over is no recording.
func Stream(by Workers, in io.Reader, each func(Event)) (*Recording, error) {
	floors, size, err := floorsOf(by, in)
	if err != nil {
		return nil, err
	}
	if floors == nil {
		return whole(by, in, each)
	}
	r, err := newBlockReader(by, io.LimitReader(in, size)) // it may have grown since
	if err != nil {
		return nil, err
	}
	s := streamer{by: by, each: each, screen: newScreen(), printers: Of(by, newPrinter), floors: floors}
	dropped, err := r.all(s.blocks)
	if err != nil {
		return nil, err
	}
	return s.end(dropped)
}

// whole is Stream of what cannot be read twice, and of what is no binary file.
func whole(by Workers, in io.Reader, each func(Event)) (*Recording, error) {
	rec, err := LoadBy(by, in)
	if err != nil {
		return nil, err
	}
	rec.Printable()
	for i := range rec.Events {
		each(rec.Events[i])
		rec.Events[i].Fact = nil
	}
	rec.Events = nil
	return rec, nil
}

// floorsOf returns before which time no event is in a block of a file or in one behind it, by block,
// and how long the file is, and puts it back to its beginning; nil if that cannot be done, or it
// is no binary file.
func floorsOf(by Workers, in io.Reader) ([]Time, int64, error) {
	file, ok := in.(io.ReadSeeker)
	if !ok {
		return nil, 0, nil
	}
	begin, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, 0, nil
	}
	head := make([]byte, len(magic))
	n, _ := io.ReadFull(in, head)
	floors, end := []Time(nil), int64(0)
	if IsBinary(head[:n]) {
		if _, err = file.Seek(begin, io.SeekStart); err == nil {
			floors, err = lowestOf(by, in)
		}
		if err != nil {
			return nil, 0, err
		}
		if end, err = file.Seek(0, io.SeekCurrent); err != nil {
			return nil, 0, fmt.Errorf("read recording: %w", err)
		}
	}
	if _, err := file.Seek(begin, io.SeekStart); err != nil {
		return nil, 0, fmt.Errorf("read recording: %w", err)
	}
	return floors, end - begin, nil
}

// lowestOf returns the earliest time in each block of a file and those behind it.
func lowestOf(by Workers, in io.Reader) ([]Time, error) {
	r, err := newBlockReader(by, in)
	if err != nil {
		return nil, err
	}
	for _, d := range r.decoders {
		d.timesOnly = true
	}
	floors := []Time{}
	if _, err := r.all(func(blocks [][]Event) {
		for _, b := range blocks {
			floors = append(floors, math.MaxInt64)
			if len(b) > 0 {
				floors[len(floors)-1] = b[0].Time
			}
		}
	}); err != nil {
		return nil, err
	}
	for i := len(floors) - 2; i >= 0; i-- {
		floors[i] = min(floors[i], floors[i+1])
	}
	return floors, nil
}

// lowest adds an event without a fact, at the earliest time of those of a block.
func (d *decoder) lowest(c *cursor) error {
	var t Time
	low := Time(math.MaxInt64)
	for range c.count() {
		c.bytes()
	}
	for len(c.b) > 0 {
		number := c.uvarint()
		t += Time(c.varint())
		set := c.uvarint()
		if number >= uint64(len(d.kinds)) || d.kinds[number] == nil || bits.Len64(set) > len(d.kinds[number].shape.columns) {
			return errMalformed
		}
		for range bits.OnesCount64(set) {
			c.uvarint()
		}
		low = min(low, t)
	}
	if c.bad {
		return errMalformed
	}
	d.events = append(d.events, Event{Time: low})
	return nil
}

// streamer hands over the events of blocks.
type streamer struct {
	by       Workers
	each     func(Event)
	screen   *screen
	printers []*printer // of each worker
	floors   []Time     // of the blocks to come; see floorsOf
	waiting  [][]Event  // by batch of blocks, in order of time: an earlier one may be in a block to come
	ready    []Event    // kept for its memory
	last     *Event     // held back; nil: there was none
	first    Time       // when the first one was
	ended    bool       // there was an End
}

// blocks takes the events of the next blocks. What waits is put in order once, and once more when it is
// handed over, however long that takes.
func (s *streamer) blocks(blocks [][]Event) {
	var batch []Event
	for _, b := range blocks {
		batch = append(batch, b...)
	}
	batch = s.screen.within(s.by, batch)
	s.by.InPieces(len(batch), eventsAtOnce, func(worker, from, to int) {
		for i := from; i < to; i++ {
			batch[i].Fact.Visit(s.printers[worker])
		}
	})
	sortEvents(batch)
	s.waiting = append(s.waiting, batch)
	s.floors = s.floors[min(len(blocks), len(s.floors)):]
	s.release()
}

// release hands over what no event that is to come is earlier than.
func (s *streamer) release() {
	s.ready = s.ready[:0]
	for i, batch := range s.waiting {
		n := len(batch)
		if len(s.floors) > 0 {
			n = sort.Search(n, func(i int) bool { return batch[i].Time > s.floors[0] })
		}
		s.ready = append(s.ready, batch[:n]...)
		clear(batch[:n])
		s.waiting[i] = batch[n:]
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(batch []Event) bool { return len(batch) == 0 })
	sortEvents(s.ready) // those of one time stay in the order of the file
	for _, e := range s.ready {
		s.hand(e)
	}
	clear(s.ready)
}

// hand hands over the event before this one.
func (s *streamer) hand(e Event) {
	if s.last == nil {
		s.last, s.first = &Event{}, e.Time
	} else {
		s.each(*s.last)
	}
	*s.last = e
	if _, end := e.Fact.(*End); end {
		s.ended = true
	}
}

// end hands over what is left once there are no more blocks, and tells of what was left out.
func (s *streamer) end(dropped int64) (*Recording, error) {
	s.floors = nil // blocks that made no sense were to come
	s.release()
	if s.last == nil {
		return assemble(nil, dropped)
	}
	closing := []Event{*s.last}
	if s.screen.left > 0 {
		closing = slices.Insert(closing, s.screen.told(closing[0]), s.screen.loss(s.first, s.last.Time))
	}
	for _, e := range closing {
		s.each(e)
	}
	return &Recording{Truncated: !s.ended, Dropped: dropped, LeftOut: s.screen.left}, nil
}
