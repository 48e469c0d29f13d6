package hypotheses

import (
	"cmp"
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func retransmit() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "retransmit",
		Title: "Packets of calls are lost and sent again (TCP retransmission)",
		Doc: "The call waits until the kernel does so.\n\n" +
			"Support: segments of calls' connections that the kernel sent again. They belong to the handshake, as when packets are dropped or the peer's accept queue is full, or to requests. Ends of messages that this host itself dropped on " +
			"their way out, as a packet filter or a full queue does, count too: they stay in the socket until the kernel tries again. The kernel does so once nothing was acknowledged for 200 ms or more, for a handshake after a second, and " +
			"after twice that each further time; sooner if the peer says what is missing.\n\n" +
			"Not this: what peers lose on the way to us is not seen; it is part of their time.\n\n" +
			"Saving: the time from where the call began to connect, or had written its request, to the last time that a segment was sent again before the answer; or until the end of the message had left. The round-trip time is reported as " +
			"well: from the handshakes of connections that were opened, and by the kernel's own measure on those that were open before.",
		Needs:    []string{recording.HookRetransmits, recording.HookIO, recording.HookLate},
		Explains: []string{"slow-peer"},
		Test:     testRetransmit,
	}
}

// resent is what calls to one peer, or answers to clients, waited because segments had to be sent again.
type resent struct {
	peer    string // "": of answers
	spans   []diagnosis.Span
	of      map[message]bool
	connect map[message]bool // those of them that waited while connecting
	refused map[message]bool // those whose end this host had dropped itself
	longest Duration
}

func (r *resent) add(m message, s diagnosis.Span, refused bool) {
	r.spans, r.of[m], r.longest = append(r.spans, s), true, max(r.longest, s.To.Sub(s.From))
	if refused {
		r.refused[m] = true
	}
}

func testRetransmit(c *diagnosis.Case) diagnosis.Result {
	segments, conns := 0, 0
	for i := range c.Conns {
		if n := len(c.Conns[i].Again); n > 0 {
			segments, conns = segments+n, conns+1
		}
	}
	res := diagnosis.Result{
		Lead: "none of " + diagnosis.Plural(len(c.Conns), "connection") + " sent a segment again",
		Evidence: []diagnosis.Evidence{
			diagnosis.Count("TCP segments sent again, on all connections", segments),
			diagnosis.Count("connections with retransmissions", conns),
		},
	}
	if segments > 0 {
		res.Lead = "sent again: " + diagnosis.Plural(segments, "segment") + ", on " + diagnosis.Thousands(int64(conns)) + " of " + diagnosis.Plural(len(c.Conns), "connection")
	}
	opened, kept := waysAndBack(c)
	if way, n := diagnosis.Quantile(opened, 50), len(opened); n > 0 {
		res.Lead += "; a round trip takes " + diagnosis.Human(way) + ", the median of " + diagnosis.Plural(n, "handshake")
		res.Evidence = append(res.Evidence, diagnosis.NS("round trip to a peer, p50 of the handshakes", way), diagnosis.Count("handshakes of connections that were opened", n))
	}
	if way, n := diagnosis.Quantile(kept, 50), len(kept); n > 0 {
		res.Lead += "; on connections that were open before, a round trip takes " + diagnosis.Human(way) + " at best, the median of " + diagnosis.Plural(n, "connection")
		res.Evidence = append(res.Evidence, diagnosis.NS("best round trip to a peer, p50 of connections that were open before", way), diagnosis.Count("connections that were open before, with a known round trip", n))
	}
	by := resentBy(c)
	if n := refusedOf(by); n > 0 {
		res.Lead += ", and this host itself dropped the ends of " + diagnosis.Plural(n, "message") + " on their way out"
		res.Evidence = append(res.Evidence, diagnosis.Count("ends of messages that this host itself dropped on their way out", n))
	}
	peers := slices.Collect(maps.Values(by))
	slices.SortFunc(peers, func(a, b *resent) int {
		return cmp.Or(cmp.Compare(diagnosis.Total(b.spans), diagnosis.Total(a.spans)), cmp.Compare(a.peer, b.peer))
	})
	if all := joined(peers); len(peers) > 1 && 2*diagnosis.Total(peers[0].spans) < diagnosis.Total(all.spans) {
		peers = []*resent{all} // the loss is on the way to all of them
	}
	for _, r := range peers {
		res.Candidates = append(res.Candidates, r.candidate(res.Evidence))
	}
	return res
}

// waysAndBack returns the round-trip times to peers, in order. On connections that were opened it is the handshake from
// the first segment to the answer; through a proxy that takes longer, and is left out. On connections that were open
// before it is the kernel's own measure, the smallest of late.
func waysAndBack(c *diagnosis.Case) (opened, kept []Duration) {
	for i := range c.Conns {
		k := &c.Conns[i]
		switch {
		case k.Side != recording.Outbound || k.Target != "":
		case k.RoundTrip > 0:
			kept = append(kept, k.RoundTrip)
		case k.Opened != recording.NoTime && k.Established > k.Opened:
			opened = append(opened, k.Established.Sub(k.Opened))
		}
	}
	slices.Sort(opened)
	slices.Sort(kept)
	return opened, kept
}

