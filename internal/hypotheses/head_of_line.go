package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func headOfLine() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "head-of-line",
		Title: "Calls wait behind others, on a shared connection or at a peer that serves one request at a time",
		Doc: "The call itself would be fast, but something else is answered first.\n\n" +
			"Support: calls that were sent on a connection on which the peer still owed the answer to an earlier call of somebody else: another request, or work that belongs to none. Peers answer what comes on one connection in order, so the " +
			"call stands in a queue until that answer is there, however fast the peer is. On other connections it is supported by a peer that does one thing at a time. At least 8 calls must have been sent while one of another operation, which " +
			"takes 4 times as long as those usually do, was under way there; 9 in 10 of them must have been answered right after it.\n\n" +
			"Not this: earlier calls of the request itself, and waits below a tenth of a millisecond, as where answers come together.\n\n" +
			"Saving: that wait is taken out of each request. What calls of the other operation wait for each other stays, as it would at another instance that is asked for them.",
		Needs:    []string{recording.HookIO, recording.HookArrivals},
		Explains: []string{"slow-peer", "pool-exhausted"},
		Test:     testHeadOfLine,
	}
}

// lineOf holds the waits of requests behind calls of one operation to one peer.
type lineOf struct {
	peer, ahead string // ahead: the operation that was waited for
	spans       []diagnosis.Span
	longest     Duration
	calls       map[timeline.CallID]bool // calls that waited
	heads       []timeline.CallID        // calls that were waited for
	conns       map[recording.ConnID]bool
	owners      tally // by whose the calls ahead are
	asked       int   // calls sent while one of those was under way at the peer
}

func testHeadOfLine(c *diagnosis.Case) diagnosis.Result {
	lines := linesOf(c)
	var total Duration
	res := diagnosis.Result{Lead: "none of " + diagnosis.Plural(len(c.Calls), "call") + " waited behind another request's call on its connection"}
	for _, l := range lines {
		total += diagnosis.Total(l.spans)
		res.Candidates = append(res.Candidates, l.candidate(c))
	}
	for _, l := range behindThere(c) {
		total += diagnosis.Total(l.spans)
		res.Candidates = append(res.Candidates, l.there(c))
	}
	_, part := perMean(c, total)
	if total > 0 {
		res.Lead = "waiting behind other calls on shared connections takes " + diagnosis.Percent(part) + " of all request time"
	}
	res.Evidence = []diagnosis.Evidence{diagnosis.Part("of all request time is spent waiting behind other calls on a shared connection", part), diagnosis.Count("calls", len(c.Calls))}
	return res
}

// stoodBehind reports whether a request's call stood behind another one in a segment.
func stoodBehind(c *diagnosis.Case, g *timeline.Segment) bool {
	return g.Phase == timeline.PhaseQueue && g.Call != timeline.None && g.From >= c.Calls[g.Call].Sent && g.From < c.Calls[g.Call].Turn
}

// linesOf collects those waits by peer and by the operation that was waited for, the longest total first.
func linesOf(c *diagnosis.Case) []*lineOf {
	type key struct{ peer, ahead string }
	of := map[key]*lineOf{}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		for g := r.Segments(); r.HasPhase(timeline.PhaseQueue) && g.Next(); {
			if !stoodBehind(c, &g.Segment) {
				continue
			}
			call := &c.Calls[g.Call]
			head := &c.Calls[call.Behind]
			k := key{call.Peer, head.Operation}
			l := of[k]
			if l == nil {
				l = &lineOf{peer: k.peer, ahead: k.ahead, calls: map[timeline.CallID]bool{}, conns: map[recording.ConnID]bool{}, owners: tally{}}
				of[k] = l
			}
			d := g.To.Sub(g.From)
			l.spans = append(l.spans, diagnosis.Span{Request: id, From: g.From, To: g.To})
			l.longest, l.calls[call.ID], l.conns[call.Conn] = max(l.longest, d), true, true
			l.owners[ownerOf(c, head)] += d
			l.heads = append(l.heads, head.ID)
		}
	}
	out := make([]*lineOf, 0, len(of))
	for _, l := range of {
		slices.Sort(l.heads)
		l.heads = slices.Compact(l.heads)
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *lineOf) int {
		return cmp.Or(cmp.Compare(diagnosis.Total(b.spans), diagnosis.Total(a.spans)), cmp.Compare(a.peer, b.peer), cmp.Compare(a.ahead, b.ahead))
	})
	return out
}

// ownerOf says what makes a call, to follow "called": an endpoint, or no request.
func ownerOf(c *diagnosis.Case, k *timeline.Call) string {
	if k.Request == timeline.None {
		return "outside of any request"
	}
	return "by " + c.Requests[k.Request].Endpoint
}

// called says what makes most of the calls that others waited behind, and where in its code.
func (l *lineOf) called(c *diagnosis.Case) string {
	owner, _ := l.owners.most()
	return " (called " + owner + madeIn(c, l.heads) + ")"
}

func (l *lineOf) candidate(c *diagnosis.Case) diagnosis.Candidate {
	var took []Duration
	for _, id := range l.heads {
		k := &c.Calls[id]
		took = append(took, k.End.Sub(k.Start))
	}
	slices.Sort(took)
	total := diagnosis.Total(l.spans)
	ahead := cmp.Or(l.ahead, "other calls")
	all := 0
	for i := range c.Calls {
		if c.Calls[i].Peer == l.peer && c.Calls[i].Request != timeline.None {
			all++
		}
	}
	fix := "give " + ahead + " a connection of its own (a second client, or the client's duplicate), and keep calls that block or take long off the shared connection; if requests wait for each other, use a pool of connections"
	if l.keepsBusy(c) {
		fix = lessAtOnce(ahead)
	}
	n := len(l.calls)
	return diagnosis.Candidate{
		Place: ahead + " ahead of others on the connection to " + l.peer,
		Title: diagnosis.Thousands(int64(n)) + " of " + diagnosis.Thousands(int64(all)) + " calls to " + l.peer + " wait " + diagnosis.Human(total/Duration(max(1, n))) +
			" on average behind " + ahead + l.called(c) + " on a shared connection: the peer answers in order",
		Fix:   fix,
		Next:  "dwell show REC --slowest 3 shows the queue of each call; the peer's own slow log does not show it",
		Spans: l.spans,
		Evidence: []diagnosis.Evidence{
			diagnosis.Part("of the calls to "+l.peer+" waited behind "+ahead, diagnosis.ShareOf(int64(n), int64(all))),
			diagnosis.NS("longest of these waits", l.longest),
			diagnosis.NS("p50 of the calls ahead, from sending to the answer", diagnosis.Quantile(took, 50)),
			diagnosis.Count("calls that others waited behind", len(l.heads)),
			diagnosis.Count("connections on which this happened", len(l.conns)),
		},
	}
}

// keepsBusy reports whether the calls ahead kept busy a peer that does one thing at a time, as Redis does. Calls on
// other connections wait for that as well. A call that waits there for something to happen does not keep it busy.
func (l *lineOf) keepsBusy(c *diagnosis.Case) bool {
	var there, all Duration
	for _, id := range l.heads {
		k := &c.Calls[id]
		if k.Protocol != recording.ProtocolRedis || k.Excluded != "" || strings.HasPrefix(k.Operation, "XREAD") || k.Arrived == recording.NoTime {
			return false
		}
		from := max(k.Sent, k.Turn)
		there, all = there+k.Arrived.Sub(from), all+k.End.Sub(from)
	}
	return 2*there >= all
}
