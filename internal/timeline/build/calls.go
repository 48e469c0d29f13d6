package build

import (
	"cmp"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// made is what a Call was rebuilt from; same index as in Timeline.Calls until the
// calls are put in their final order.
type made struct {
	conn   int // index in facts.conns
	x      exchanged
	bounds bounds
	caller recording.GoroutineID // Go: that handed it to the connection, if that was seen
}

// bounds are the starts of a call's phases, in order, and its end.
type bounds [timeline.PhaseReceive + 2]recording.Time

// phaseAt returns the phase a call is in at a time within it.
func (b *bounds) phaseAt(at recording.Time) timeline.Phase {
	for p := timeline.PhaseReceive; p > timeline.PhaseQueue; p-- {
		if b[p] <= at {
			return p
		}
	}
	return timeline.PhaseQueue
}

// buildCalls makes the Calls of all outbound connections: HTTP/1 by its heads, Redis
// and PostgreSQL by their commands, UDP by its datagrams, all others but HTTP/2 by turn-taking: those over TLS too,
// whatever is known of what is encrypted.
func buildCalls(t *timeline.Timeline, f *facts) []made {
	n := 0
	for i := range f.conns {
		if c := &f.conns[i]; c.decl.Side == recording.Outbound {
			n += max(len(c.asks), len(c.commands), 1)
		}
	}
	t.Calls = make([]timeline.Call, 0, n)
	defer cutIdless(t)
	work, udp := make([]made, 0, n), newUDPWalk(t, f)
	for i := range f.conns {
		c := &f.conns[i]
		if c.decl.Side != recording.Outbound {
			continue
		}
		before, peer := len(t.Calls), peerName(&t.Conns[i])
		for _, x := range callExchanges(c, udp) {
			if x.asked.none() {
				continue // sent before the recording began
			}
			call := newCall(t, f, i, x)
			if c.protocol == recording.ProtocolUDP && udp.oneWay(&call, c, x) {
				continue // nobody waits for it
			}
			t.Calls = append(t.Calls, call)
			work = append(work, made{conn: i, x: exchanged{x.asked, x.replied}})
			t.Conns[i].Exchanges++
		}
		if len(t.Calls) == before && failed(c) {
			t.Calls = append(t.Calls, failedCall(f, i))
			work = append(work, made{conn: i})
		}
		for k := before; k < len(t.Calls); k++ {
			t.Calls[k].Peer = peer
			if call := &t.Calls[k]; c.tunnel != nil {
				call.Proxy, call.Address = c.decl.Peer, cmp.Or(c.tunnel.Target, c.decl.Peer)
				if call.New {
					call.Reached = c.reached
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
		settle(&t.Calls[i], &work[i].bounds)
	}
	f.dropHeads()
	return work
}

// callExchanges finds what was asked and answered on an outbound connection.
func callExchanges(c *connFacts, udp *udpWalk) []exchange {
	switch {
	case c.protocol == recording.ProtocolHTTP2 || c.refused():
		return nil
	case c.protocol == recording.ProtocolUDP:
		return udp.exchanges(c)
	case len(c.asks) > 0 && c.protocol != recording.ProtocolTLS:
		return httpExchanges(c, recording.Write)
	case len(c.commands) > 0 && c.protocol != recording.ProtocolTLS:
		return commandExchanges(c)
	case c.protocol != recording.ProtocolHTTP1:
		return opaqueExchanges(c)
	}
	return nil
}

// failed reports a connection attempt that never carried a byte.
func failed(c *connFacts) bool {
	return c.decl.Existing != 1 && c.established == recording.NoTime && c.closed != nil &&
		(c.refused() || len(c.chunks[recording.Write])+len(c.chunks[recording.Read]) == 0)
}

func failedCall(f *facts, i int) timeline.Call {
	c := &f.conns[i]
	return timeline.Call{
		Request: timeline.None, Process: c.decl.Process, Strand: f.strand(c.decl.Thread),
		Conn: c.decl.ID, New: true, Address: c.decl.Peer,
		Start: c.at, End: c.closedAt, ConnectFrom: c.at, Excluded: "failed",
	}
}

// newCall makes a Call of one exchange on the i-th connection. The first exchange on
// a connection that was opened in the recording takes the connect with it.
func newCall(t *timeline.Timeline, f *facts, i int, x exchange) timeline.Call {
	c, conn := &f.conns[i], &t.Conns[i]
	writes := c.chunks[recording.Write]
	call := timeline.Call{
		Request: timeline.None, Process: c.decl.Process, Strand: f.strand(writes[x.asked.first].Thread),
		Conn: c.decl.ID, Ordinal: x.ordinal, Address: c.decl.Peer,
		SendFrom: max(x.asked.begin, f.start), Sent: x.asked.end, Again: x.again, Protocol: c.protocol,
	}
	if x.ask != nil {
		call.Operation = operationOf(f, x.ask)
	}
	if x.answer != nil {
		call.Status = x.answer.Status
	}
	if x.ordinal == 0 && !conn.Existing {
		call.New = true
		call.ConnectFrom, call.Connected = conn.Opened, conn.Established
		call.TLSFrom, call.TLSTo = conn.TLSFrom, conn.TLSTo
	}
	if x.command != nil {
		nameCommand(f, &call, &x)
	}
	if x.command != nil && c.protocol != recording.ProtocolTLS {
		finishCommand(&call, c, &x, f.window(c.at).To)
	} else {
		finishCall(&call, c, x, f.window(c.at).To)
	}
	if x.command != nil {
		excludeWaiting(&call, x.command.Operation)
	}
	return call
}

// operationOf names what a request asks for: the operation header if there is one,
// for it tells more than the route.
func operationOf(f *facts, r *requestAt) string {
	if r.Operation != "" {
		return r.Operation
	}
	return f.endpoint(r.Method, r.Route)
}

// finishCall finds the end of a call: the last byte of its answer, or what cut it. A call
// whose answer could not be told apart ends when it was sent.
func finishCall(call *timeline.Call, c *connFacts, x exchange, end recording.Time) {
	if !x.replied.none() {
		call.Arrived, call.FirstRead = x.replied.arrived, x.replied.begin
		call.End = x.replied.end
	}
	switch {
	case !x.replied.none() && x.replied.complete:
	case x.unpaired:
		call.End, call.Excluded = call.Sent, unpaired
	case x.ask == nil && len(c.chunks[recording.Read]) == 0:
		call.End, call.Excluded = call.Sent, "one-way" // a protocol without answers
	case c.closed != nil:
		call.End, call.Cut = c.closedAt, true
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

// settle derives start, phases and their bounds from a call's marks. Marks that are
// missing make a phase empty; marks out of order (an answer that came before the
// request was all sent) are moved to the mark before. The gap after a look-up, a
// connect or a handshake, before the next step begins, counts to the step before it.
func settle(c *timeline.Call, b *bounds) {
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
	*b = bounds{c.Start, recording.NoTime, recording.NoTime, recording.NoTime, c.SendFrom, c.Sent, c.Arrived, c.FirstRead, c.End}
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
