package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func slowPeer() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "slow-peer",
		Title: "Requests wait for a peer to answer",
		Doc: "The peer has the call, and the request can only wait.\n\n" +
			"Support: the time between the last byte of a call's request and the arrival of the answer's first byte, and of the rest of the answer if that is waited for, by peer, operation and address. Beside that is reported:\n\n" +
			"- how many calls a request makes, and whether one after another;\n" +
			"- whether requests that come while another one makes a call make it too, which few others do, as when a cache lacks something that all need;\n" +
			"- for a peer that is in the recording, too, how long its own requests take, and how much of that passes before it reads them.\n\n" +
			"If a goroutine, or a thread, reads a connection for all requests that share it (HTTP/2), and it is not known which calls belong to which request, the support is the time in which a request waits for that goroutine or thread while it waits for bytes. If " +
			"something was written there since the wait began, it counts from then on.\n\n" +
			"Not this: time before the request is out and after the answer is in our socket. A wait for a peer on this host leaves it undecided while the processors are busy 90 % of a second, some thread waits for one during half of it, a " +
			"hypervisor gives 2 % of them to others, or the control group is throttled. So does a wait there that is longer than usual by no more than twice what requests here wait for a processor. Calls that belong to no known request leave " +
			"it undecided if unaccounted time could hide it.\n\n" +
			"It says where the time goes, not why. A peer that always takes as long is a lead: it may be what such a request is for.\n\n" +
			"Saving: those waits are taken out of each request, if they are surely the peer's.",
		Needs:    []string{recording.HookSockets, recording.HookIO, recording.HookArrivals},
		Where:    true,
		Explains: []string{"accept-queue", "load"},
		Test:     testSlowPeer,
	}
}

func testSlowPeer(c *diagnosis.Case) diagnosis.Result {
	var res diagnosis.Result
	spans, here := remoteSpans(c), crowdedTimes(c)
	var all []diagnosis.Span
	var hidden []window
	for _, p := range acrossProcesses(c) {
		s := spans[p.peer]
		if all = append(all, s...); s != nil {
			cd := slowPeerAt(c, p, s)
			next := "compare the peer's own log or metrics of these calls with the times here"
			if cd.Spans, cd.May = here.apart(c, addressesOf(c, p.calls), s); len(cd.May) > 0 {
				next = "record while the host has processors to spare: this peer is on the same host and may itself have waited for one"
			}
			cd.Next = cmp.Or(cd.Next, next)
			res.Candidates, res.Hidden = append(res.Candidates, cd), append(res.Hidden, cd.May...)
		}
		hidden = append(hidden, unowned(c, p.calls, remoteOf)...)
	}
	for _, u := range sharedWaits(c) {
		all = append(all, u.spans...)
		cd := u.candidate(c)
		cd.Spans, cd.May = here.apart(c, u.addresses, u.spans)
		res.Candidates, res.Hidden = append(res.Candidates, cd), append(res.Hidden, cd.May...)
	}
	if len(res.Hidden) > 0 {
		res.Hides = "is spent waiting for a peer on this host while threads there waited for a processor: the peer may have been one of them; record while the host has processors to spare"
	}
	res.Hidden = append(res.Hidden, hiddenIn(c, hidden)...)
	share := diagnosis.ShareOf(int64(diagnosis.Total(all)), int64(c.Time()))
	switch {
	case len(c.Calls) == 0:
		res.Lead = noCalls(c)
	case len(all) == 0:
		res.Lead = "no request waited for the answer to one of " + diagnosis.Plural(len(c.Calls), "call")
	}
	res.Evidence = []diagnosis.Evidence{
		diagnosis.Part("of all request time is spent waiting for peers", share),
		diagnosis.Count("calls", len(c.Calls)),
	}
	return res
}

// restAwaited reports whether a segment is a wait for the rest of an answer that has begun.
func restAwaited(s *timeline.Segment) bool {
	return s.Phase == timeline.PhaseReceive && s.Cause == timeline.CauseRemote
}

// remoteSpans collects the time that requests waited for each peer: for the rest of its answers, too, and behind
// another strand that waited for it.
func remoteSpans(c *diagnosis.Case) map[string][]diagnosis.Span {
	out := map[string][]diagnosis.Span{}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		for s := r.Segments(); (r.Has(timeline.CauseRemote) || r.HasPhase(timeline.PhaseRemote)) && s.Next(); {
			call := s.Call
			switch {
			case call == timeline.None && s.Phase == timeline.PhaseHandler:
				call = c.CallBehind(&s.Segment)
			case s.Phase != timeline.PhaseRemote && !restAwaited(&s.Segment):
				continue
			}
			if call == timeline.None {
				continue
			}
			peer := c.Calls[call].Peer
			out[peer] = append(out[peer], diagnosis.Span{Request: id, From: s.From, To: s.To})
		}
	}
	return out
}

func slowPeerAt(c *diagnosis.Case, p peerCalls, spans []diagnosis.Span) diagnosis.Candidate {
	var left givenUp
	told := answered{operations: map[string]Duration{}, addresses: map[string]Duration{}}
	unanswered := 0
	for _, id := range p.calls {
		call := &c.Calls[id]
		left.add(c, call)
		open := call.Cut && call.Request != timeline.None && c.Requests[call.Request].Unanswered
		if call.Cut && !open || call.Excluded != "" {
			continue
		}
		if open {
			unanswered++
		}
		told.add(call)
	}
	slices.Sort(told.waits)
	slices.Sort(told.rests)
	told.order(c, p.calls)
	for operation, waited := range left.of {
		told.operations[operation] += waited
	}
	operation, ofIt := mostOf(told.operations)
	rush := rushOf(c, p.calls, operation)
	address, there := mostOf(told.addresses)
	place := p.peer
	if operation != "" {
		place = operation + " at " + p.peer
	}
	ev := []diagnosis.Evidence{
		diagnosis.NS("p50 of the wait for its answer", diagnosis.Quantile(told.waits, 50)),
		diagnosis.NS("p99 of the wait for its answer", diagnosis.Quantile(told.waits, 99)),
		diagnosis.Part("of its time is spent in "+cmp.Or(operation, "calls of unknown operation"), ofIt),
		diagnosis.Count("calls", len(told.waits)),
		diagnosis.Count("addresses seen", len(told.addresses)),
	}
	if len(told.addresses) > 1 {
		ev = append(ev, diagnosis.Part("of its time is spent at "+address, there))
	}
	if told.requests > 0 {
		ev = append(ev, diagnosis.Count("requests make several calls to it one after another", told.inTurn))
	}
	if unanswered > 0 {
		ev = slices.Insert(ev, 2, diagnosis.Count("calls without an answer when the recording ended", unanswered))
	}
	_, share := perMean(c, diagnosis.Total(spans))
	itself := recordedAt(c, p.calls)
	return diagnosis.Candidate{
		Place:    place,
		Title:    "Requests wait " + meanWords(c, spans) + " for " + p.peer + throughProxy(c, p.calls) + " to answer" + setUpApart(c, p.calls) + told.steadily(left.times > 0) + told.rest() + told.turns() + told.alive() + rush.words() + left.words(len(p.calls), len(told.operations)) + calledIn(c, p.calls) + itself.words(),
		Fix:      cmp.Or(rush.fix(), itself.fix(p.peer), told.fix(p.peer, operation)),
		Next:     cmp.Or(rush.next(), itself.next()),
		Lead:     p.peer + " takes " + diagnosis.Percent(share) + " of all request time",
		Spans:    spans,
		Peer:     true,
		Seen:     spans,
		Evidence: left.evidence(ev),
	}
}
