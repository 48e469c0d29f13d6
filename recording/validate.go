package recording

import (
	"errors"
	"fmt"
)

// maxProblems bounds what Validate reports.
const maxProblems = 100

// Validate checks that the facts of rec agree with each other: it begins with a Manifest; ids are declared once and
// before use; spans are not negative and lie within the recording; the spans of a thread off its CPU do not overlap;
// the bytes of a connection have no gap in either direction unless facts were lost meanwhile; and heads lie within
// the bytes that were seen. Every error names the event by its number (from 0), its kind and its time. After 100
// errors the rest is only counted.
func Validate(rec *Recording) []error {
	v := validator{
		specs: Kinds(), processes: map[ProcessID]bool{NoProcess: true}, threads: map[ThreadID]*Time{},
		conns: map[ConnID]*connBytes{}, frames: map[FrameID]bool{}, stacks: map[StackID]bool{}, files: map[FileID]string{},
	}
	for _, e := range rec.Events {
		if l, ok := e.Fact.(*Loss); ok {
			v.losses = append(v.losses, *l, Loss{From: e.Time})
		}
	}
	for i, e := range rec.Events {
		v.index, v.event = i, e
		v.order()
		v.fact(e.Fact)
	}
	v.heads()
	if v.more > 0 {
		v.errs = append(v.errs, fmt.Errorf("and %d more errors", v.more))
	}
	return v.errs
}

type validator struct {
	specs     []KindSpec
	index     int
	event     Event
	errs      []error
	more      int
	start     Time // of the recording
	last      Time
	ended     bool
	processes map[ProcessID]bool
	threads   map[ThreadID]*Time // from when on it may have been on a CPU
	conns     map[ConnID]*connBytes
	frames    map[FrameID]bool
	stacks    map[StackID]bool
	files     map[FileID]string
	losses    []Loss // in pairs: the fact, and a Loss whose From is its end
	waiting   []head
}

// connBytes records what was seen of a connection in both directions.
type connBytes struct {
	side     Side
	existing bool
	opened   Time
	streams  [2]stream
}

// stream records the bytes of one direction.
type stream struct {
	seen       bool
	start, end int64
	time       Time // of the last Chunk
	lossy      bool
}

// head is a message or record that has to lie within a stream.
type head struct {
	index       int
	event       Event
	conn        ConnID
	dir         Direction
	offset, len int64
}

func (v *validator) report(format string, args ...any) {
	if len(v.errs) >= maxProblems {
		v.more++
		return
	}
	where := fmt.Sprintf("event %d (%s at %d): ", v.index, kindName(v.event.Fact, v.specs), v.event.Time)
	v.errs = append(v.errs, errors.New(where+fmt.Sprintf(format, args...)))
}

// order checks an event against its neighbours.
func (v *validator) order() {
	_, manifest := v.event.Fact.(*Manifest)
	switch {
	case v.index == 0 && !manifest:
		v.report("the first event is not a manifest")
	case v.event.Time < v.last:
		v.report("it comes after an event at %d", v.last)
	}
	if v.ended {
		v.report("it comes after the end")
	}
	if v.index == 0 {
		v.start = v.event.Time
	}
	v.last = v.event.Time
}

func (v *validator) fact(fact Fact) {
	switch f := fact.(type) {
	case *UnknownFact:
		v.report("this dwell does not know the kind: it is of a newer version, or misspelt")
	case *End:
		v.ended = true
	case *Loss:
		v.span("from", f.From)
		v.notNegative("count", f.Count)
	case *Gap:
		v.span("from", f.From)
	case *Unseen:
		v.process(f.Process)
		v.span("from", f.From)
	case *Process:
		v.declare(v.processes[f.ID], int64(f.ID))
		v.process(f.Parent)
		v.processes[f.ID] = true
	case *Exec:
		v.process(f.Process)
	case *ProcessExit:
		v.process(f.Process)
	case *Listen:
		v.process(f.Process)
	case *Thread:
		v.declare(v.threads[f.ID] != nil, int64(f.ID))
		v.process(f.Process)
		v.thread(f.Creator)
		v.threads[f.ID] = new(Time)
	case *ThreadExit:
		v.thread(f.Thread)
	case *ThreadState:
		v.thread(f.Thread)
		if f.Since > v.event.Time {
			v.report("since %d is after it", f.Since)
		}
	case *Off:
		v.off(f)
	case *File, *Mapping, *MemoryWait, *Sync, *Memory, *BlockIO:
		v.storageFact(fact)
	case *Sample:
		v.thread(f.Thread)
	case *Boundary:
		v.thread(f.Thread)
	case *DNS:
		v.thread(f.Thread)
		v.span("arrived", f.Arrived)
	case *Frame, *Stack, *StackAt:
		v.stackFact(fact)
	default:
		v.connFact(fact)
	}
}

