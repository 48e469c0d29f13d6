package build

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

const (
	// closeNotify bounds the bytes of a TLS alert record, encrypted or not.
	closeNotify = 31
	// tls13Alert is what one takes in TLS 1.3, where it looks like application data.
	tls13Alert = 24
)

// opaqueExchanges finds requests and answers by turn-taking: a write after a read
// begins a new exchange. What a server says first (a greeting) belongs to none. Where
// the head of a request is known, of a message that is encrypted, or its command, that names
// the exchange; a head's length says whether what was read was only an interim answer to it.
func opaqueExchanges(c *connFacts) []exchange {
	h := handshake{data: c.behind()}
	secure := c.protocol == recording.ProtocolTLS || len(c.tls) > 0
	if secure {
		h = readHandshake(c)
		h.skipTickets(c)
		for dir, from := range c.behind() {
			h.data[dir] = max(h.data[dir], from)
		}
	}
	writes, reads := c.chunks[recording.Write], c.chunks[recording.Read]
	var out []exchange
	w, r, answered := 0, 0, true
	inOrder(c.commands, func(x *recording.Command) int64 { return x.Offset })
	asks, commands := c.asks, c.commands
	for w < len(writes) || r < len(reads) {
		if w < len(writes) && (r >= len(reads) || writes[w].at <= reads[r].at) {
			if writes[w].end() > h.data[recording.Write] && !ending(c, w, secure) {
				ask := firstWithin(&asks, &writes[w], func(a *requestAt) int64 { return a.Offset })
				command := firstWithin(&commands, &writes[w], func(x **recording.Command) int64 { return (*x).Offset })
				switch {
				case !answered:
				case ask == nil && len(out) > 0 && out[len(out)-1].unsent(writes[w].Offset):
					out[len(out)-1].replied = message{} // as 100 Continue
				default:
					out = append(out, exchange{ordinal: len(out), asked: message{chunkRun: chunkRun{first: int32(w)}}})
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
		if reads[r].Bytes > 0 && reads[r].end() > h.data[recording.Read] && len(out) > 0 && !goodBye(c, r, h) {
			x := &out[len(out)-1]
			if x.replied.none() {
				x.replied = message{chunkRun: chunkRun{first: int32(r)}}
			}
			x.replied.extend(reads, r, h.data[recording.Read])
			answered = true
		}
		r++
	}
	return out
}

// firstWithin takes what begins in a chunk or before it, and returns the first that begins in
// it; nil if none does.
func firstWithin[T any](list *[]T, w *chunkAt, offset func(*T) int64) (found *T) {
	for len(*list) > 0 && offset(&(*list)[0]) < w.end() {
		if x := &(*list)[0]; found == nil && offset(x) >= w.Offset {
			found = x
		}
		*list = (*list)[1:]
	}
	return found
}

// unsent reports whether the request cannot have been sent whole before a position: what
// is encrypted is no shorter than what it was.
func (x *exchange) unsent(at int64) bool {
	return x.ask != nil && x.ask.Head > 0 && x.ask.Length > 0 && at-x.ask.Offset < x.ask.Head+x.ask.Length
}

// ending reports a TLS client's good-bye: a last short write that nothing answers.
func ending(c *connFacts, w int, secure bool) bool {
	writes := c.chunks[recording.Write]
	if !secure || w != len(writes)-1 || writes[w].Bytes > closeNotify {
		return false
	}
	for i := len(c.chunks[recording.Read]) - 1; i >= 0; i-- {
		if r := c.chunks[recording.Read][i]; r.at > writes[w].at && r.Bytes > closeNotify {
			return false
		} else if r.at <= writes[w].at {
			break
		}
	}
	return true
}

// goodBye reports a TLS server's: a last read of one alert, after which nothing is asked for.
// It comes as the server closes, which may be long after its last answer.
func goodBye(c *connFacts, r int, h handshake) bool {
	read, writes := c.chunks[recording.Read][r], c.chunks[recording.Write]
	if read.Bytes > closeNotify || len(writes) > 0 && writes[len(writes)-1].at > read.at && !ending(c, len(writes)-1, true) {
		return false
	}
	for _, x := range c.chunks[recording.Read][r+1:] {
		if x.Bytes > 0 {
			return false
		}
	}
	if h.version == tls13 {
		return read.Bytes == tls13Alert
	}
	return slices.ContainsFunc(c.tls, func(x tlsAt) bool {
		return x.Dir == recording.Read && x.Offset == read.Offset && x.Record == recording.TLSAlert
	})
}

// extend adds a chunk to the message. From is where application data begins: a
// chunk that holds more than that arrived, for this purpose, with its last byte.
func (m *message) extend(chunks []chunkAt, i int, from int64) {
	c := &chunks[i]
	if m.none() {
		m.begin, m.arrived, m.merged, m.complete = c.first(), c.Arrived, c.Merged == 1, true
		if c.Offset < from && !c.undated {
			m.arrived = c.last()
		}
		if m.arrived > m.begin {
			m.arrived = m.begin
		}
	}
	m.n, m.end = int32(i+1)-m.first, c.at
}
