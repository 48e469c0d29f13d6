package hypotheses

import (
	"cmp"
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

func connectionChurn() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "connection-churn",
		Title: "Calls open new connections instead of reusing one",
		Doc: "A client that keeps its connections would save the set-up.\n\n" +
			"Support: the calls to a peer are replayed with a pool that keeps every connection. A call on a new connection counts if that pool would have had an idle one. The first use of each connection that the pool needs does not count. If " +
			"calls pile up behind the set-up of others, the pool is the one that the same arrivals would need without that set-up.\n\n" +
			"Saving: the look-up, connect and TLS phases of those calls are taken out of each request (for a session of a database, all time until it is open). So are the request's own work for the set-up and its waits for a processor to do " +
			"that work. Waits for an event loop that is busy with such work are taken out by replaying the arrivals through the loop without it. What a client does before it connects and after the answer can be told from the request's other " +
			"work only by comparison. If at least 8 calls at the same place in the code (endpoint, peer, operation, position) found an open connection, the difference of the medians of the own work beside the calls is taken out too. Otherwise " +
			"the saving is a lower bound, and is reported as one. What the peer is spared is not counted.",
		Needs:    []string{recording.HookSockets, recording.HookIO},
		Explains: []string{"tls-handshake", "slow-dns", "event-loop-blocked", "accept-queue", "run-queue", "cpu-bound", "load"},
		Test:     testConnectionChurn,
	}
}

// churn is what connectionChurn knows of one peer.
type churn struct {
	peerCalls
	needed  int // connections that a pool which keeps them would have opened
	churned map[timeline.CallID]bool
	setup   Duration // summed dns, connect and tls of the churned calls
	took    Duration // summed: the whole time of these calls
	piled   int      // churned calls that found no idle connection only because calls piled up behind others' set-up

	sessions int      // churned calls that open a session
	opening  Duration // summed: from sending those to their ends
}

func testConnectionChurn(c *diagnosis.Case) diagnosis.Result {
	var res diagnosis.Result
	var hidden []window
	total, churned := 0, 0
	for _, ch := range churns(c) {
		total += len(ch.calls)
		churned += len(ch.churned)
		if len(ch.churned) == 0 {
			continue
		}
		res.Candidates = append(res.Candidates, churnAt(c, ch))
		hidden = append(hidden, unowned(c, ch.calls, func(k *timeline.Call) window {
			if !ch.churned[k.ID] {
				return window{}
			}
			return window{k.Start, k.SendFrom}
		})...)
	}
	res.Hidden = hiddenIn(c, hidden)
	share := diagnosis.ShareOf(int64(churned), int64(total))
	switch {
	case total == 0:
		res.Lead = noCalls(c)
	case churned == 0:
		res.Lead = "none of " + diagnosis.Plural(total, "call") + " opened a connection where one could have been reused"
	default:
		res.Lead = diagnosis.Percent(share) + " of " + diagnosis.Plural(total, "call") + " opened a connection needlessly"
	}
	if churned == 0 {
		res.Undecided = multiplexed(c)
	}
	res.Evidence = []diagnosis.Evidence{
		diagnosis.Part("of calls opened a connection where one could have been reused", share),
		diagnosis.Count("calls", total),
	}
	return res
}

// manyMultiplexed is a number of HTTP/2 connections to one peer that is more than a client needs: each carries many
// calls at once.
const manyMultiplexed = 8

// multiplexed says to which peer so many HTTP/2 connections were opened and closed again, as if each call had its own.
// What they took is not known, because calls over HTTP/2 are not seen. "" if there is no such peer.
func multiplexed(c *diagnosis.Case) string {
	closed := map[string]int{}
	most := ""
	for i := range c.Conns {
		if k := &c.Conns[i]; k.Side == recording.Outbound && k.Protocol == recording.ProtocolHTTP2 && !k.Existing && k.Closed != recording.NoTime {
			at := peers.Name(k)
			if closed[at]++; closed[at] > closed[most] {
				most = at
			}
		}
	}
	if closed[most] < manyMultiplexed {
		return ""
	}
	return diagnosis.Thousands(int64(closed[most])) + " HTTP/2 connections to " + most + " were opened and closed again, although one can carry many concurrent calls: their cost is not known, because dwell does not see calls over HTTP/2"
}

