package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

func credentialFetch() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "credential-fetch",
		Title: "Requests fetch credentials, tokens or keys",
		Doc: "Credentials that are kept, and refreshed ahead of time, would save the calls.\n\n" +
			"Support: the calls of requests to peers that give out credentials, tokens or keys (docs/peers.md): STS, instance and container metadata, OAuth token and key endpoints, Vault.\n\n" +
			"Not this: calls that belong to no request. Calls whose host is not known to give out credentials, and whose operation TLS hides, leave it undecided.\n\n" +
			"Saving: what a request waited for those calls is taken out. What the client computes before and after them cannot be told from the request's own work, so the saving is a lower bound.",
		Needs: []string{recording.HookSockets, recording.HookIO},
		Test:  testCredentialFetch,
	}
}

// fetches holds the calls to one peer that gives out credentials; process is the one that makes most of them.
type fetches struct {
	process   recording.ProcessID
	peer      string
	operation string               // the most frequent; "" under TLS
	calls     []timeline.CallID    // of measured requests, in order of start
	requests  int                  // requests that make them
	ahead     int                  // calls that belong to no request
	took      []diagnosis.Duration // of calls, ascending
}

// fetched returns the credential calls by peer, those with most calls in requests first; its callers share them.
func fetched(c *diagnosis.Case) []*fetches {
	return c.Shared("fetches", func() any { return collectFetches(c) }).([]*fetches)
}

// classOf knows what the peers of a case are for.
func classOf(c *diagnosis.Case) *peers.Classes {
	return c.Shared("peer classes", func() any { return peers.New() }).(*peers.Classes)
}

func collectFetches(c *diagnosis.Case) (out []*fetches) {
	class := classOf(c)
	for _, p := range acrossProcesses(c) {
		f := &fetches{process: p.process, peer: p.peer}
		operations := tally{}
		seen := map[diagnosis.RequestID]bool{}
		for _, id := range p.calls {
			call := &c.Calls[id]
			if k, _ := class.OfCall(call); k != peers.Credential {
				continue
			}
			operations[call.Operation]++
			if call.Request == timeline.None {
				f.ahead++
			} else if c.Requests[call.Request].Measured() {
				f.calls = append(f.calls, id)
				f.took = append(f.took, call.End.Sub(call.Start))
				seen[call.Request] = true
			}
		}
		if len(operations) > 0 {
			f.operation, _ = operations.most()
			f.requests = len(seen)
			slices.Sort(f.took)
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b *fetches) int { return cmp.Compare(len(b.calls), len(a.calls)) })
	return out
}

// from names what is fetched, and where.
func (f *fetches) from() string {
	if f.operation == "" {
		return f.peer
	}
	return f.peer + " (" + f.operation + ")"
}

// spans returns what requests waited for the calls.
func (f *fetches) spans(c *diagnosis.Case) []diagnosis.Span {
	of := map[timeline.CallID]bool{}
	for _, id := range f.calls {
		of[id] = true
	}
	return c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return of[s.Call] })
}

