// Package peers classifies peers by address, port, protocol and operation: a peer may give out credentials, take
// telemetry, or neither. The entry points are New, OfCall and OfDatagram. Each class is a set of rows in a table
// (rules.go).
package peers

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Class is the purpose of a peer, as far as it is known.
type Class int8

// Peer classes.
const (
	Plain      Class = iota // nothing is known about it
	Credential              // it gives out credentials, tokens or keys
	Telemetry               // it takes metrics, logs or traces
)

// String returns the class's name.
func (c Class) String() string { return [...]string{"plain", "credential", "telemetry"}[c] }

// peerRule is one row of the table of peer classes. Everything that it names must match; an empty field matches
// anything.
type peerRule struct {
	id         string // stable, see docs/peers.md
	class      Class
	what       string   // in words
	hosts      []string // one of these must match; * stands for any characters
	nets       []string // address ranges, one of which must contain the address
	ports      []string // one of these must be the port
	routes     []string // method and path as in Call.Operation; * as in hosts
	operations []string // names from a header, query or form; * as in hosts
	protocols  []recording.Protocol
	unnamed    bool // a call whose operation is not known (TLS) matches too
}

// Classes classifies peers, and remembers the results.
type Classes struct {
	rules []peerRule
	known map[peerSeen]*peerRule
}

// New makes Classes.
func New() *Classes {
	return &Classes{rules: peerRules(), known: map[peerSeen]*peerRule{}}
}

// OfCall returns the class of a call's peer, and the id of the rule that decided; "" for Plain.
func (x *Classes) OfCall(c *timeline.Call) (Class, string) {
	p := peerSeen{operation: c.Operation, protocol: c.Protocol}
	p.host, p.port = splitPeer(c.Peer)
	if addr, port := SplitPort(c.Address); port != "" {
		p.addr, p.port = Host(c.Address), port
		if p.host == addr {
			p.host = ""
		}
	}
	return x.of(p)
}

// OfDatagram returns the class of a datagram's peer, like OfCall.
func (x *Classes) OfDatagram(d *timeline.Datagram) (Class, string) {
	p := peerSeen{protocol: d.Protocol, host: d.Peer}
	if _, err := netip.ParseAddrPort(d.Peer); err == nil {
		_, p.port = SplitPort(d.Peer)
		p.addr, p.host = Host(d.Peer), ""
	}
	return x.of(p)
}

// peerSeen is what the rules look at.
type peerSeen struct {
	host, addr, port string
	operation        string
	protocol         recording.Protocol
}

func (x *Classes) of(p peerSeen) (Class, string) {
	rule, ok := x.known[p]
	if !ok {
		rule = &peerRule{}
		for i := range x.rules {
			if x.rules[i].matches(&p) {
				rule = &x.rules[i]
				break
			}
		}
		x.known[p] = rule
	}
	return rule.class, rule.id
}

func (r *peerRule) matches(p *peerSeen) bool {
	if len(r.protocols) > 0 && !slices.Contains(r.protocols, p.protocol) {
		return false
	}
	if len(r.hosts)+len(r.nets) > 0 && !anyLike(r.hosts, p.host) && !anyHolds(r.nets, p.addr) {
		return false
	}
	if len(r.ports) > 0 && !slices.Contains(r.ports, p.port) {
		return false
	}
	if p.operation == "" {
		return r.unnamed || len(r.routes)+len(r.operations) == 0
	}
	return len(r.routes)+len(r.operations) == 0 || anyLike(r.routes, p.operation) || anyLike(r.operations, p.operation)
}

func anyLike(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return like(p, s) })
}

// like matches a pattern in which * stands for any characters, or none.
func like(pattern, s string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return s == pattern
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for {
		part, more, again := strings.Cut(rest, "*")
		if !again {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], more
	}
}

func anyHolds(nets []string, addr string) bool {
	a, err := netip.ParseAddr(addr)
	return err == nil && slices.ContainsFunc(nets, func(n string) bool { return netip.MustParsePrefix(n).Contains(a) })
}

// splitPeer splits a name and an optional port.
func splitPeer(peer string) (name, port string) {
	if name, port = SplitPort(peer); strings.Trim(port, "0123456789") != "" {
		return peer, ""
	}
	return name, port
}

// Host returns the address of an address and port, in its canonical form.
func Host(addr string) string {
	if ap, err := netip.ParseAddrPort(addr); err == nil {
		return ap.Addr().Unmap().WithZone("").String()
	}
	h, _ := SplitPort(addr)
	return h
}

// SplitPort splits the port off an address or name; "" if there is none.
func SplitPort(addr string) (host, port string) {
	i := strings.LastIndexByte(addr, ':')
	if i < 0 {
		return addr, ""
	}
	return addr[:i], addr[i+1:]
}

// Name returns the display name of a Call's peer: its name if known, with the port unless that is the usual one for
// HTTP or HTTPS; else address and port. Behind a proxy it is the target that the proxy was asked for. A Unix socket is
// named by its path, because clients may name any host there.
func Name(c *timeline.Conn) string {
	at := cmp.Or(c.Target, c.Peer)
	if unix := strings.IndexAny(c.Peer, "/@") == 0; unix || c.Name == "" {
		return at
	}
	_, port := SplitPort(at)
	if port == "" || port == "80" || port == "443" {
		return c.Name
	}
	return c.Name + ":" + port
}
