package build

import (
	"math"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// endless is the end of a message whose length no head tells.
const endless = math.MaxInt64

// message is one request or response on a connection: a span of bytes in one
// direction, and when they moved.
type message struct {
	arrived recording.Time // reads: its first byte was in the socket; NoTime unknown
	begin   recording.Time // its first byte was read or written
	end     recording.Time // its last byte was read or written
	chunkRun
	complete bool // as far as its head told a length
	merged   bool // arrival stamps had to be merged: arrived may be too early
}

// chunkRun is which chunks of its direction hold a message.
type chunkRun struct{ first, n int32 }

// none reports that no byte of the message was seen.
func (c *chunkRun) none() bool { return c.n == 0 }

// last is the last of them.
func (c *chunkRun) last() int32 { return c.first + c.n - 1 }

// extent is where in its direction's bytes a message lies.
type extent struct {
	from, to int64          // to: endless if unknown
	sure     bool           // to was computed from a length, so the message must reach it
	until    recording.Time // chunks from this time on are not its own; NoTime: no such limit
}

// reader finds the messages of one direction, front to back.
type reader struct {
	chunks []chunkAt
	next   int
}

// message returns the message of an extent. Extents must be asked for in order.
func (r *reader) message(e extent) message {
	for r.next < len(r.chunks) && r.chunks[r.next].end() <= e.from {
		r.next++
	}
	m := message{chunkRun: chunkRun{first: int32(r.next)}}
	var reach int64
	for i := r.next; i < len(r.chunks); i++ {
		c := &r.chunks[i]
		if c.Offset >= e.to || (e.until != recording.NoTime && i > r.next && c.first() >= e.until) {
			break
		}
		if c.Bytes > 0 {
			m.n, reach = int32(i+1-r.next), c.end()
			m.end = c.at
		}
	}
	if m.none() {
		return m
	}
	head := &r.chunks[m.first]
	m.begin, m.arrived, m.merged = head.first(), head.Arrived, head.Merged == 1
	if e.from > head.Offset { // begins inside: all of the chunk was there by Last
		m.begin = head.at
		if !head.undated {
			m.arrived = head.last()
		}
	}
	if m.arrived > m.begin {
		m.arrived = m.begin
	}
	m.complete = !e.sure || reach >= e.to
	return m
}

// exchange is a request and its response on one connection.
type exchange struct {
	ordinal int
	ask     *requestAt  // nil: not seen, or opaque
	answer  *responseAt // nil: none was seen, or opaque
	asked   message
	replied message

	command  *recording.Command // of another protocol; then ask and answer are nil
	reply    *recording.Reply   // nil: none was seen, or told apart, or it is encrypted
	unpaired bool               // bytes came after it, but no answer was told apart
	again    recording.Time     // over UDP: when it was asked again; NoTime: it was not
	over     recording.Time     // of an unpaired request: when its answer was over; NoTime: not known
}

// exchanged is what is kept of an exchange that a call is made of: not its facts.
type exchanged struct{ asked, replied message }

// final reports whether a response is the last one to its request.
func final(r *responseAt) bool {
	return r.Status < 100 || r.Status >= 200 || r.Status == 101
}

// httpExchanges pairs the requests and responses of an HTTP/1 connection: first in,
// first out, which is right for pipelining too. A response that begins before the
// oldest unanswered request belongs to one that was not recorded; so does the first on a
// connection that was there before recording and has seen no request since.
func httpExchanges(c *connFacts, askDir recording.Direction) []exchange {
	out := make([]exchange, 0, len(c.asks))
	asks := reader{chunks: c.chunks[askDir]}
	answers := reader{chunks: c.chunks[1-askDir]}
	j := 0
	for i := 0; i < len(c.asks); i++ {
		for j < len(c.answers) && (!final(&c.answers[j]) || c.answers[j].at < c.asks[i].at) {
			if final(&c.answers[j]) {
				out = append(out, exchange{answer: &c.answers[j], replied: answers.message(answerExtent(c, j, ""))})
			}
			j++
		}
		x := exchange{ask: &c.asks[i]}
		until := recording.NoTime
		if x.over = hiddenUntil(c, 1-askDir, i, j); x.over != recording.NoTime {
			x.asked, x.unpaired = asks.message(askExtent(c, i, x.over)), true
			out = append(out, x)
			continue
		}
		if j < len(c.answers) {
			x.answer = &c.answers[j]
			until = c.answers[j].at
		}
		x.asked = asks.message(askExtent(c, i, until))
		if x.answer != nil {
			x.replied = answers.message(answerExtent(c, j, x.ask.Method))
			j++
		}
		out = append(out, x)
	}
	if len(c.asks) == 0 && c.decl.Existing == 1 { // under way when recording began, and the last on its connection
		for ; j < len(c.answers) && len(out) == 0; j++ {
			if final(&c.answers[j]) {
				out = append(out, exchange{answer: &c.answers[j], replied: answers.message(answerExtent(c, j, ""))})
			}
		}
	}
	for i := range out {
		out[i].ordinal = i
	}
	return out
}

// hiddenUntil is when the answer to the i-th request was over, at the latest, if its head
// was not seen in the direction of answers: the client sends several requests at once, the
// answer before was one whose length no head told, and once that had begun the client sent
// yet another request, before the j-th answer began, the next one seen. NoTime if that one
// answers it.
func hiddenUntil(c *connFacts, dir recording.Direction, i, j int) recording.Time {
	if i == 0 || j == 0 || c.asks[i].at != c.asks[i-1].at || c.answers[j-1].Length >= 0 {
		return recording.NoTime
	}
	k := i + sort.Search(len(c.asks)-i, func(n int) bool { return c.asks[i+n].at > c.asks[i].at })
	if k == len(c.asks) || c.asks[k].at <= c.answers[j-1].at || j < len(c.answers) && c.asks[k].at > c.answers[j].at {
		return recording.NoTime
	}
	list := c.chunks[dir]
	n := sort.Search(len(list), func(n int) bool { return list[n].at > c.asks[k].at })
	if n == 0 {
		return recording.NoTime // the bytes of the answer before were lost
	}
	return list[n-1].at
}

// askExtent of the i-th request: to its length if told, else to the next head, else
// up to the moment the response begins.
func askExtent(c *connFacts, i int, until recording.Time) extent {
	h := c.asks[i]
	e := extent{from: h.Offset, to: endless}
	if i+1 < len(c.asks) {
		e.to = max(c.asks[i+1].Offset, h.Offset)
	}
	switch {
	case h.Head > 0 && h.Length >= 0:
		if end := h.Offset + h.Head + h.Length; end <= e.to {
			e.to, e.sure = end, true
		}
	case e.to == endless:
		e.until = until
	}
	return e
}

// answerExtent of the j-th response, interim ones counted: to its length if told,
// else to the next head.
func answerExtent(c *connFacts, j int, method string) extent {
	h := c.answers[j]
	e := extent{from: h.Offset, to: endless}
	if j+1 < len(c.answers) {
		e.to = max(c.answers[j+1].Offset, h.Offset)
	}
	length := h.Length
	if method == "HEAD" || h.Status == 204 || h.Status == 304 || h.Status == 101 {
		length = 0 // what Content-Length says there is not sent
	}
	if h.Head > 0 && length >= 0 {
		if end := h.Offset + h.Head + length; end <= e.to {
			e.to, e.sure = end, true
		}
	}
	return e
}
