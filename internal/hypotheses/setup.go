package hypotheses

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// setupSpan is a piece of a request's time that goes with opening a churned connection.
type setupSpan struct {
	diagnosis.Span
	strand timeline.StrandID // the strand that worked on it, or None if it was a wait
}

// setupSpans returns, in order of requests, what requests spent on opening churned connections. That is the look-up,
// connect and TLS phases of their calls, including a look-up that sent no question. It is their own work from connect
// until the call is sent, and their waits for a processor to do it, while no other call of theirs is under way (an
// event loop goes on from connect to the hello without a pause). And it is a wait of unknown cause that ends with
// connecting to a host name, which is its look-up. The time until a look-up had to be asked again is not part of it: it
// waited for a name server that does not answer, or asked for names that do not exist.
func setupSpans(c *diagnosis.Case, ch churn) (out []setupSpan) {
	churned, full := ch.churned, poolFull(c, ch.calls)
	for i := range c.Requests {
		r := &c.Requests[i]
		lone := aloneUntilSent(c, r, churned)
		for s := r.Segments(); s.Next(); {
			span := setupSpan{diagnosis.Span{Request: r.ID, From: s.From, To: s.To}, timeline.None}
			if ownCPU(&s.Segment) {
				span.strand = s.Strand
			}
			if s.Call != timeline.None && s.Phase == timeline.PhaseDNS {
				call := &c.Calls[s.Call]
				if span.From = max(s.From, call.DNSFrom+diagnosis.Time(call.InVain)); span.From >= s.To {
					continue
				}
			}
			switch {
			case s.Call != timeline.None:
				if churned[s.Call] && (s.Phase != timeline.PhaseQueue && (s.Phase <= timeline.PhaseTLS || opensSession(&c.Calls[s.Call])) ||
					s.Phase == timeline.PhaseQueue && named(&c.Calls[s.Call]) && !full(c.Calls[s.Call].Start)) {
					out = append(out, span)
				}
			case s.Phase == timeline.PhaseHandler:
				out = append(out, besides(c, &s.Segment, span, lone)...)
			}
		}
	}
	return out
}

// opensSession reports whether a connection begins with a call and the call asks for nothing: it comes before the first
// statement to a database, which starts a process or a thread for it. What is no command at all counts too: the
// question whether a database speaks TLS, after whose "no" some clients open another connection.
func opensSession(call *timeline.Call) bool {
	return call.Protocol.SQL() && (call.Operation == "STARTUP" || call.New && call.Ordinal == 0 && call.Operation == "")
}

// besides returns which parts of a handler segment go with opening the connections of calls.
func besides(c *diagnosis.Case, s *timeline.Segment, span setupSpan, calls []*timeline.Call) (out []setupSpan) {
	for _, call := range calls {
		if s.Cause == timeline.CauseUnknown && s.To == call.Start && s.To == call.ConnectFrom && named(call) {
			out = append(out, span)
			continue
		}
		part := span
		part.From, part.To = max(s.From, call.Start), min(s.To, call.SendFrom)
		mine := ownCPU(s) && part.To.Sub(part.From) < c.LongHold || s.Cause == timeline.CauseRunnable
		if mine && part.From < part.To {
			out = append(out, part)
		}
	}
	return out
}

// aloneUntilSent returns the churned calls of a request during whose opening none of
// its other calls was under way.
func aloneUntilSent(c *diagnosis.Case, r *timeline.Request, churned map[timeline.CallID]bool) (out []*timeline.Call) {
	for _, id := range r.Calls {
		call := &c.Calls[id]
		if !churned[id] || call.SendFrom == recording.NoTime {
			continue
		}
		if !slices.ContainsFunc(r.Calls, func(other timeline.CallID) bool {
			o := &c.Calls[other]
			return other != id && o.Start < call.SendFrom && o.End > call.Start
		}) {
			out = append(out, call)
		}
	}
	return out
}

// poolFull returns a function that reports whether, at a time, as many of the calls were on connections as ever were at
// once, or had left a transaction open there. A call that is issued then may wait for a place in a pool.
func poolFull(c *diagnosis.Case, calls []timeline.CallID) func(diagnosis.Time) bool {
	var begun, over []diagnosis.Time
	for _, h := range holdings(c, calls, true) {
		begun, over = append(begun, h.from), append(over, h.to)
	}
	return timeline.FullAt(begun, over)
}

// holdings returns the spans in which calls had connections: from the connect on, or from when they were sent. If a
// request sends more on a connection before the answer to what it sent, it is one span: the request has a single
// connection for all of that.
func holdings(c *diagnosis.Case, calls []timeline.CallID, connects bool) (out []window) {
	type holder struct {
		conn    recording.ConnID
		request diagnosis.RequestID
	}
	kept, last := keptUntil(c), map[holder]int{}
	for _, id := range calls {
		call := &c.Calls[id]
		from := call.SendFrom
		if connects && call.New && call.ConnectFrom != recording.NoTime {
			from = call.ConnectFrom
		}
		if from == recording.NoTime {
			continue
		}
		by, to := holder{call.Conn, call.Request}, max(from, call.End, kept[id])
		if at, ok := last[by]; ok && call.Request != timeline.None && out[at].from <= from && from < out[at].to {
			out[at].to = max(out[at].to, to)
			continue
		}
		last[by] = len(out)
		out = append(out, window{from, to})
	}
	return out
}

// keptUntil returns, for calls after which a transaction was open, when the next on its session was sent: until then
// nobody else could have the connection.
func keptUntil(c *diagnosis.Case) map[timeline.CallID]diagnosis.Time {
	return c.Once("sessions kept", func() any {
		kept := map[timeline.CallID]diagnosis.Time{}
		for _, x := range c.Transactions() {
			for i, id := range x.Calls[:len(x.Calls)-1] {
				kept[id] = c.Calls[x.Calls[i+1]].SendFrom
			}
		}
		return kept
	}).(map[timeline.CallID]diagnosis.Time)
}

// named reports whether a call's peer is known by a host name.
func named(call *timeline.Call) bool {
	_, err := netip.ParseAddrPort(call.Peer)
	return call.Peer != "" && err != nil
}

// on returns the spans in which one strand worked on opening connections, in order of time.
func on(all []setupSpan, strand timeline.StrandID) (out []diagnosis.Span) {
	for _, s := range all {
		if s.strand == strand {
			out = append(out, s.Span)
		}
	}
	slices.SortFunc(out, func(a, b diagnosis.Span) int { return cmp.Compare(a.From, b.From) })
	return out
}
