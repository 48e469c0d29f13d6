package protocol

import (
	"slices"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// mayAgree reports whether a chunk belongs to a client's agreement with a SOCKS proxy. The watched process must have
// opened the connection, which must have been followed from its first byte on.
func (c *Conn) mayAgree(k chunk) bool {
	if c.asks != nil {
		return true
	}
	return c.client == recording.Write && k.dir == c.client && !c.joined && k.offset == c.from[k.dir] && c.strange == 0 && socksStart(k.data) != no
}

// agree takes a chunk of an agreement. If it turns out not to be one, or was not seen completely, the protocol is
// unknown.
func (c *Conn) agree(k chunk) []recording.Fact {
	if c.asks == nil {
		c.asks = &agreement{}
	}
	said := &c.asks.client
	if k.dir != c.client {
		said = &c.asks.proxy
	}
	whole := k.offset == c.from[k.dir]+int64(len(*said)) && int64(len(k.data)) == k.size && len(*said)+len(k.data) <= maxAgreement
	r, m := agreed{}, no
	if whole {
		*said = append(*said, k.data...)
		r, m = c.asks.read()
	}
	switch m {
	case maybe:
		return nil
	case no:
		c.asks, c.strange, c.last = nil, 1, k.dir
		return nil
	}
	f := &recording.Tunnel{
		Conn: c.id, Proxy: r.proxy, Written: c.from[c.client] + int64(r.client), Read: c.from[1-c.client] + int64(r.end),
		Target: r.target, Refused: oneIf(r.refused),
	}
	early, rest := c.asks.client[r.client:], c.asks.proxy[r.end:]
	c.asks = nil
	return c.through(f, chunk{c.client, f.Written, int64(len(early)), early}, chunk{1 - c.client, f.Read, int64(len(rest)), rest})
}

// through starts following the bytes behind a proxy, beginning with those that came together with the proxy's own.
func (c *Conn) through(f *recording.Tunnel, with ...chunk) []recording.Fact {
	c.protocol, c.http = recording.ProtocolUnknown, nil
	c.from[c.client], c.from[1-c.client] = f.Written, f.Read
	c.start, c.strange = [2]start{}, 0
	facts := []recording.Fact{f}
	for _, k := range with {
		facts = append(facts, c.Chunk(k.dir, k.offset, k.size, k.data)...)
	}
	return facts
}

// converse takes a chunk of HTTP/1, which may include a request to a proxy for a tunnel.
func (c *Conn) converse(k chunk) []recording.Fact {
	facts := c.http.chunk(k)
	if h := c.http; h.behind > 0 && c.client == recording.Write {
		f := &recording.Tunnel{Conn: c.id, Written: h.streams[c.client].pos, Read: h.behind, Target: h.target}
		facts = slices.Clone(facts)
		return append(facts, c.through(f, chunk{k.dir, h.behind, k.end() - h.behind, k.from(h.behind)})...)
	}
	return facts
}

// authority returns what a request for a tunnel asks for: name or address, and port.
func authority(head []byte) string {
	_, rest, _ := strings.Cut(string(head[:min(len(head), maxHead)]), " ")
	s, _, _ := strings.Cut(rest, " ")
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.Contains(s, "@") {
		return ""
	}
	port := contentLength(s[i+1:])
	if port < 0 || port > 1<<16-1 {
		return ""
	}
	return targetOf(strings.Trim(s[:i], "[]"), []byte{byte(port >> 8), byte(port)})
}
