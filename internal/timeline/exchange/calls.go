package exchange

import (
	"cmp"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// Call is what a timeline.Call was made from. Its index is the same as in Timeline.Calls until the calls are put in
// their final order.
type Call struct {
	Conn     int // index in facts.conns
	Exchange exchanged
	Bounds   Bounds
	Caller   recording.GoroutineID // Go: the goroutine that handed it to the connection, if seen
}

// Bounds are the starts of a call's phases, in order, and its end.
type Bounds [timeline.PhaseReceive + 2]recording.Time

// PhaseAt returns the phase a call is in at a time within it.
func (b *Bounds) PhaseAt(at recording.Time) timeline.Phase {
	for p := timeline.PhaseReceive; p > timeline.PhaseQueue; p-- {
		if b[p] <= at {
			return p
		}
	}
	return timeline.PhaseQueue
}

// Outbound makes the Calls of all outbound connections: HTTP/1 by its heads, Redis and PostgreSQL by their commands,
// UDP by its datagrams, and all others except HTTP/2 by turn-taking. Calls over TLS use turn-taking too, whatever is
// known of the encrypted contents.
func Outbound(t *timeline.Timeline, f *facts.Facts) []Call {
	n := 0
	for i := range f.Conns {
		if c := &f.Conns[i]; c.Decl.Side == recording.Outbound {
			n += max(len(c.Asks), len(c.Commands), 1)
		}
	}
	t.Calls = make([]timeline.Call, 0, n)
	defer cutIdless(t)
	work, udp := make([]Call, 0, n), newUDPWalk(t, f)
	for i := range f.Conns {
		c := &f.Conns[i]
		if c.Decl.Side != recording.Outbound {
			continue
		}
		before, peer := len(t.Calls), peers.Name(&t.Conns[i])
		for _, x := range callExchanges(c, udp) {
			if x.asked.None() {
				continue // sent before the recording began
			}
			call := newCall(t, f, i, x)
			if c.Protocol == recording.ProtocolUDP && udp.oneWay(&call, c, x) {
				continue // no strand waits for it
			}
			t.Calls = append(t.Calls, call)
			work = append(work, Call{Conn: i, Exchange: exchanged{x.asked, x.replied}})
			t.Conns[i].Exchanges++
			t.Conns[i].Asked = max(t.Conns[i].Asked, x.endAsked())
		}
		if len(t.Calls) == before && failed(c, &t.Conns[i]) {
			t.Calls = append(t.Calls, failedCall(t, f, i))
			work = append(work, Call{Conn: i})
		}
		for k := before; k < len(t.Calls); k++ {
			t.Calls[k].Peer = peer
			if call := &t.Calls[k]; c.Tunnel != nil {
				call.Proxy, call.Address = c.Decl.Peer, cmp.Or(c.Tunnel.Target, c.Decl.Peer)
				if call.New {
					call.Reached = c.Reached
				}
			}
		}
	}
	if len(t.Calls) == 0 {
		t.Calls = nil
	}
	noteUnpaired(t)
	for i := range t.Calls {
		t.Calls[i].ID, t.Calls[i].Behind = timeline.CallID(i), timeline.None
		Settle(&t.Calls[i], &work[i].Bounds)
	}
	f.DropHeads()
	return work
}

// callExchanges finds what was asked and answered on an outbound connection.
func callExchanges(c *facts.Conn, udp *udpWalk) []exchange {
	switch {
	case c.Protocol == recording.ProtocolHTTP2 || c.Refused():
		return nil
	case c.Protocol == recording.ProtocolUDP:
		return udp.exchanges(c)
	case len(c.Asks) > 0 && c.Protocol != recording.ProtocolTLS:
		return httpExchanges(c, recording.Write, nil)
	case len(c.Commands) > 0 && c.Protocol != recording.ProtocolTLS:
		return commandExchanges(c)
	case c.Protocol != recording.ProtocolHTTP1:
		return opaqueExchanges(c)
	}
	return nil
}

// failed reports whether a connection attempt never carried a byte, or the peer ended the connection before it answered
// the first message of a TLS handshake.
func failed(c *facts.Conn, conn *timeline.Conn) bool {
	switch {
	case c.Decl.Existing == 1 || c.Closed == nil:
		return false
	case c.Established != recording.NoTime:
		return conn.TLSFrom != recording.NoTime && conn.TLSTo == conn.TLSFrom && (conn.By == recording.ClosedReset || conn.By == recording.ClosedByPeer)
	}
	return c.Refused() || len(c.Chunks[recording.Write])+len(c.Chunks[recording.Read]) == 0
}

func failedCall(t *timeline.Timeline, f *facts.Facts, i int) timeline.Call {
	c, conn := &f.Conns[i], &t.Conns[i]
	return timeline.Call{
		Request: timeline.None, Process: c.Decl.Process, Strand: f.Strand(c.Decl.Thread),
		Conn: c.Decl.ID, New: true, Address: c.Decl.Peer,
		Start: c.At, End: c.ClosedAt, ConnectFrom: c.At, Connected: conn.Established, TLSFrom: conn.TLSFrom, Excluded: timeline.NeverConnected,
	}
}

// newCall makes a Call of one exchange on the i-th connection. The first exchange on a connection that was opened in
// the recording includes the connect.
func newCall(t *timeline.Timeline, f *facts.Facts, i int, x exchange) timeline.Call {
	c, conn := &f.Conns[i], &t.Conns[i]
	writes := c.Chunks[recording.Write]
	call := timeline.Call{
		Request: timeline.None, Process: c.Decl.Process, Strand: f.Strand(writes[x.asked.First].Thread),
		Conn: c.Decl.ID, Ordinal: x.ordinal, Address: c.Decl.Peer,
		SendFrom: max(x.asked.Begin, f.Start), Sent: x.asked.end, Again: x.again, Protocol: c.Protocol,
	}
	if x.ask != nil {
		if call.Operation = x.ask.Operation; call.Operation == "" { // the header says more than the route
			call.Operation = f.Endpoint(x.ask.Method, x.ask.Route)
		}
	}
	if x.answer != nil {
		call.Status = x.answer.Status
	}
	if x.ordinal == 0 && !conn.Existing {
		call.New = true
		call.ConnectFrom, call.Connected = conn.Opened, conn.Established
		call.TLSFrom, call.TLSTo = conn.TLSFrom, conn.TLSTo
	}
	finishCall(&call, c, x, f.Window(c.At).To)
	if x.command != nil {
		nameCommand(f, &call, &x)
		excludeWaiting(&call, x.command.Operation)
	}
	return call
}

// finishCall finds the end of a call: the last byte of its answer, or what cut it. A call whose answer could not be
// identified ends when it was sent.
func finishCall(call *timeline.Call, c *facts.Conn, x exchange, end recording.Time) {
	if !x.replied.None() {
		call.Arrived, call.FirstRead = x.replied.arrived, x.replied.Begin
		call.End = x.replied.end
	}
	switch {
	case !x.replied.None() && x.replied.complete:
	case x.unpaired:
		call.End, call.Excluded = call.Sent, Unpaired
	case x.ask == nil && (x.command == nil || c.Protocol == recording.ProtocolTLS) && len(c.Chunks[recording.Read]) == 0:
		call.End, call.Excluded = call.Sent, "one-way" // a protocol without answers
	case c.Closed != nil:
		call.End, call.Cut = c.ClosedAt, true
	default:
		call.End, call.Cut = end, true
	}
	switch {
	case x.answer == nil:
	case x.answer.Status == 101:
		call.Excluded = "upgrade"
	case x.answer.Upgrade == 1:
		call.Excluded = "stream"
	}
}

// Settle derives start, phases and their bounds from a call's marks. A missing mark makes its phase empty. A mark that
// is out of order (an answer that arrived before the whole request was sent) is moved to the previous mark. The gap
// between a look-up, connect or handshake and the next step counts to the earlier step.
func Settle(c *timeline.Call, b *Bounds) {
	first := c.SendFrom
	for _, mark := range []recording.Time{c.TLSFrom, c.ConnectFrom, c.DNSFrom} {
		if c.New && mark != recording.NoTime {
			first = mark
		}
	}
	if c.Start == recording.NoTime || c.Start > first {
		c.Start = first
	}
	c.End = max(c.End, c.Start)
	*b = Bounds{c.Start, recording.NoTime, recording.NoTime, recording.NoTime, c.SendFrom, c.Sent, c.Arrived, c.FirstRead, c.End}
	if c.New {
		b[timeline.PhaseDNS], b[timeline.PhaseConnect], b[timeline.PhaseTLS] = c.DNSFrom, c.ConnectFrom, c.TLSFrom
	}
	for p := timeline.PhaseReceive; p > timeline.PhaseQueue; p-- {
		if b[p] == recording.NoTime {
			b[p] = b[p+1]
		}
	}
	for p := timeline.PhaseDNS; p <= timeline.PhaseReceive; p++ {
		b[p] = min(max(b[p], b[p-1]), c.End)
	}
	for p := timeline.PhaseQueue; p <= timeline.PhaseReceive; p++ {
		c.Phases[p] = b[p+1].Sub(b[p])
	}
}

// WarmedBefore applies Warmed to a call that began before its request was read: its connection was already open by
// then.
func WarmedBefore(t *timeline.Timeline, c *timeline.Call, b *Bounds) {
	if c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead {
		Warmed(c, b)
	}
}

// Warmed marks a call as made on a reused connection if the connection was opened before the call's request came:
// opening it cost this request nothing.
func Warmed(c *timeline.Call, b *Bounds) {
	c.New = false
	c.Start = recording.NoTime
	c.DNSFrom, c.DNSTo, c.InVain = recording.NoTime, recording.NoTime, 0
	c.ConnectFrom, c.Connected = recording.NoTime, recording.NoTime
	c.TLSFrom, c.TLSTo = recording.NoTime, recording.NoTime
	Settle(c, b)
}