func (v *validator) connFact(fact Fact) {
	switch f := fact.(type) {
	case *Conn:
		v.declare(v.conns[f.ID] != nil, int64(f.ID))
		v.process(f.Process)
		v.thread(f.Thread)
		if f.Before != NoConn {
			v.conn(f.Before)
		}
		v.conns[f.ID] = &connBytes{side: f.Side, existing: f.Existing != 0, opened: v.event.Time}
	case *Established:
		v.conn(f.Conn)
	case *Closed:
		v.conn(f.Conn)
		v.thread(f.Thread)
	case *ConnProtocol:
		v.conn(f.Conn)
	case *Tunnel:
		v.outbound(f.Conn)
		v.notNegative("written", f.Written)
		v.notNegative("read", f.Read)
	case *Late:
		v.conn(f.Conn)
		v.span("left", f.Left)
		v.notNegative("offset", f.Offset)
	case *Chunk:
		v.chunk(f)
	case *HTTPRequest:
		if c := v.conn(f.Conn); c != nil {
			v.head(head{conn: f.Conn, dir: Direction(c.side), offset: f.Offset, len: f.Head})
		}
	case *HTTPResponse:
		if c := v.conn(f.Conn); c != nil {
			v.head(head{conn: f.Conn, dir: 1 - Direction(c.side), offset: f.Offset, len: f.Head})
		}
	case *TLS:
		v.conn(f.Conn)
		v.notNegative("bytes", f.Bytes)
		v.head(head{conn: f.Conn, dir: f.Dir, offset: f.Offset})
	default:
		v.commandFact(fact)
	}
}

func (v *validator) declare(known bool, id int64) {
	if known || id <= 0 {
		v.report("id %d is declared twice or not positive", id)
	}
}

func (v *validator) process(id ProcessID) {
	if !v.processes[id] {
		v.report("process %d is not declared before", id)
	}
}

func (v *validator) thread(id ThreadID) {
	if id != NoThread && v.threads[id] == nil {
		v.report("thread %d is not declared before", id)
	}
}

func (v *validator) conn(id ConnID) *connBytes {
	c := v.conns[id]
	if c == nil {
		v.report("connection %d is not declared before", id)
	}
	return c
}

func (v *validator) notNegative(name string, n int64) {
	if n < 0 {
		v.report("%s %d is negative", name, n)
	}
}

// span checks a time that belongs to the event and precedes it.
func (v *validator) span(name string, t Time) {
	if t != NoTime && (t < v.start || t > v.event.Time) {
		v.report("%s %d is not between the start of the recording, %d, and the event", name, t, v.start)
	}
}

func (v *validator) off(f *Off) {
	v.thread(f.Thread)
	v.thread(f.Waker)
	v.thread(f.Owner)
	v.storage(f)
	v.span("since", f.Since)
	v.span("woken", f.Woken)
	if f.Since == NoTime || f.Woken != NoTime && f.Woken < f.Since {
		v.report("it was woken at %d, before it slept at %d", f.Woken, f.Since)
	}
	if on := v.threads[f.Thread]; on != nil {
		if f.Since < *on {
			v.report("since %d: thread %d was off its CPU until %d already", f.Since, f.Thread, *on)
		}
		*on = v.event.Time
	}
}

func (v *validator) chunk(f *Chunk) {
	v.thread(f.Thread)
	v.notNegative("bytes", f.Bytes)
	v.notNegative("offset", f.Offset)
	v.span("first", f.First)
	v.span("last", f.Last)
	// Bytes may have arrived before the recording.
	if f.Arrived > v.event.Time || f.Last != NoTime && f.Arrived > f.Last {
		v.report("arrived %d is after last %d or the event", f.Arrived, f.Last)
	}
	c := v.conn(f.Conn)
	if c == nil {
		return
	}
	if f.Dir != Read && f.Dir != Write {
		v.report("direction %d", f.Dir)
		return
	}
	s := &c.streams[f.Dir]
	since := s.time
	if !s.seen {
		since = c.opened
		s.seen, s.start, s.end = true, f.Offset, 0
		if c.existing {
			s.end = f.Offset
		}
	}
	lost := v.lostBetween(since, v.event.Time)
	s.lossy = s.lossy || lost
	if f.Offset < s.end || f.Offset > s.end && !lost {
		v.report("offset %d: %d bytes went this way before, and nothing was lost", f.Offset, s.end)
	}
	s.end, s.time = max(s.end, f.Offset+f.Bytes), v.event.Time
}

func (v *validator) lostBetween(from, to Time) bool {
	for i := 0; i < len(v.losses); i += 2 {
		if v.losses[i].From <= to && v.losses[i+1].From >= from {
			return true
		}
	}
	return false
}

func (v *validator) head(h head) {
	v.notNegative("offset", h.offset)
	v.notNegative("head", h.len)
	h.index, h.event = v.index, v.event
	v.waiting = append(v.waiting, h)
}

// heads performs the checks that had to wait for all Chunks: a head may end in a later one.
func (v *validator) heads() {
	for _, h := range v.waiting {
		c := v.conns[h.conn]
		if c == nil || h.dir != Read && h.dir != Write {
			continue
		}
		s := c.streams[h.dir]
		if s.lossy || !s.seen && len(v.losses) > 0 {
			continue
		}
		if !s.seen || h.offset < s.start || h.offset+max(h.len, 1) > s.end {
			v.index, v.event = h.index, h.event
			v.report("bytes %d to %d were not seen: those seen are %d to %d", h.offset, h.offset+max(h.len, 1), s.start, s.end)
		}
	}
}
