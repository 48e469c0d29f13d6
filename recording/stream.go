package recording

import (
	"fmt"
	"io"
	"slices"
	"sort"
)

// Stream reads a recording as LoadBy does, makes its texts safe with Printable, and passes each of its events to each
// once, in order. It keeps only those events in memory that are not in order in the file. To know which those are, it
// reads a binary file twice if in can seek. The Recording that it returns has no events. If Stream returns an error,
// the events passed on so far are not a valid recording.
func Stream(by Workers, in io.Reader, each func(Event)) (*Recording, error) {
	return Part{}.Stream(by, in, each)
}

// Stream is the function Stream for a part of a recording. It passes on what a recorder would have written that had
// paused between the windows: see thinner. Input that cannot be read twice, and the text form, is passed on
// completely.
func (p Part) Stream(by Workers, in io.Reader, each func(Event)) (*Recording, error) {
	o, size, err := outlined(by, in)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return whole(by, in, each)
	}
	windows, err := o.windows(p)
	if err != nil {
		return nil, err
	}
	r, err := newBlockReader(by, io.LimitReader(in, size)) // the file may have grown meanwhile
	if err != nil {
		return nil, err
	}
	s := streamer{by: by, each: each, screen: newScreen(), printers: Of(by, newPrinter), floors: o.floors, code: o.code, home: o.first}
	if p.Brief {
		s.spent = r.decoders
	}
	var thin *thinner
	if windows != nil {
		thin = newThinner(windows, o, each)
		s.each, r.sparse = thin.take, o.between(windows)
	}
	dropped, err := r.all(s.blocks)
	if err != nil {
		return nil, err
	}
	rec, err := s.end(dropped)
	if err == nil && thin != nil {
		thin.end()
		rec.Excerpt = &Excerpt{Windows: windows, Requests: thin.requests, Of: o.requests}
	}
	return rec, err
}

// whole is Stream for input that cannot be read twice, and for input that is not a binary file.
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

// outlined returns the outline of a file and the file's length, and seeks back to the beginning. The outline is nil
// if the input cannot seek or is not a binary file.
func outlined(by Workers, in io.Reader) (*outline, int64, error) {
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
	o, end := (*outline)(nil), int64(0)
	if IsBinary(head[:n]) {
		if _, err = file.Seek(begin, io.SeekStart); err == nil {
			o, err = outlineOf(by, in)
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
	return o, end - begin, nil
}

// outlineOf reads a file for its outline, before its events are read.
func outlineOf(by Workers, in io.Reader) (*outline, error) {
	r, err := newBlockReader(by, in)
	if err != nil {
		return nil, err
	}
	for _, d := range r.decoders {
		d.glance = true
	}
	o := &outline{floors: []Time{}, inbound: connSet{}, first: -1}
	if _, err := r.all(func(blocks [][]Event) {
		for _, b := range blocks {
			o.add(b)
		}
	}); err != nil {
		return nil, err
	}
	o.end()
	return o, nil
}

// streamer passes on the events of blocks.
type streamer struct {
	by       Workers
	each     func(Event)
	screen   *screen
	printers []*printer // one for each worker
	floors   []Time     // for the blocks to come; see outline
	code     []Event    // each Frame and Stack of all blocks except the first that has facts
	home     int        // index of that first block, counted from the next block
	waiting  []batch    // a block to come may contain an earlier event than these
	ready    []Event    // reused memory
	spare    [][]Event  // reused memory of batches
	spent    []*decoder // they make facts in the memory of those that were passed on
	last     *Event     // the event held back; nil: there was none
	first    Time       // time of the first event
	ended    bool       // an End was seen
}

// batch holds the events of some blocks, in order of time.
type batch struct {
	all, rest []Event // rest: those not passed on yet
}

// blocks takes the events of the next blocks. It sorts them once here; release sorts those that waited once more,
// however long they waited. The Frames and Stacks of later blocks are inserted after the first block that has facts:
// references to them may be anywhere, and waiting for their blocks would mean waiting for the end of the file.
func (s *streamer) blocks(blocks [][]Event) {
	n := len(s.code)
	for _, b := range blocks {
		n += len(b)
	}
	var all []Event
	if last := len(s.spare) - 1; last >= 0 {
		all, s.spare = s.spare[last], s.spare[:last]
	}
	all = slices.Grow(all, n)
	for _, b := range blocks {
		if s.home < 0 {
			b = slices.DeleteFunc(b, isCode)
		}
		if all = append(all, b...); s.home == 0 {
			all, s.code = append(all, s.code...), nil
		}
		s.home--
	}
	all = s.screen.within(s.by, all)
	s.by.InPieces(len(all), eventsAtOnce, func(worker, from, to int) {
		for i := from; i < to; i++ {
			s.printers[worker].print(all[i].Fact)
		}
	})
	sortEvents(all)
	s.waiting = append(s.waiting, batch{all, all})
	s.floors = s.floors[min(len(blocks), len(s.floors)):]
	s.release()
}

func isCode(e Event) bool {
	switch e.Fact.(type) {
	case *Frame, *Stack:
		return true
	}
	return false
}

// release passes on all events that no later block can precede.
func (s *streamer) release() {
	s.ready = s.ready[:0]
	for i := range s.waiting {
		b := &s.waiting[i]
		n := len(b.rest)
		if len(s.floors) > 0 {
			n = sort.Search(n, func(i int) bool { return b.rest[i].Time > s.floors[0] })
		}
		s.ready = append(s.ready, b.rest[:n]...)
		clear(b.rest[:n])
		if b.rest = b.rest[n:]; len(b.rest) == 0 {
			s.spare = append(s.spare, b.all[:0])
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(b batch) bool { return len(b.rest) == 0 })
	sortEvents(s.ready) // events with equal times keep the order of the file
	for i, e := range s.ready {
		if f := s.hand(e); f != nil && s.spent != nil {
			s.spent[i*len(s.spent)/len(s.ready)].slabs.spend(f)
		}
	}
	clear(s.ready)
}

// hand passes on the event before e, and returns its fact; nil if there was none.
func (s *streamer) hand(e Event) (handed Fact) {
	if s.last == nil {
		s.last, s.first = &Event{}, e.Time
	} else {
		handed = s.last.Fact
		s.each(*s.last)
	}
	*s.last = e
	if _, end := e.Fact.(*End); end {
		s.ended = true
	}
	return handed
}

// end passes on the rest after the last block, and reports what was left out.
func (s *streamer) end(dropped int64) (*Recording, error) {
	s.floors = nil // malformed blocks were to come
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
