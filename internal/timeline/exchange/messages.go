// Package exchange pairs what was read and written on connections into exchanges. Inbound makes the connections,
// look-ups and requests of a Timeline; Outbound makes its calls. What a request or call was made from (its chunks, the
// strand that wrote it) is kept in a parallel list with the same index, for the code that determines whose it is. If a
// request has the wrong bounds, or the answer of another one, fix it here.
package exchange

import (
	"math"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// endless is the end of a message whose length no head gives.
const endless = math.MaxInt64

// message is one request or response on a connection: a span of bytes in one direction, and when they moved.
type message struct {
	arrived recording.Time // reads: when its first byte was in the socket; NoTime unknown
	Begin   recording.Time // when its first byte was read or written
	end     recording.Time // when its last byte was read or written
	Chunks
	complete bool // if its head gave a length, all of it was seen
	merged   bool // arrival stamps had to be merged: arrived may be too early
}

// Chunks identifies the chunks of its direction that contain a message.
type Chunks struct{ First, N int32 }

// None reports whether no byte of the message was seen.
func (c *Chunks) None() bool { return c.N == 0 }

// Last returns the index of the last chunk.
func (c *Chunks) Last() int32 { return c.First + c.N - 1 }

// extent is where in its direction's bytes a message lies.
type extent struct {
	from, to int64          // to: endless if unknown
	sure     bool           // to was computed from a length, so the message must reach it
	until    recording.Time // chunks from this time on are not its own; NoTime: no such limit
}

// reader finds the messages of one direction, front to back.
type reader struct {
	chunks []facts.Chunk
	next   int
}

// message returns the message of an extent. Extents must be requested in order.
func (r *reader) message(e extent) message {
	for r.next < len(r.chunks) && r.chunks[r.next].End() <= e.from {
		r.next++
	}
	m := message{Chunks: Chunks{First: int32(r.next)}}
	var reach int64
	for i := r.next; i < len(r.chunks); i++ {
		c := &r.chunks[i]
		if c.Offset >= e.to || (e.until != recording.NoTime && i > r.next && c.First() >= e.until) {
			break
		}
		if c.Bytes > 0 {
			m.N, reach = int32(i+1-r.next), c.End()
			m.end = c.At
		}
	}
	if m.None() {
		return m
	}
	head := &r.chunks[m.First]
	m.Begin, m.arrived, m.merged = head.First(), head.Arrived, head.Merged == 1
	if e.from > head.Offset { // begins inside: the whole chunk had arrived by Last
		m.Begin = head.At
		if !head.Undated {
			m.arrived = head.Last()
		}
	}
	if m.arrived > m.Begin {
		m.arrived = m.Begin
	}
	m.complete = !e.sure || reach >= e.to
	return m
}

// exchange is a request and its response on one connection.
type exchange struct {
	ordinal int
	ask     *facts.Request  // nil: not seen, or opaque
	answer  *facts.Response // nil: none was seen, or opaque
	asked   message
	replied message

	command  *recording.Command // of another protocol; then ask and answer are nil
	reply    *recording.Reply   // nil: none was seen, it could not be identified, or it is encrypted
	unpaired bool               // bytes followed it, but no answer could be identified
	again    recording.Time     // over UDP: when it was repeated; NoTime: it was not
	over     recording.Time     // for an unpaired request: when its answer was over; NoTime: not known
}

// endAsked returns which side of the exchange asked for the end of its connection.
func (x *exchange) endAsked() timeline.EndAsked {
	switch {
	case x.ask != nil && x.ask.Close == 1:
		return timeline.EndByRequest
	case x.answer == nil:
		return timeline.EndNotSeen
	case x.answer.Close == 1:
		return timeline.EndByAnswer
	}
	return timeline.EndNotAsked
}

// exchanged is the part of an exchange that is kept for its call: the messages without their facts.
type exchanged struct{ Asked, Replied message }

// final reports whether a response is the last one to its request.
func final(r *facts.Response) bool {
	return r.Status < 100 || r.Status >= 200 || r.Status == 101
}

// httpExchanges pairs the requests and responses of an HTTP/1 connection: first in, first out, which is right for
// pipelining too. A response that begins before the oldest unanswered request belongs to a request that was not
// recorded. So does the first response on a connection that existed before recording and has seen no request since. The
// result reuses the memory of room, a list that is no longer needed.
func httpExchanges(c *facts.Conn, askDir recording.Direction, room []exchange) []exchange {
	out := slices.Grow(room[:0], len(c.Asks))
	asks := reader{chunks: c.Chunks[askDir]}
	answers := reader{chunks: c.Chunks[1-askDir]}
	j := 0
	unasked := func() {
		if final(&c.Answers[j]) {
			out = append(out, exchange{answer: &c.Answers[j], replied: answers.message(answerExtent(c, j, ""))})
		}
		j++
	}
	for i := range c.Asks {
		for j < len(c.Answers) && (!final(&c.Answers[j]) || c.Answers[j].At < c.Asks[i].At) {
			unasked()
		}
		x := exchange{ask: &c.Asks[i]}
		until := recording.NoTime
		if x.over = hiddenUntil(c, 1-askDir, i, j); x.over != recording.NoTime {
			x.asked, x.unpaired = asks.message(askExtent(c, i, x.over)), true
			out = append(out, x)
			continue
		}
		if j < len(c.Answers) {
			x.answer = &c.Answers[j]
			until = c.Answers[j].At
		}
		x.asked = asks.message(askExtent(c, i, until))
		if x.answer != nil {
			x.replied = answers.message(answerExtent(c, j, x.ask.Method))
			j++
		}
		out = append(out, x)
	}
	if len(c.Asks) == 0 && c.Decl.Existing == 1 { // under way when recording began, and the last on its connection
		for j < len(c.Answers) && len(out) == 0 {
			unasked()
		}
	}
	for i := range out {
		out[i].ordinal = i
	}
	return out
}

// hiddenUntil returns when the answer to the i-th request was over at the latest, if the head of that answer was not
// seen. This is assumed if all of the following hold: the client sends several requests at once; no head gave the
// length of the previous answer; and after that answer had begun, the client sent yet another request, before the next
// answer seen (the j-th) began. Otherwise that j-th answer belongs to the request, and hiddenUntil returns NoTime.
func hiddenUntil(c *facts.Conn, dir recording.Direction, i, j int) recording.Time {
	if i == 0 || j == 0 || c.Asks[i].At != c.Asks[i-1].At || c.Answers[j-1].Length >= 0 {
		return recording.NoTime
	}
	k := i + sort.Search(len(c.Asks)-i, func(n int) bool { return c.Asks[i+n].At > c.Asks[i].At })
	if k == len(c.Asks) || c.Asks[k].At <= c.Answers[j-1].At || j < len(c.Answers) && c.Asks[k].At > c.Answers[j].At {
		return recording.NoTime
	}
	list := c.Chunks[dir]
	n := sort.Search(len(list), func(n int) bool { return list[n].At > c.Asks[k].At })
	if n == 0 {
		return recording.NoTime // the bytes of the previous answer were lost
	}
	return list[n-1].At
}

// askExtent returns the extent of the i-th request: to its length if given, else to the next head, else up to the
// moment the response begins.
func askExtent(c *facts.Conn, i int, until recording.Time) extent {
	h, next := &c.Asks[i], int64(endless)
	if i+1 < len(c.Asks) {
		next = c.Asks[i+1].Offset
	}
	e := extentTo(h.Offset, next, sized(h.Head, h.Length))
	if !e.sure && e.to == endless && (h.Head <= 0 || h.Length < 0) {
		e.until = until
	}
	return e
}

// extentTo returns the extent of a message that begins at from, before the next one begins at next. It ends at the
// message's size, if that is known and fits; else at next.
func extentTo(from, next, size int64) extent {
	e := extent{from: from, to: max(next, from)}
	if end := from + size; size > 0 && end <= e.to {
		e.to, e.sure = end, true
	}
	return e
}

// sized returns the size of a message by its head; 0 if the head does not give it.
func sized(head, length int64) int64 {
	if head > 0 && length >= 0 {
		return head + length
	}
	return 0
}

// answerExtent returns the extent of the j-th response, interim ones counted: to its length if given, else to the next
// head.
func answerExtent(c *facts.Conn, j int, method string) extent {
	h, next := &c.Answers[j], int64(endless)
	if j+1 < len(c.Answers) {
		next = c.Answers[j+1].Offset
	}
	length := h.Length
	if method == "HEAD" || h.Status == 204 || h.Status == 304 || h.Status == 101 {
		length = 0 // the body that Content-Length announces here is not sent
	}
	return extentTo(h.Offset, next, sized(h.Head, length))
}