func testCredentialFetch(c *diagnosis.Case) diagnosis.Result {
	var res diagnosis.Result
	calls, ahead := 0, 0
	var total Duration
	for _, f := range fetched(c) {
		calls += len(f.calls)
		ahead += f.ahead
		if spans := f.spans(c); len(spans) > 0 {
			total += diagnosis.Total(spans)
			res.Candidates = append(res.Candidates, fetchAt(c, f, spans))
		}
	}
	sealed, seen := sealedCalls(c)
	res.Hidden = hiddenIn(c, unowned(c, everyCall(c), func(k *timeline.Call) window {
		if kind, _ := classOf(c).OfCall(k); kind != peers.Credential {
			return window{}
		}
		return window{k.Start, k.End}
	}))
	if len(sealed) > 0 {
		res.Hidden, res.Hides = append(res.Hidden, sealed...), "is spent in calls, and TLS hides whether they fetch credentials"
	}
	_, share := perMean(c, total)
	res.Evidence = []diagnosis.Evidence{
		diagnosis.Part("of all request time is spent fetching credentials", share),
		diagnosis.Count("credential calls in requests", calls),
		diagnosis.Count("credential calls outside of any request", ahead),
		diagnosis.Count("calls whose operation is known", seen),
	}
	switch {
	case len(c.Calls) == 0:
		res.Lead = noCalls(c)
	case calls > 0:
		res.Lead = "fetching credentials takes " + diagnosis.Percent(share) + " of all request time"
	default:
		res.Lead = "none of " + diagnosis.Plural(len(c.Calls)-ahead, "call") + " in requests fetches credentials"
	}
	if calls == 0 && ahead > 0 {
		res.Lead += "; " + diagnosis.Plural(ahead, "call") + " outside of them " + map[bool]string{true: "does", false: "do"}[ahead == 1]
	}
	return res
}

func fetchAt(c *diagnosis.Case, f *fetches, spans []diagnosis.Span) diagnosis.Candidate {
	n, all := len(f.calls), len(c.Overall.Requests)
	_, share := perMean(c, diagnosis.Total(spans))
	p50 := diagnosis.Quantile(f.took, 50)
	return diagnosis.Candidate{
		Place: f.from(),
		Title: "Requests fetch credentials from " + f.from() + ": " + diagnosis.Plural(n, "call") + " in " + diagnosis.Thousands(int64(f.requests)) + " of " +
			diagnosis.Plural(all, "request") + ", " + diagnosis.Human(p50) + " each, " + diagnosis.Percent(share) + " of all request time" + calledIn(c, f.calls),
		Fix:     credentialFix(runtimeOf(c, f.process), f.operation),
		Next:    "dwell show REC --slowest 3 shows the calls of single requests and, if stacks are recorded, the code that makes them",
		Lead:    "fetching credentials from " + f.from() + " takes " + diagnosis.Percent(share) + " of all request time",
		Spans:   spans,
		AtLeast: true,
		Evidence: []diagnosis.Evidence{
			diagnosis.Part("of requests fetch credentials there", diagnosis.ShareOf(int64(f.requests), int64(all))),
			diagnosis.Part("of all request time is spent fetching credentials there", share),
			{What: "such calls in a request", Value: int64(n) * 1000 / int64(max(1, all)), Unit: diagnosis.UnitRatio},
			diagnosis.NS("p50 of such a call", p50),
			diagnosis.Count("such calls outside of any request", f.ahead),
		},
	}
}

// sealedCalls returns what measured requests waited for calls of which neither the host nor the operation shows whether
// they fetch credentials. seen counts the calls that do show it.
func sealedCalls(c *diagnosis.Case) (spans []diagnosis.Span, seen int) {
	sealed := make([]bool, len(c.Calls))
	for i := range c.Calls {
		call := &c.Calls[i]
		kind, _ := classOf(c).OfCall(call)
		sealed[i] = kind == peers.Plain && call.Operation == "" && !keepsData(call.Peer) &&
			!call.Protocol.SQL() && call.Protocol != recording.ProtocolRedis
		if !sealed[i] {
			seen++
		}
	}
	if seen == len(c.Calls) {
		return nil, seen
	}
	return c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Call != timeline.None && sealed[s.Call] }), seen
}

// keepsData reports whether a host belongs to a service that is known not to give out credentials.
func keepsData(peer string) bool {
	host, _, _ := strings.Cut(peer, ":")
	if !strings.HasSuffix(host, ".amazonaws.com") {
		return false
	}
	for _, service := range []string{"dynamodb.", "s3.", "sqs.", "sns.", "kinesis.", "lambda.", "firehose.", "es."} {
		if strings.HasPrefix(host, service) || strings.Contains(host, "."+service) {
			return true
		}
	}
	return false
}
