package facts

import (
	"sort"

	"github.com/getdwell/dwell/recording"
)

// Chunk is a Chunk of a connection, in one direction, in less memory: there are two or
// more of them for each request.
type Chunk struct {
	At, Arrived            recording.Time
	Offset, Bytes, Counter int64
	*ChunkBy
}

// ChunkBy is what Chunks that follow each other often have in common.
type ChunkBy struct {
	Thread        recording.ThreadID
	Goroutine     recording.GoroutineID
	Exec, Trigger int64
	Context       recording.ContextID
	Contexts      int64
	Merged        int64
	since         recording.Duration // from when the first of its calls returned to when the last did
	spread        recording.Duration // from when its first byte reached the socket to when its last did
	Undated       bool               // when its last byte did is not known
}

// alike is among how many Chunks before one of the same by is looked for.
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

// DropInbound lets go of what was read and written on inbound connections, once requests are made of it
// and it is known what loops did there: later it is asked only when the end of a response left, which was late.
func (f *Facts) DropInbound() {
	for i := range f.Conns {
		if c := &f.Conns[i]; c.Decl.Side == recording.Inbound {
			c.Drop()
		}
	}
}

// Drop lets go of what was read and written on an inbound connection.
func (c *Conn) Drop() {
	if len(c.Late) == 0 {
		c.Chunks = [2][]Chunk{}
	}
}

// First is when the first of the chunk's calls returned.
func (c *Chunk) First() recording.Time { return c.At - recording.Time(c.since) }

// Last is when the last byte of what was read reached the socket; NoTime if that is not known.
func (c *Chunk) Last() recording.Time {
	if c.Undated {
		return recording.NoTime
	}
	return c.Arrived + recording.Time(c.spread)
}

// firstOf is when the first of some reads or writes returned, of which it was told when the
// first and the last did.
func firstOf(first, last recording.Time) recording.Time {
	if first == recording.NoTime || first > last {
		return last
	}
	return first
}

// End is the position after its last byte.
func (c *Chunk) End() int64 { return c.Offset + max(c.Bytes, 0) }

// IOSpan is when the first and the last of some reads or writes returned.
type IOSpan struct {
	From, To recording.Time
	Dir      recording.Direction
}

// ioSpans are those of a thread, in order of their ends, in little memory: as a rule one
// call is all of a span.
type ioSpans struct {
	ends  []recording.Time         // twice the time, and the direction
	longs map[int32]recording.Time // the beginnings of those that are of several calls, by place
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

// None reports that there are none.
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
