package timeline

import "github.com/getdwell/dwell/recording"

// chunkAt is a Chunk of a connection, in one direction, in less memory: there are two or
// more of them for each request.
type chunkAt struct {
	at, First, Arrived, Last Time
	Offset, Bytes, Counter   int64
	*chunkBy
}

// chunkBy is what Chunks that follow each other often have in common.
type chunkBy struct {
	Thread        recording.ThreadID
	Goroutine     recording.GoroutineID
	Exec, Trigger int64
	Context       recording.ContextID
	Contexts      int64
	Merged        int64
}

// chunk adds a Chunk to those of its direction.
func (c *connFacts) chunk(at Time, x *recording.Chunk) {
	list := c.chunks[x.Dir]
	by := chunkBy{x.Thread, x.Goroutine, x.Exec, x.Trigger, x.Context, x.Contexts, x.Merged}
	shared := &by
	if n := len(list); n > 0 && *list[n-1].chunkBy == by {
		shared = list[n-1].chunkBy
	}
	c.chunks[x.Dir] = append(list, chunkAt{at, x.First, x.Arrived, x.Last, x.Offset, x.Bytes, x.Counter, shared})
}

// first is when the first of the chunk's calls returned.
func (c *chunkAt) first() Time { return firstOf(c.First, c.at) }

// firstOf is when the first of some reads or writes returned, of which it was told when the
// first and the last did.
func firstOf(first, last Time) Time {
	if first == recording.NoTime || first > last {
		return last
	}
	return first
}

// end is the position after its last byte.
func (c *chunkAt) end() int64 { return c.Offset + max(c.Bytes, 0) }
