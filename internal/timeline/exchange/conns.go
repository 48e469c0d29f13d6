package exchange

import (
	"net/netip"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// buildConns makes one Conn per connection, in order of declaration, so that a connection's index in facts is its index
// in Timeline.Conns.
func buildConns(f *facts.Facts) []timeline.Conn {
	conns := make([]timeline.Conn, len(f.Conns))
	for i := range f.Conns {
		c := &f.Conns[i]
		d := c.Decl
		conns[i] = timeline.Conn{
			ID: d.ID, Side: d.Side, Process: d.Process, Local: d.Local, Peer: d.Peer,
			Existing: d.Existing == 1, Protocol: c.Protocol, Ending: timeline.Ending{Closed: c.ClosedAt}, Way: timeline.Way{Again: c.Again, RoundTrip: recording.Duration(d.RoundTrip)},
		}
		if c.Closed != nil {
			conns[i].By = c.Closed.By
		}
		if c.Tunnel != nil {
			conns[i].Target = c.Tunnel.Target
		}
		if d.Existing != 1 {
			conns[i].Opened = c.At
			conns[i].Established = c.Established
			if d.Side == recording.Inbound {
				conns[i].Established = c.At
			}
		}
	}
	return conns
}

// nameConns finds the names of peers. It uses what the connection itself says: SNI, the target that a proxy was asked
// for, or the Host of its first request. Otherwise it uses what another connection of the same process to the same
// address and port says, or the name whose look-up last gave the address.
func nameConns(t *timeline.Timeline, f *facts.Facts) {
	type peer struct {
		process recording.ProcessID
		address string
	}
	said := map[peer]string{}
	for i := range f.Conns {
		c := &f.Conns[i]
		if c.Decl.Side != recording.Outbound {
			continue
		}
		t.Conns[i].Name = ownName(c)
		if k := f.ConnIndex.Get(c.Decl.Before); k != timeline.None && k < i && t.Conns[i].Name == "" {
			t.Conns[i].Name = t.Conns[k].Name
		}
		if k := (peer{c.Decl.Process, c.Decl.Peer}); said[k] == "" && c.Tunnel == nil {
			said[k] = t.Conns[i].Name
		}
	}
	answers := namesByAddress(t.Lookups)
	for i := range f.Conns {
		c := &f.Conns[i]
		if c.Decl.Side != recording.Outbound || t.Conns[i].Name != "" || c.Tunnel != nil {
			continue
		}
		t.Conns[i].Name = said[peer{c.Decl.Process, c.Decl.Peer}]
		if t.Conns[i].Name == "" {
			t.Conns[i].Name = answers.before(peers.Host(c.Decl.Peer), c.At)
		}
	}
}

// ownName returns the name of its peer that a connection itself gives; "" if none.
func ownName(c *facts.Conn) string {
	for _, r := range c.TLS {
		if r.SNI != "" {
			return r.SNI
		}
	}
	if c.Tunnel != nil {
		if _, err := netip.ParseAddrPort(c.Tunnel.Target); err != nil && c.Tunnel.Target != "" {
			name, _ := peers.SplitPort(c.Tunnel.Target)
			return name
		}
	}
	if len(c.Asks) > 0 {
		return c.Asks[0].Host
	}
	return ""
}
