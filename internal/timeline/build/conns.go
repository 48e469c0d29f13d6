package build

import (
	"cmp"
	"net/netip"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// buildConns makes one Conn a connection, in order of declaration, so that a
// connection's index in facts is its index in Timeline.Conns.
func buildConns(f *facts) []timeline.Conn {
	conns := make([]timeline.Conn, len(f.conns))
	for i := range f.conns {
		c := &f.conns[i]
		d := c.decl
		conns[i] = timeline.Conn{
			ID: d.ID, Side: d.Side, Process: d.Process, Local: d.Local, Peer: d.Peer,
			Existing: d.Existing == 1, Protocol: c.protocol, Closed: c.closedAt, Way: timeline.Way{Again: c.again, RoundTrip: recording.Duration(d.RoundTrip)},
		}
		if c.closed != nil {
			conns[i].By = c.closed.By
		}
		if c.tunnel != nil {
			conns[i].Target = c.tunnel.Target
		}
		if d.Existing != 1 {
			conns[i].Opened = c.at
			conns[i].Established = c.established
			if d.Side == recording.Inbound {
				conns[i].Established = c.at
			}
		}
	}
	return conns
}

// nameConns finds the names of peers: what the connection itself says (SNI, who a proxy was
// asked for, then the Host of its first request); else what another connection to the same address and
// port of the same process says; else the name whose look-up last gave its address.
func nameConns(t *timeline.Timeline, f *facts) {
	type peer struct {
		process recording.ProcessID
		address string
	}
	said := map[peer]string{}
	for i := range f.conns {
		c := &f.conns[i]
		if c.decl.Side != recording.Outbound {
			continue
		}
		t.Conns[i].Name = ownName(c)
		if k := f.connIndex.Get(c.decl.Before); k != timeline.None && k < i && t.Conns[i].Name == "" {
			t.Conns[i].Name = t.Conns[k].Name
		}
		if k := (peer{c.decl.Process, c.decl.Peer}); said[k] == "" && c.tunnel == nil {
			said[k] = t.Conns[i].Name
		}
	}
	answers := namesByAddress(t.Lookups)
	for i := range f.conns {
		c := &f.conns[i]
		if c.decl.Side != recording.Outbound || t.Conns[i].Name != "" || c.tunnel != nil {
			continue
		}
		t.Conns[i].Name = said[peer{c.decl.Process, c.decl.Peer}]
		if t.Conns[i].Name == "" {
			t.Conns[i].Name = answers.before(peers.Host(c.decl.Peer), c.at)
		}
	}
}

// ownName is the name of its peer that a connection itself says, "" if none.
func ownName(c *connFacts) string {
	for _, r := range c.tls {
		if r.SNI != "" {
			return r.SNI
		}
	}
	if c.tunnel != nil {
		if _, err := netip.ParseAddrPort(c.tunnel.Target); err != nil && c.tunnel.Target != "" {
			name, _ := peers.SplitPort(c.tunnel.Target)
			return name
		}
	}
	if len(c.asks) > 0 {
		return c.asks[0].Host
	}
	return ""
}

// peerName is what a Call's peer is called: its name if known, with the port unless
// it is the usual one for HTTP or HTTPS; else address and port. Behind a proxy it is who the
// proxy was asked for. A Unix socket is called by
// its path: clients name any host there.
func peerName(c *timeline.Conn) string {
	at := cmp.Or(c.Target, c.Peer)
	if c.Name == "" || isUnix(c.Peer) {
		return at
	}
	_, port := peers.SplitPort(at)
	if port == "" || port == "80" || port == "443" {
		return c.Name
	}
	return c.Name + ":" + port
}

// isUnix reports whether an address is the name of a Unix socket.
func isUnix(address string) bool {
	return strings.HasPrefix(address, "/") || strings.HasPrefix(address, "@")
}
