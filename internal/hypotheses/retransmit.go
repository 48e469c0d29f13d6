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
		Title: "What calls send is lost and sent again",
		Doc: "Supported by segments of calls' connections that the kernel sent again: of the handshake, as where packets are dropped or the peer's accept queue is full, and of requests. " +
			"It does so once nothing was acknowledged for 200 ms or more, of a handshake for a second, and twice that each further time; sooner if the peer says what is missing. " +
			"Taken out of each request: from where the call began to connect, or had written its request, to the last time that a segment was sent again before the answer. " +
			"What peers lose on the way to us is not seen: it is part of their time.",
		Needs:    []string{recording.HookRetransmits, recording.HookIO},
		Explains: []string{"slow-peer"},
		Test:     testRetransmit,
	}
}

// resent is what calls to one peer waited for segments that were sent again.
type resent struct {
	peer    string
	spans   []diagnosis.Span
	calls   map[timeline.CallID]bool
	connect int // of them while connecting
	longest Duration
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
			diagnosis.Count("segments sent again, on all connections", segments),
			diagnosis.Count("connections with such segments", conns),
		},
	}
	if segments > 0 {
		res.Lead = "sent again: " + diagnosis.Plural(segments, "segment") + ", on " + diagnosis.Thousands(int64(conns)) + " of " + diagnosis.Plural(len(c.Conns), "connection")
	}
	by := resentBy(c)
	peers := slices.Collect(maps.Values(by))
	slices.SortFunc(peers, func(a, b *resent) int {
		return cmp.Or(cmp.Compare(diagnosis.Total(b.spans), diagnosis.Total(a.spans)), cmp.Compare(a.peer, b.peer))
	})
	for _, r := range peers {
		res.Candidates = append(res.Candidates, r.candidate(res.Evidence))
	}
	return res
}

// resentBy collects those waits of measured requests by peer.
func resentBy(c *diagnosis.Case) map[string]*resent {
	by := map[string]*resent{}
	for _, id := range c.Measured() {
		for _, g := range c.Requests[id].Segments {
			if g.Call == timeline.None {
				continue
			}
			call := &c.Calls[g.Call]
			again := c.Conns[connIndex(c, call.Conn)].Again
			to := resentUntil(again, call, &g)
			if to <= g.From {
				continue
			}
			r := by[call.Peer]
			if r == nil {
				r = &resent{peer: call.Peer, calls: map[timeline.CallID]bool{}}
				by[call.Peer] = r
			}
			r.spans = append(r.spans, diagnosis.Span{Request: id, From: g.From, To: to})
			r.longest = max(r.longest, to.Sub(g.From))
			if !r.calls[g.Call] && g.Phase == timeline.PhaseConnect {
				r.connect++
			}
			r.calls[g.Call] = true
		}
	}
	return by
}

// resentUntil is up to when a piece of a call was lost to segments that were sent again: the
// last of them before the connection was there, or before the answer. Not after the piece's
// beginning if there is none.
func resentUntil(again []diagnosis.Time, call *timeline.Call, g *timeline.Segment) diagnosis.Time {
	if len(again) == 0 || g.Cause != timeline.CauseRemote {
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
	n := len(r.calls)
	title := diagnosis.Plural(n, "call") + " to " + r.peer + " waited until what was lost on the way was sent again, " +
		diagnosis.Human(diagnosis.Total(r.spans)/Duration(n)) + " on average"
	fix := "packets are lost on the way to " + r.peer + ": look at drops of interfaces and queues on both sides (ip -s link, nstat TcpExt), and at what lies between"
	if r.connect > 0 {
		title += "; " + diagnosis.Thousands(int64(r.connect)) + " of them for their connection"
		fix = "see whether the accept queue of " + r.peer + " is full (nstat TcpExtListenDrops there; its backlog and net.core.somaxconn), else what drops packets on the way; keep connections open so that fewer are made"
	}
	return diagnosis.Candidate{
		Place: "the way to " + r.peer,
		Title: title,
		Fix:   fix,
		Next:  "ss -ti dst PEER shows retransmissions and round-trip times of live connections",
		Spans: r.spans,
		Evidence: append([]diagnosis.Evidence{
			diagnosis.Count("calls that waited for it", n),
			diagnosis.NS("longest wait for it", r.longest),
		}, ev...),
	}
}
