package hypotheses

import (
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func clientPerRequest() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "client-per-request",
		Title: "Requests build clients of their own",
		Doc: "One client for all requests would keep its connections and credentials.\n\n" +
			"Support: credentials that requests fetch while a client is built. The stacks of those calls hold the client's constructor. Connections of a pool that belongs to one request count too: each serves calls of that request only, and " +
			"either serves several and is then closed by the client, or is opened while another one to the same peer is open and idle. Fewer than 3 builds, or 3 such connections, do not count.\n\n" +
			"Not this: a client that is shared. Credential calls leave it undecided if no stack tells what they are for.\n\n" +
			"Saving: what a request waited for those credential calls is taken out, and its own work beneath the constructor. That work is found by comparison with requests of the same endpoint that build no client, or else by samples. For " +
			"connections, the same is taken out as for connection-churn.",
		Needs:    []string{recording.HookSockets, recording.HookIO},
		Explains: []string{"credential-fetch", "connection-churn", "tls-handshake", "slow-dns", "event-loop-blocked", "accept-queue", "run-queue", "cpu-bound", "load"},
		Test:     testClientPerRequest,
	}
}

func testClientPerRequest(c *diagnosis.Case) diagnosis.Result {
	var res diagnosis.Result
	built, fetches, unseen := 0, 0, 0
	var hidden Duration
	for _, b := range clientsBuilt(c) {
		built += len(b.calls)
		if len(b.calls) >= manyBuilds {
			res.Candidates = append(res.Candidates, buildsAt(c, b))
		}
	}
	for _, f := range fetched(c) {
		fetches += len(f.calls)
		hidden += diagnosis.Total(f.unseen(c))
		unseen += len(f.calls) - f.named(c)
	}
	if _, share := perMean(c, hidden); share >= c.Open {
		res.Undecided = diagnosis.Percent(share) + " of all request time is spent fetching credentials, and no stack shows whether a client is built meanwhile"
	}
	private, opened := 0, 0
	for _, pool := range privatePools(c) {
		opened += pool.opened
		if private += len(pool.conns); len(pool.conns) >= manyBuilds {
			res.Candidates = append(res.Candidates, poolsAt(c, pool))
		}
	}
	res.Evidence = []diagnosis.Evidence{
		diagnosis.Count("clients built, with credentials of their own, in requests", built),
		diagnosis.Count("credential calls in requests", fetches),
		diagnosis.Count("of these calls have no stack", unseen),
		diagnosis.Count("connections in a pool that served one request only", private),
		diagnosis.Count("connections opened by requests", opened),
	}
	switch {
	case len(c.Calls) == 0:
		res.Lead = noCalls(c)
	case built+private > 0:
		res.Lead = "requests built " + diagnosis.Plural(built, "client") + " and opened " + diagnosis.Plural(private, "connection") + " of their own"
	case fetches > 0:
		res.Lead = "none of " + diagnosis.Plural(fetches, "credential call") + " was made while a client was built"
	case opened > 0:
		res.Lead = "no request fetched credentials or had connections of its own (" + diagnosis.Thousands(int64(opened)) + " opened)"
	default:
		res.Lead = "no request fetched credentials or opened a connection (" + diagnosis.Plural(len(c.Calls), "call") + ")"
	}
	return res
}

// manyBuilds is how often something must be built to count as a habit.
const manyBuilds = 3

