package exchange

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

const (
	// closeNotify bounds the bytes of a TLS alert record, encrypted or not.
	closeNotify = 31
	// tls13Alert is the size of one in TLS 1.3, where it looks like application data.
	tls13Alert = 24
)

// opaqueExchanges finds requests and answers by turn-taking: a write after a read begins a new exchange. What a server
// says first (a greeting) belongs to no exchange. If the head of an encrypted request is known, or its command, that
// names the exchange. The lengths in a head tell whether what was read was only an interim answer.
func opaqueExchanges(c *facts.Conn) []exchange {
	h := handshake{data: c.Behind()}
	secure := c.Protocol == recording.ProtocolTLS || len(c.TLS) > 0
	if secure {
		h = readHandshake(c)
		h.skipTickets(c)
		for dir, from := range c.Behind() {
			h.data[dir] = max(h.data[dir], from)
		}
	}
	writes, reads := c.Chunks[recording.Write], c.Chunks[recording.Read]
	var out []exchange
	w, r, answered := 0, 0, true
	inOrder(c.Commands, func(x *recording.Command) int64 { return x.Offset })
	asks, commands := c.Asks, c.Commands
	for w < len(writes) || r < len(reads) {
		if w < len(writes) && (r >= len(reads) || writes[w].At <= reads[r].At) {
			if writes[w].End() > h.data[recording.Write] && !ending(c, w, secure) {
				ask := firstWithin(&asks, &writes[w], func(a *facts.Request) int64 { return a.Offset })
				command := firstWithin(&commands, &writes[w], func(x **recording.Command) int64 { return (*x).Offset })
				switch {
				case !answered:
				case ask == nil && len(out) > 0 && out[len(out)-1].unsent(writes[w].Offset):
					out[len(out)-1].replied = message{} // as 100 Continue
				default:
					out = append(out, exchange{ordinal: len(out), asked: message{Chunks: Chunks{First: int32(w)}}})
				}
				x := &out[len(out)-1]
				x.asked.extend(writes, w, h.data[recording.Write])
				if x.ask == nil {
					x.ask = ask
				}
				if x.command == nil && command != nil {
					x.command = *command
				}
				answered = false
			}
			w++
			continue
		}
		if reads[r].Bytes > 0 && reads[r].End() > h.data[recording.Read] && len(out) > 0 && !goodBye(c, r, h) {
			x := &out[len(out)-1]
			if x.replied.None() {
				x.replied = message{Chunks: Chunks{First: int32(r)}}
			}
			x.replied.extend(reads, r, h.data[recording.Read])
			answered = true
		}
		r++
	}
	return out
}

// firstWithin removes what begins in a chunk or before it, and returns the first that begins in the chunk; nil if none
// does.
func firstWithin[T any](list *[]T, w *facts.Chunk, offset func(*T) int64) (found *T) {
	for len(*list) > 0 && offset(&(*list)[0]) < w.End() {
		if x := &(*list)[0]; found == nil && offset(x) >= w.Offset {
			found = x
		}
		*list = (*list)[1:]
	}
	return found
}

// unsent reports whether the request cannot have been sent completely before a position: encrypted data is no shorter
// than the original.
func (x *exchange) unsent(at int64) bool {
	return x.ask != nil && x.ask.Head > 0 && x.ask.Length > 0 && at-x.ask.Offset < x.ask.Head+x.ask.Length
}

// ending reports whether a write is a TLS client's good-bye: a last short write without an answer.
func ending(c *facts.Conn, w int, secure bool) bool {
	writes := c.Chunks[recording.Write]
	if !secure || w != len(writes)-1 || writes[w].Bytes > closeNotify {
		return false
	}
	for i := len(c.Chunks[recording.Read]) - 1; i >= 0; i-- {
		if r := c.Chunks[recording.Read][i]; r.At > writes[w].At && r.Bytes > closeNotify {
			return false
		} else if r.At <= writes[w].At {
			break
		}
	}
	return true
}

// goodBye reports whether a read is a TLS server's good-bye: a last read of one alert, after which nothing is asked. It
// arrives when the server closes, which may be long after its last answer.
func goodBye(c *facts.Conn, r int, h handshake) bool {
	read, writes := c.Chunks[recording.Read][r], c.Chunks[recording.Write]
	if read.Bytes > closeNotify || len(writes) > 0 && writes[len(writes)-1].At > read.At && !ending(c, len(writes)-1, true) {
		return false
	}
	for _, x := range c.Chunks[recording.Read][r+1:] {
		if x.Bytes > 0 {
			return false
		}
	}
	if h.version == tls13 {
		return read.Bytes == tls13Alert
	}
	return slices.ContainsFunc(c.TLS, func(x facts.TLS) bool {
		return x.Dir == recording.Read && x.Offset == read.Offset && x.Record == recording.TLSAlert
	})
}

// extend adds a chunk to the message. Application data begins at from: if a chunk contains earlier bytes too, its
// arrival is that of its last byte.
func (m *message) extend(chunks []facts.Chunk, i int, from int64) {
	c := &chunks[i]
	if m.None() {
		m.Begin, m.arrived, m.merged, m.complete = c.First(), c.Arrived, c.Merged == 1, true
		if c.Offset < from && !c.Undated {
			m.arrived = c.Last()
		}
		if m.arrived > m.Begin {
			m.arrived = m.Begin
		}
	}
	m.N, m.end = int32(i+1)-m.First, c.At
}
