package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func tlsHandshake() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "tls-handshake",
		Title: "TLS handshakes take long or are never resumed",
		Doc: "A connection or a session that is kept would save them.\n\n" +
			"Support: the TLS phase of requests' calls. The share of handshakes that resumed an earlier session, and the CPU time inside them, are evidence.\n\n" +
			"Not this: if connections are opened needlessly, the handshakes are a consequence of connection-churn.\n\n" +
			"Saving: that phase is taken out of each request, and what it computes between the connection and the handshake's first byte. What it waits for an event loop that is busy with the handshakes of others is taken out by replaying the " +
			"arrivals through the loop without them. The saving is a lower bound: what the peer does when the handshake is over for us is part of its answer.",
		Needs: []string{recording.HookSockets, recording.HookIO, recording.HookTLS},
		Test:  testTLSHandshake,
	}
}

func testTLSHandshake(c *diagnosis.Case) diagnosis.Result {
	spans, cpu, work := handshakes(c)
	owned := map[recording.ConnID]bool{}
	for i := range c.Calls {
		owned[c.Calls[i].Conn] = owned[c.Calls[i].Conn] || c.Calls[i].Request != timeline.None
	}
	var hidden []window
	n, resumed, unknown := 0, 0, 0
	for i := range c.Conns {
		cn := &c.Conns[i]
		if cn.Side != recording.Outbound || cn.TLSFrom == recording.NoTime {
			continue
		}
		n++
		if !owned[cn.ID] {
			hidden = append(hidden, window{cn.TLSFrom, cn.TLSTo})
		}
		switch cn.Resumed {
		case recording.Yes:
			resumed++
		case recording.Unknown:
			unknown++
		}
	}
	share := diagnosis.ShareOf(int64(diagnosis.Total(spans)), int64(c.Time()))
	ev := []diagnosis.Evidence{
		diagnosis.Part("of all request time is spent in TLS handshakes", share),
		diagnosis.Count("handshakes", n),
		diagnosis.Part("of the handshakes resumed a session", diagnosis.ShareOf(int64(resumed), int64(n))),
		diagnosis.Part("of the handshakes may have resumed a session: not known", diagnosis.ShareOf(int64(unknown), int64(n))),
		diagnosis.Part("of the handshakes' time is our own CPU", diagnosis.ShareOf(int64(diagnosis.Total(cpu)), int64(diagnosis.Total(spans)))),
	}
	res := diagnosis.Result{Evidence: ev, Hidden: hiddenIn(c, hidden)}
	switch {
	case share > 0:
		res.Lead = "TLS handshakes take " + diagnosis.Percent(share) + " of all request time"
	case n > 0:
		res.Lead = "no request waited for one of " + diagnosis.Plural(n, "TLS handshake")
	case len(c.Calls) > 0:
		res.Lead = "no TLS handshake in " + diagnosis.Plural(len(c.Calls), "call")
	default:
		res.Lead = noCalls(c)
	}
	if len(spans) > 0 {
		res.Candidates = []diagnosis.Candidate{{
			Place:    "outgoing connections",
			Title:    "TLS handshakes" + shookHands(c) + " take " + diagnosis.Percent(share) + " of all request time",
			Fix:      "keep connections open; resume sessions (one client with a session cache; check that the peer issues tickets); use ECDSA certificates",
			Next:     "dwell show REC --slowest 3 shows the tls phase of single calls",
			Spans:    append(spans, knockOn(c, work)...),
			Evidence: ev,
			AtLeast:  true, // what the peer does after its part, and to encrypt, cannot be told apart
		}}
	}
	return res
}

// handshakes returns the time of requests in TLS handshakes, the part of it that is their own work, and all of it with
// the strand that worked.
func handshakes(c *diagnosis.Case) (spans, cpu []diagnosis.Span, work []setupSpan) {
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		for s := r.Segments(); (r.HasPhase(timeline.PhaseTLS) || r.HasPhase(timeline.PhaseConnect)) && s.Next(); {
			if s.Phase != timeline.PhaseTLS && !prepares(c, &s.Segment) {
				continue
			}
			span := setupSpan{diagnosis.Span{Request: id, From: s.From, To: s.To}, timeline.None}
			if spans = append(spans, span.Span); ownCPU(&s.Segment) {
				cpu, span.strand = append(cpu, span.Span), s.Strand
			}
			work = append(work, span)
		}
	}
	return spans, cpu, work
}

// shookHands names the peer with which most of that time is spent, and where in the code those calls are made.
func shookHands(c *diagnosis.Case) string {
	with, calls := tally{}, []timeline.CallID(nil)
	for i := range c.Calls {
		if k := &c.Calls[i]; k.Request != timeline.None && k.New && k.TLSFrom != recording.NoTime && k.TLSTo != recording.NoTime {
			with[k.Peer] += k.TLSTo.Sub(k.TLSFrom)
			calls = append(calls, k.ID)
		}
	}
	if len(calls) == 0 {
		return ""
	}
	peer, share := with.most()
	switch {
	case len(with) == 1:
	case share >= diagnosis.Whole/2:
		peer = "mostly " + peer
	default:
		peer = diagnosis.Plural(len(with), "peer")
	}
	if in := madeIn(c, calls); in != "" {
		peer += "," + in + ","
	}
	return " with " + peer
}

// prepares reports whether a segment is own work for a handshake, done between the connection and its first byte.
func prepares(c *diagnosis.Case, s *timeline.Segment) bool {
	if s.Phase != timeline.PhaseConnect || s.Call == timeline.None || !ownCPU(s) {
		return false
	}
	call := &c.Calls[s.Call]
	return call.TLSFrom != recording.NoTime && call.Connected != recording.NoTime && s.From >= call.Connected
}