// buildsAt is the candidate: what one client for all requests would save.
func buildsAt(c *diagnosis.Case, b *builds) diagnosis.Candidate {
	spans, own, how := b.spans(c)
	n, requests := len(b.calls), len(b.requests)
	share := diagnosis.ShareOf(int64(requests), int64(b.all))
	where, places := b.caller()
	at, title := b.class, "Requests wait while a client is built for them ("+b.class+"), "+b.times()+"; each client"
	if where != "" {
		at += ", built by " + where
		if title = where + " builds another client while a request waits (" + b.class + "), " + b.times() + "; each client"; share >= often {
			title = where + " builds a client for each request (" + b.class + "), which"
		}
	}
	title += " fetches credentials from " + b.of.from() + ": in " + diagnosis.Thousands(int64(requests)) + " of " +
		diagnosis.Plural(b.all, "request") + ", " + diagnosis.Human(diagnosis.Quantile(b.took, 50)) + " each"
	return diagnosis.Candidate{
		Place:   at,
		Title:   title,
		Fix:     clientFix(runtimeOf(c, b.of.process), cmpOperation(b.of)),
		Next:    "dwell show REC --under " + b.under() + " shows the time that building it takes",
		Lead:    "requests wait while " + b.class + " is built",
		Spans:   spans,
		AtLeast: true,
		Evidence: []diagnosis.Evidence{
			diagnosis.Part("of requests build one", share),
			diagnosis.Count("clients built while requests waited", n),
			diagnosis.Count("threads that built them", len(b.strands)),
			diagnosis.Count("places in the service's code that build them", places),
			diagnosis.Count("of their credential calls have a stack with the constructor", b.shown).Against(int64(n)),
			diagnosis.NS("p50 of fetching credentials for one client", diagnosis.Quantile(b.took, 50)),
			diagnosis.NS("mean CPU time of building one client, "+how, own),
			diagnosis.Count("credential calls outside of any request", b.of.ahead),
		},
	}
}

// times says how often clients were built, and on how many threads.
func (b *builds) times() string {
	return diagnosis.Plural(len(b.calls), "time") + " on " + diagnosis.Plural(len(b.strands), "thread")
}

// often is the share of requests from which on the title says "each request".
const often = diagnosis.Whole / 10 * 8

// cmpOperation tells the fix which client it is about. Under TLS the operation is unknown, and the host tells.
func cmpOperation(f *fetches) string {
	if f.operation == "" {
		return f.peer
	}
	return f.operation
}

// poolsAt is the candidate: what keeping one client with its pool would save. That is what connection-churn takes out,
// and the credentials that go with each pool.
func poolsAt(c *diagnosis.Case, p *pools) diagnosis.Candidate {
	ch := churn{peerCalls: p.peerCalls, churned: p.churned}
	setup := setupSpans(c, ch)
	more, known := excess(c, p.churned)
	setup = append(setup, more...)
	spans := knockOn(c, setup)
	for _, s := range setup {
		spans = append(spans, s.Span)
	}
	spans = append(spans, p.credentials(c)...)
	n := len(p.conns)
	return diagnosis.Candidate{
		Place: p.peer,
		Title: "Requests have connections of their own to " + p.peer + madeIn(c, slices.Sorted(maps.Keys(p.churned))) + ", as if each built a client for itself: " + diagnosis.Thousands(int64(n)) + " of the " +
			diagnosis.Plural(p.opened, "connection") + " opened served one request only" + p.why(),
		Fix:     p.fix(c),
		Next:    "dwell show REC --slowest 3 shows the connections of single requests",
		Lead:    "connections to " + p.peer + " serve one request only",
		Spans:   spans,
		AtLeast: known < len(p.churned),
		Evidence: []diagnosis.Evidence{
			diagnosis.Part("of the connections that requests opened served one request only", diagnosis.ShareOf(int64(n), int64(p.opened))),
			{What: "calls on such a connection", Value: int64(p.calls) * 1000 / int64(max(1, n)), Unit: diagnosis.UnitRatio},
			diagnosis.Count("of these connections closed by our side when the request was over", p.ended),
			diagnosis.Count("of these connections opened while another one to that peer was open and idle", p.beside),
			diagnosis.Count("credential calls that go with these connections", len(p.fetches)),
		},
	}
}

// named counts the calls with a known stack.
func (f *fetches) named(c *diagnosis.Case) (n int) {
	for _, id := range f.calls {
		if len(waitStacks(c, &c.Calls[id])) > 0 {
			n++
		}
	}
	return n
}

// unseen returns what requests waited for the calls, if under half of the calls have a known stack.
func (f *fetches) unseen(c *diagnosis.Case) []diagnosis.Span {
	if 2*f.named(c) >= len(f.calls) {
		return nil
	}
	return f.spans(c)
}

// waitStacks returns the stacks with which a call's strand waited for it.
func waitStacks(c *diagnosis.Case, call *timeline.Call) (out []timeline.StackID) {
	if len(c.Stacks) == 0 || call.Strand == timeline.None {
		return nil
	}
	for _, a := range c.Doing(call.Strand, call.Start, call.End) {
		if a.Stack != timeline.None && a.Cause != timeline.CauseOnCPU {
			out = append(out, a.Stack)
		}
	}
	return out
}
