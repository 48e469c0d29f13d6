package protocol

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strconv"

	"github.com/getdwell/dwell/recording"
)

// maxAgreement is the maximum number of bytes that a client and a SOCKS proxy need from each side to agree.
const maxAgreement = 1 << 10

// agreement is what a client and a SOCKS proxy have sent each other, from the first byte until the proxy relays
// bytes. Only the target is reported.
type agreement struct{ client, proxy []byte }

// agreed is the result of an agreement.
type agreed struct {
	proxy       recording.Proxying
	client, end int // number of bytes that each side used for it
	target      string
	refused     bool
}

// socksStart reports whether a client that begins with b may ask a SOCKS proxy.
func socksStart(b []byte) match {
	switch {
	case len(b) == 0 || b[0] != 4 && b[0] != 5:
		return no
	case len(b) == 1:
		return maybe
	case b[0] == 4 && b[1] != 1 || b[0] == 5 && (b[1] == 0 || b[1] > 16):
		return no
	}
	return yes
}

// read returns the result of the agreement. maybe: it is not complete.
func (a *agreement) read() (agreed, match) {
	if a.client[0] == 4 {
		return a.socks4()
	}
	return a.socks5()
}

// socks4 reads the SOCKS 4 protocol and its extension 4a.
func (a *agreement) socks4() (agreed, match) {
	r := agreed{proxy: recording.ProxySOCKS4}
	c, p := script{rest: a.client}, script{rest: a.proxy}
	head, answer, host := c.take(8), p.take(8), ""
	_ = c.line() // the user's id
	if !c.short {
		host = netip.AddrFrom4([4]byte(head[4:8])).String()
		if bytes.HasPrefix(head[4:], []byte{0, 0, 0}) && head[7] != 0 {
			host = string(c.line())
		}
	}
	switch {
	case c.short:
		return r, also(len(a.proxy) == 0)
	case p.short:
		return r, also(len(a.proxy) == 0 || a.proxy[0] == 0)
	case answer[0] != 0 || answer[1] < 0x5a || answer[1] > 0x5d:
		return r, no
	}
	r.client, r.end = len(a.client)-len(c.rest), 8
	r.target, r.refused = targetOf(host, head[2:4]), answer[1] != 0x5a
	return r, yes
}

// socks5 reads RFC 1928, with the names and passwords of RFC 1929.
func (a *agreement) socks5() (agreed, match) {
	r := agreed{proxy: recording.ProxySOCKS5}
	c, p := script{rest: a.client}, script{rest: a.proxy}
	c.take(1)
	ways := c.text()
	choice := p.take(2)
	if c.short || p.short {
		return r, also(len(a.proxy) == 0 || !c.short && a.proxy[0] == 5)
	}
	end := func(refused bool) (agreed, match) {
		r.client, r.end, r.refused = len(a.client)-len(c.rest), len(a.proxy)-len(p.rest), refused
		return r, yes
	}
	switch {
	case choice[0] != 5 || choice[1] != 0xff && !bytes.Contains(ways, choice[1:]):
		return r, no
	case choice[1] == 0xff:
		return end(true)
	case choice[1] == 2:
		version := c.take(1)
		_, _ = c.text(), c.text() // name and password
		answer := p.take(2)
		if !c.short && version[0] != 1 || !p.short && (c.short || answer[0] != 1) {
			return r, no
		}
		if !c.short && !p.short && answer[1] != 0 {
			return end(true)
		}
	case choice[1] != 0:
		return r, no // GSSAPI is not supported
	}
	ask := c.take(3)
	host := c.address()
	port := c.take(2)
	answer := p.take(3)
	_ = p.address() // the address from which the proxy connected
	p.take(2)
	switch {
	case len(ask) > 0 && (ask[0] != 5 || ask[1] != 1) || len(answer) > 0 && (c.short || answer[0] != 5 || answer[1] > 8) || c.wrong || p.wrong:
		return r, no
	case c.short || p.short:
		return r, maybe
	}
	r.target = targetOf(host, port)
	return end(answer[1] != 0)
}

// script is the part of one side's bytes that was not read yet.
type script struct {
	rest         []byte
	short, wrong bool // short: something was incomplete; wrong: something was invalid
}

// take reads n bytes, or nothing if they are not complete yet.
func (s *script) take(n int) []byte {
	if s.short = s.short || len(s.rest) < n; s.short {
		return nil
	}
	b := s.rest[:n]
	s.rest = s.rest[n:]
	return b
}

// text reads bytes whose number is in the byte before them.
func (s *script) text() []byte {
	if n := s.take(1); n != nil {
		return s.take(int(n[0]))
	}
	return nil
}

// line reads up to a zero byte.
func (s *script) line() []byte {
	i := bytes.IndexByte(s.rest, 0)
	if s.short = s.short || i < 0; s.short {
		return nil
	}
	return s.take(i + 1)[:i]
}

// address reads an address of SOCKS 5.
func (s *script) address() string {
	kind := s.take(1)
	if kind == nil {
		return ""
	}
	switch kind[0] {
	case 1, 4:
		if a, ok := netip.AddrFromSlice(s.take(4 * int(kind[0]))); ok {
			return a.Unmap().String()
		}
	case 3:
		return string(s.text())
	default:
		s.wrong = true
	}
	return ""
}

// also returns maybe or no.
func also(may bool) match {
	if may {
		return maybe
	}
	return no
}

// targetOf returns name or address, and port; "" if there is neither.
func targetOf(host string, port []byte) string {
	n := binary.BigEndian.Uint16(port)
	if a, err := netip.ParseAddr(host); err == nil && a.Zone() == "" {
		return netip.AddrPortFrom(a, n).String()
	}
	if host = hostName(host + ":"); host == "" {
		return ""
	}
	return host + ":" + strconv.Itoa(int(n))
}