// churns finds the churn of each peer. Each process has a pool of its own; the losses are added up.
func churns(c *diagnosis.Case) []churn {
	return ofPeers(c, findChurn, func(all *churn, ch churn) {
		all.calls = append(all.calls, ch.calls...)
		maps.Copy(all.churned, ch.churned)
		all.needed, all.setup, all.took, all.piled = all.needed+ch.needed, all.setup+ch.setup, all.took+ch.took, all.piled+ch.piled
		all.sessions, all.opening = all.sessions+ch.sessions, all.opening+ch.opening
	})
}

// findChurn replays the calls to a peer with a pool that keeps every connection: as they came and ended, and as they
// would have if none had opened one. The set-up itself can be why so many calls are under way at once that none finds
// an idle connection: they queue for a server that is saturated with handshakes.
func findChurn(c *diagnosis.Case, p peerCalls) churn {
	ch := reusing(c, p, func(id timeline.CallID) (from, to diagnosis.Time) { return c.Calls[id].Start, c.Calls[id].End })
	all, discarded := churn{peerCalls: p, churned: map[timeline.CallID]bool{}}, discards(c)
	for _, id := range p.calls {
		if c.Calls[id].New && (ch.churned[id] || discarded[c.Calls[id].Conn]) {
			all.churned[id] = true
		}
	}
	if len(ch.churned) == len(all.churned) {
		return ch
	}
	sooner := soonerWithout(c, all)
	without := reusing(c, p, func(id timeline.CallID) (from, to diagnosis.Time) {
		call := &c.Calls[id]
		return call.Start - sooner(call.Request, call.Start), call.End - sooner(call.Request, call.End)
	})
	for id := range without.churned { // a connection that is kept is how a pool grows
		if !all.churned[id] {
			without.innocent(&c.Calls[id])
		}
	}
	if len(without.churned) > len(ch.churned) {
		without.piled = len(without.churned) - len(ch.churned)
		return without
	}
	return ch
}

// soonerWithout returns how much earlier a request would have reached each point of its time without opening the
// connections of some calls, and without waiting for a loop that is busy with that.
func soonerWithout(c *diagnosis.Case, ch churn) func(diagnosis.RequestID, diagnosis.Time) diagnosis.Time {
	setup := setupSpans(c, ch)
	spans := knockOn(c, setup)
	for _, s := range setup {
		spans = append(spans, s.Span)
	}
	of := map[diagnosis.RequestID][]diagnosis.Span{}
	for _, s := range c.Merged(spans) {
		of[s.Request] = append(of[s.Request], s)
	}
	return func(id diagnosis.RequestID, at diagnosis.Time) (d diagnosis.Time) {
		for _, s := range of[id] {
			if s.From >= at {
				break
			}
			d += min(s.To, at) - s.From
		}
		return d
	}
}

// reusing replays the calls to a peer through a pool that keeps every connection; when says when each comes and ends.
func reusing(c *diagnosis.Case, p peerCalls, when func(timeline.CallID) (from, to diagnosis.Time)) churn {
	ch := churn{peerCalls: p, churned: map[timeline.CallID]bool{}}
	type coming struct {
		at diagnosis.Time
		id timeline.CallID
	}
	comings, ends := make([]coming, 0, len(p.calls)), make([]diagnosis.Time, 0, len(p.calls))
	for _, id := range p.calls {
		from, to := when(id)
		comings, ends = append(comings, coming{from, id}), append(ends, max(to, from+1))
	}
	slices.SortStableFunc(comings, func(a, b coming) int { return cmp.Compare(a.at, b.at) })
	slices.Sort(ends)
	idle, done := 0, 0
	for _, x := range comings {
		call := &c.Calls[x.id]
		for done < len(ends) && ends[done] <= x.at {
			idle++
			done++
		}
		if idle == 0 {
			ch.needed++
			continue
		}
		idle--
		if call.New {
			ch.churned[x.id] = true
			ch.count(call, 1)
		}
	}
	return ch
}

// count adds or subtracts what a churned call took.
func (ch *churn) count(call *timeline.Call, by int) {
	if opensSession(call) && call.SendFrom != recording.NoTime {
		ch.sessions, ch.opening = ch.sessions+by, ch.opening+Duration(by)*call.End.Sub(call.SendFrom)
	}
	ch.took += Duration(by) * call.End.Sub(call.Start)
	ch.setup += Duration(by) * (max(0, call.Phases[timeline.PhaseDNS]-call.InVain) + call.Phases[timeline.PhaseConnect] + call.Phases[timeline.PhaseTLS])
}

