package facts

import (
	"sort"

	"github.com/getdwell/dwell/recording"
)

// Chunk is a recording.Chunk of a connection, in one direction, in less memory: there are two or more for each request.
type Chunk struct {
	At, Arrived            recording.Time
	Offset, Bytes, Counter int64
	*ChunkBy
}

// ChunkBy is what successive Chunks often have in common.
type ChunkBy struct {
	Thread        recording.ThreadID
	Goroutine     recording.GoroutineID
	Exec, Trigger int64
	Context       recording.ContextID
	Contexts      int64
	Merged        int64
	since         recording.Duration // from when its first call returned to when its last did
	spread        recording.Duration // from when its first byte reached the socket to when its last did
	Undated       bool               // it is not known when its last byte did
}

// alike is how many previous Chunks are searched for one with an equal ChunkBy.
const alike = 4

// chunk adds a Chunk to those of its direction.
func (c *growingConn) chunk(at recording.Time, x *recording.Chunk) {
	list := c.chunks[x.Dir].Last()
	by := ChunkBy{
		x.Thread, x.Goroutine, x.Exec, x.Trigger, x.Context, x.Contexts, x.Merged,
		at.Sub(firstOf(x.First, at)), x.Last.Sub(x.Arrived), x.Last == recording.NoTime,
	}
	if by.Undated {
		by.spread = 0
	}
	var shared *ChunkBy
	for i := len(list) - 1; i >= 0 && i >= len(list)-alike; i-- {
		if *list[i].ChunkBy == by {
			shared = list[i].ChunkBy
			break
		}
	}
	if shared == nil {
		own := by
		shared = &own
	}
	c.chunks[x.Dir].Add(Chunk{at, x.Arrived, x.Offset, x.Bytes, x.Counter, shared})
}

// DropInbound releases what was read and written on inbound connections, once their requests are made and the loops'
// activity there is known. Afterwards only the connections whose responses left late are needed.
func (f *Facts) DropInbound() {
	for i := range f.Conns {
		if c := &f.Conns[i]; c.Decl.Side == recording.Inbound {
			c.Drop()
		}
	}
}

// Drop releases what was read and written on an inbound connection, unless responses left it late.
func (c *Conn) Drop() {
	if len(c.Late) == 0 {
		c.Chunks = [2][]Chunk{}
	}
}

// First returns when the first of the chunk's calls returned.
func (c *Chunk) First() recording.Time { return c.At - recording.Time(c.since) }

// Last returns when the last byte of what was read reached the socket; NoTime if that is not known.
func (c *Chunk) Last() recording.Time {
	if c.Undated {
		return recording.NoTime
	}
	return c.Arrived + recording.Time(c.spread)
}

// firstOf returns when the first of some reads or writes returned, given what was recorded for the first and for the
// last.
func firstOf(first, last recording.Time) recording.Time {
	if first == recording.NoTime || first > last {
		return last
	}
	return first
}

// End returns the position after its last byte.
func (c *Chunk) End() int64 { return c.Offset + max(c.Bytes, 0) }

// IOSpan is when the first and the last of some reads or writes returned.
type IOSpan struct {
	From, To recording.Time
	Dir      recording.Direction
}

// ioSpans are the IOSpans of a thread, in order of their ends, in little memory: usually a span consists of one call.
type ioSpans struct {
	ends  []recording.Time         // twice the time, plus the direction
	longs map[int32]recording.Time // by index: the beginnings of spans of several calls
}

func (s *ioSpans) add(from, to recording.Time, dir recording.Direction) {
	if from != to {
		if s.longs == nil {
			s.longs = map[int32]recording.Time{}
		}
		s.longs[int32(len(s.ends))] = from
	}
	s.ends = append(doubled(s.ends), to<<1|recording.Time(dir&1))
}

// None reports whether there are none.
func (s *ioSpans) None() bool { return len(s.ends) == 0 }

// After returns the first that ended at a time or later.
func (s *ioSpans) After(at recording.Time) (IOSpan, bool) {
	i := sort.Search(len(s.ends), func(k int) bool { return s.ends[k]>>1 >= at })
	if i == len(s.ends) {
		return IOSpan{}, false
	}
	span := IOSpan{From: s.ends[i] >> 1, To: s.ends[i] >> 1, Dir: recording.Direction(s.ends[i] & 1)}
	if from, long := s.longs[int32(i)]; long {
		span.From = from
	}
	return span, true
}