// refusedOf counts the messages whose ends this host dropped.
func refusedOf(by map[string]*resent) (n int) {
	for _, r := range by {
		n += len(r.refused)
	}
	return n
}

// resentBy collects, by peer, the waits of measured requests for that.
func resentBy(c *diagnosis.Case) map[string]*resent {
	by := map[string]*resent{}
	to := func(peer string) *resent {
		if by[peer] == nil {
			by[peer] = &resent{peer: peer, of: map[message]bool{}, connect: map[message]bool{}, refused: map[message]bool{}}
		}
		return by[peer]
	}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		for g := r.Segments(); r.Has(timeline.CauseRemote) && g.Next(); {
			if g.Call == timeline.None || g.Cause != timeline.CauseRemote {
				continue
			}
			call := &c.Calls[g.Call]
			until, refused := g.To, g.Phase == timeline.PhaseSend && call.Kept == timeline.KeptRefused && call.Left > g.From
			if !refused {
				until = resentUntil(c.Conns[connIndex(c, call.Conn)].Again, call, &g.Segment)
			}
			if until <= g.From {
				continue
			}
			m := message{id, g.Call}
			to(call.Peer).add(m, diagnosis.Span{Request: id, From: g.From, To: until}, refused)
			if g.Phase == timeline.PhaseConnect {
				to(call.Peer).connect[m] = true
			}
		}
		if r.Held != recording.NoTime && r.Kept == timeline.KeptRefused {
			to("").add(message{id, timeline.None}, diagnosis.Span{Request: id, From: r.Held, To: r.End}, true)
		}
	}
	return by
}

// joined adds up the waits for several peers.
func joined(peers []*resent) *resent {
	all := &resent{peer: diagnosis.Plural(len(peers), "peer"), of: map[message]bool{}, connect: map[message]bool{}, refused: map[message]bool{}}
	for _, r := range peers {
		all.spans = append(all.spans, r.spans...)
		maps.Copy(all.of, r.of)
		maps.Copy(all.connect, r.connect)
		maps.Copy(all.refused, r.refused)
		all.longest = max(all.longest, r.longest)
	}
	return all
}

// resentUntil returns until when a piece of a call was lost to segments that were sent again: to the last of them
// before the connection was there, or before the answer. If there is none, it is not after the piece's beginning.
func resentUntil(again []diagnosis.Time, call *timeline.Call, g *timeline.Segment) diagnosis.Time {
	if len(again) == 0 {
		return g.From
	}
	var from, to diagnosis.Time
	switch g.Phase {
	case timeline.PhaseConnect:
		from, to = call.ConnectFrom, cmp.Or(call.Connected, call.End)
	case timeline.PhaseTLS:
		from, to = call.TLSFrom, cmp.Or(call.TLSTo, call.End)
	case timeline.PhaseSend, timeline.PhaseRemote:
		from, to = call.SendFrom, cmp.Or(call.Arrived, call.End)
	default:
		return g.From
	}
	i, _ := slices.BinarySearch(again, to+1)
	if i == 0 || again[i-1] < from {
		return g.From
	}
	return min(again[i-1], g.To)
}

func (r *resent) candidate(ev []diagnosis.Evidence) diagnosis.Candidate {
	n, peer, what := len(r.of), cmp.Or(r.peer, "clients"), "call"
	if r.peer == "" {
		what = "answer"
	}
	title := diagnosis.Plural(n, what) + " to " + peer + " waited for a TCP retransmission (" +
		diagnosis.Human(diagnosis.Total(r.spans)/Duration(n)) + " on average)"
	fix := "packets are lost on the way to " + peer + ": look for drops at the interfaces and queues of both hosts (ip -s link, nstat TcpExt), and at the network between them"
	ev = append([]diagnosis.Evidence{
		diagnosis.Count(what+"s that waited for a retransmission", n),
		diagnosis.NS("longest such wait", r.longest),
	}, ev...)
	if k := len(r.connect); k > 0 {
		title += ", " + allOrSome(k, n) + "while connecting"
		if 2*k > n {
			fix = "see whether the accept queue of " + peer + " is full (nstat TcpExtListenDrops there; its backlog and net.core.somaxconn); if not, look for what drops packets on the way; keep connections open so that fewer are opened"
		}
	}
	if k := len(r.refused); k > 0 {
		title += "; this host itself had dropped the packets of " + diagnosis.Thousands(int64(k)) + " of them"
		fix = "this host itself drops packets to " + peer + ": look at its filters for outgoing packets (nft list ruleset, iptables -L OUTPUT -v), and at the drops of its queues (tc -s qdisc, ip -s link)"
	}
	return diagnosis.Candidate{
		Place:    "the way to " + peer,
		Title:    title,
		Fix:      fix,
		Next:     "ss -ti dst PEER shows retransmissions and round-trip times of live connections",
		Spans:    r.spans,
		Evidence: ev,
	}
}