// opened counts the calls that opened a connection.
func (ch *churn) opened(c *diagnosis.Case) (n int) {
	for _, id := range ch.calls {
		if c.Calls[id].New {
			n++
		}
	}
	return n
}

// innocent removes a call from the churned ones.
func (ch *churn) innocent(call *timeline.Call) {
	delete(ch.churned, call.ID)
	ch.count(call, -1)
	ch.needed++
}

// discards returns the connections that were closed after one exchange at most; its callers share them.
func discards(c *diagnosis.Case) map[recording.ConnID]bool {
	return c.Once("discarded connections", func() any {
		out := map[recording.ConnID]bool{}
		for i := range c.Conns {
			if cn := &c.Conns[i]; cn.Side == recording.Outbound && cn.Exchanges <= 1 && cn.Closed != recording.NoTime {
				out[cn.ID] = true
			}
		}
		return out
	}).(map[recording.ConnID]bool)
}

func churnAt(c *diagnosis.Case, ch churn) diagnosis.Candidate {
	n, others := len(ch.churned), ""
	if had := ch.opened(c) - n; had > 0 && had != ch.needed {
		others = "; " + diagnosis.Thousands(int64(had)) + " more calls needed a new one"
	}
	share := diagnosis.ShareOf(int64(n), int64(len(ch.calls)))
	setup := setupSpans(c, ch)
	more, known := excess(c, ch.churned)
	setup = append(setup, more...)
	waits := knockOn(c, setup)
	spans := waits
	for _, s := range setup {
		spans = append(spans, s.Span)
	}
	end := endings(c, ch)
	closer, fix := end.story(runtimeOf(c, ch.process))
	ev := []diagnosis.Evidence{
		diagnosis.NS("mean time of look-up, connect and TLS in such a call", ch.setup/Duration(n)),
		diagnosis.NS("mean time of such a call", ch.took/Duration(n)),
		diagnosis.NS("mean wait of a request for an event loop that is busy opening connections", diagnosis.Total(waits)/Duration(max(1, len(c.Overall.Requests)))),
		diagnosis.Count("of these calls can be compared with calls on reused connections; if not all can, the saving is a lower bound", known).Against(int64(n)),
		diagnosis.Count("sockets in TIME-WAIT on this host after a minute at this rate", end.timeWait),
		diagnosis.Count("calls that opened a connection needlessly", n),
		diagnosis.Count("kept connections that would have been enough", ch.needed),
		diagnosis.Part("of calls opened a connection where one could have been reused", share),
		diagnosis.Count("source ports used by these connections", end.ports),
		diagnosis.Count("connections closed first by our side", end.us),
		diagnosis.Count("connections closed first by the peer right after its answer", end.peer),
		diagnosis.Count("connections closed first by the peer after an idle second", end.idle),
	}
	if end.ourIdle > 0 {
		ev = append(ev, diagnosis.Count("connections closed first by our side after an idle second", end.ourIdle))
	}
	if ch.piled > 0 {
		ev = append(ev, diagnosis.Count("of these calls found no idle connection only because calls pile up behind others that open one", ch.piled))
	}
	if ch.sessions > 0 { // most of the time that such a connection takes
		ev = slices.Insert(ev, 0, diagnosis.NS("mean time to open a session on such a connection", ch.opening/Duration(ch.sessions)))
		fix = sessionFix(runtimeOf(c, ch.process))
	}
	return diagnosis.Candidate{
		Place: ch.peer,
		Title: "Calls to " + ch.peer + madeIn(c, ch.calls) + " open a new connection instead of reusing one: " + diagnosis.Thousands(int64(n)) + " of " +
			diagnosis.Thousands(int64(len(ch.calls))) + " calls (" + diagnosis.Percent(share) + others + ") needlessly, because " + diagnosis.Plural(ch.needed, "kept connection") + " would be enough; " + closer,
		Fix:      fix,
		Next:     "dwell show REC --slowest 3 shows the connect and tls phases of single calls",
		Spans:    spans,
		AtLeast:  known < n,
		Evidence: ev,
	}
}
