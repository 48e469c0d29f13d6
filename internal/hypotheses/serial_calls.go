package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func serialCalls() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "serial-calls",
		Title: "Calls run one after another that could run concurrently",
		Doc: "Made at once, they would take as long as the longest of them.\n\n" +
			"Support: calls of a request that do not overlap although neither needs the other's answer. That is known if the same two calls are seen in the other order, or at once, in at least 5 % of the requests of the endpoint that make " +
			"both. Calls that only ask whether an open connection works (SELECT 1, PING), right before the request uses it, count as well.\n\n" +
			"Not this: calls that always come in one order may need each other; what they could save at most is a lead. A call is another try, and does not count, if it follows one of its kind that failed, was given up, or is made again after " +
			"a pause. Calls of one transaction cannot be made at once. Calls that belong to no known request leave it undecided.\n\n" +
			"Saving: of each such run of calls all but the longest are taken out. That is a bound, because calls made at once share the peer and the network. For calls that only test a connection, what requests wait for them is taken out, as a " +
			"lower bound.",
		Needs: []string{recording.HookSockets, recording.HookIO},
		Test:  testSerialCalls,
	}
}

// otherwise is the share of requests in which two calls must be seen in the other order, or at once, for neither to
// need the other.
const otherwise = diagnosis.Whole / 20

// couple is two calls of an endpoint, in an order: of which shapes they are, and which calls of that shape in their
// request. That the second and the third of a shape are made at once says nothing of the first.
type couple struct {
	endpoint string
	a, b     shape
	i, j     int
}

// ordinals numbers the calls of a request among those of their shape.
func ordinals(c *diagnosis.Case, r *timeline.Request) map[*timeline.Call]int {
	of, seen := make(map[*timeline.Call]int, len(r.Calls)), map[shape]int{}
	for _, id := range r.Calls {
		call := &c.Calls[id]
		s := shapeOf(call)
		of[call] = seen[s]
		seen[s]++
	}
	return of
}

// coupleOf returns the couple of two calls.
func coupleOf(r *timeline.Request, a, b *timeline.Call, nth map[*timeline.Call]int) couple {
	return couple{r.Endpoint, shapeOf(a), shapeOf(b), nth[a], nth[b]}
}

// serial knows, for each couple of calls, in how many requests they were seen in which order.
type serial struct {
	after map[couple]int // requests in which a call of b began after one of a had ended
	both  map[couple]int // requests in which they overlapped, with a before b in order of shape
}

func testSerialCalls(c *diagnosis.Case) diagnosis.Result {
	seen := orders(c)
	var spans, hidden []diagnosis.Span
	lost := map[couple]Duration{}
	in, proven := 0, 0
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		path := onPath(c, r)
		whole := runs(c, path, func(run []waited, next *waited) bool { return !secondTry(c, run[len(run)-1].call, next.call) })
		if len(whole) == 0 {
			continue
		}
		in++
		for _, run := range whole {
			hidden = append(hidden, shorter(run)...)
		}
		if free := seen.besides(c, r, path, lost); len(free) > 0 {
			proven++
			spans = append(spans, free...)
		}
	}
	res := diagnosis.Result{
		Hidden: hiddenIn(c, unowned(c, everyCall(c), remoteOf)),
		Hides:  "passed while calls were under way that belong to no known request, so it is not known which follow each other",
	}
	res.Evidence = []diagnosis.Evidence{
		diagnosis.Count("requests that make calls one after another", in),
		diagnosis.Count("requests in which some of these calls are independent", proven),
	}
	switch {
	case len(c.Calls) == 0:
		res.Lead = noCalls(c)
	case in == 0:
		res.Lead = "none of " + diagnosis.Plural(len(c.Overall.Requests), "request") + " waited for two calls one after another"
	default:
		share := diagnosis.ShareOf(int64(diagnosis.Total(spans)), int64(c.Time()))
		res.Lead = "independent calls made one after another take " + diagnosis.Percent(share) + " of all request time more than if they ran concurrently"
	}
	res.Candidates = testedAt(c)
	if len(spans) > 0 {
		res.Candidates = append(res.Candidates, serialAt(c, mostLost(lost), spans, proven))
	}
	if len(hidden) > 0 {
		res.Candidates = append(res.Candidates, inOneOrder(c, hidden, in))
	}
	hideShared(c, &res)
	return res
}

// inOneOrder is the lead about calls one after the other that may need each other.
func inOneOrder(c *diagnosis.Case, spans []diagnosis.Span, in int) diagnosis.Candidate {
	by := tally{}
	for _, s := range spans {
		by[c.Requests[s.Request].Endpoint] += s.To.Sub(s.From)
	}
	endpoint, _ := by.most()
	_, share := perMean(c, diagnosis.Total(spans))
	return diagnosis.Candidate{
		Place: endpoint,
		Title: diagnosis.Thousands(int64(in)) + " of " + diagnosis.Plural(len(c.Overall.Requests), "request") + " make calls one after another" + calledIn(c, callsIn(c, spans, func(*timeline.Call) bool { return true })) +
			": made concurrently, they would take " + diagnosis.Percent(share) + " less of all request time",
		Fix:    atOnceFix(runtimeOf(c, c.Requests[spans[0].Request].Process)) + shareThePeer,
		Next:   "dwell show REC --slowest 3 shows the calls of single requests",
		Decide: "see in the code whether a call needs the answer of an earlier one (they always come in the same order, as if so)",
		Lead:   "calls made one after another, always in the same order, take " + diagnosis.Percent(share) + " of all request time more than if they ran concurrently",
		Spans:  spans,
		Evidence: []diagnosis.Evidence{
			diagnosis.Count("requests that make calls one after another", in),
			diagnosis.NS("mean saving per such request if they ran concurrently", diagnosis.Total(spans)/Duration(max(1, in))),
		},
	}
}

func serialAt(c *diagnosis.Case, of couple, spans []diagnosis.Span, proven int) diagnosis.Candidate {
	a, b := callName(of.a), callName(of.b)
	return diagnosis.Candidate{
		Place: of.endpoint + ": " + a + " and " + b,
		Title: "Independent calls run one after another, mostly " + a + " and " + b + calledIn(c, callsIn(c, spans, func(k *timeline.Call) bool { return shapeOf(k) == of.a || shapeOf(k) == of.b })) +
			": they come in either order, so neither needs the other's answer",
		Fix:   atOnceFix(runtimeOf(c, c.Requests[spans[0].Request].Process)) + shareThePeer,
		Next:  "dwell show REC --slowest 3 shows the calls of single requests",
		Lead:  "independent calls run one after another in " + diagnosis.Plural(proven, "request"),
		Spans: spans,
		Evidence: []diagnosis.Evidence{
			diagnosis.Count("requests in which such calls run one after another", proven),
			diagnosis.NS("mean saving per such request if they ran concurrently", diagnosis.Total(spans)/Duration(max(1, proven))),
		},
	}
}

// shareThePeer says what the saving of concurrent calls is.
const shareThePeer = " (the saving is an upper limit: concurrent calls share the peer)"

// callsIn returns the calls of the requests of some spans for which of holds.
func callsIn(c *diagnosis.Case, spans []diagnosis.Span, of func(*timeline.Call) bool) (ids []timeline.CallID) {
	last := diagnosis.RequestID(timeline.None)
	for _, s := range spans {
		if s.Request == last {
			continue
		}
		last = s.Request
		for _, id := range c.Requests[s.Request].Calls {
			if of(&c.Calls[id]) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func callName(s shape) string { return cmp.Or(s.operation, "calls") + " at " + s.peer }

func mostLost(lost map[couple]Duration) (of couple) {
	most := Duration(-1)
	for k, d := range lost {
		if d > most || d == most && less(k, of) {
			of, most = k, d
		}
	}
	return of
}

func less(a, b couple) bool {
	return cmp.Or(cmp.Compare(a.endpoint, b.endpoint), cmp.Compare(a.a.peer, b.a.peer), cmp.Compare(a.a.operation, b.a.operation),
		cmp.Compare(a.b.peer, b.b.peer), cmp.Compare(a.b.operation, b.b.operation), cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j)) < 0
}

// waited is a call that a request waited for, with the pieces of its time that went
// into that, in order.
type waited struct {
	call   *timeline.Call
	pieces []diagnosis.Span
	sum    Duration
}

// onPath returns the calls that a request waited for, in order of start.
func onPath(c *diagnosis.Case, r *timeline.Request) (out []waited) {
	if len(r.Calls) < 2 {
		return nil
	}
	for s := r.Segments(); s.Next(); {
		if s.Call == timeline.None {
			continue
		}
		call := &c.Calls[s.Call]
		k := len(out) - 1
		for k >= 0 && out[k].call != call {
			k--
		}
		if k < 0 {
			k = len(out)
			out = append(out, waited{call: call})
		}
		out[k].pieces = append(out[k].pieces, diagnosis.Span{Request: r.ID, From: s.From, To: s.To})
		out[k].sum += s.To.Sub(s.From)
	}
	return out
}

// orders counts in which order the calls of requests were made. A call that follows one that failed, or that comes
// between two calls of one shape, may be there because of the first: for a new token, or a second try.
func orders(c *diagnosis.Case) *serial {
	s := &serial{map[couple]int{}, map[couple]int{}}
	for _, id := range c.Measured() {
		s.note(c, &c.Requests[id])
	}
	return s
}

// note counts the calls of one request.
func (s *serial) note(c *diagnosis.Case, r *timeline.Request) {
	if len(r.Calls) < 2 {
		return
	}
	nth := ordinals(c, r)
	for i := 1; i < len(r.Calls); i++ {
		a, b := &c.Calls[r.Calls[i-1]], &c.Calls[r.Calls[i]]
		k := coupleOf(r, a, b, nth)
		again := k.a != k.b && i+1 < len(r.Calls) && shapeOf(&c.Calls[r.Calls[i+1]]) == k.a
		switch {
		case b.Start < a.End:
			s.both[k]++
		case a.Status < failed && !again:
			s.after[k]++
		}
	}
	s.noteApart(c, r, nth)
}

// noteApart counts calls with others between them, of a request that makes one of each shape and of which none failed:
// a loop over a map in Go begins anywhere and goes round.
func (s *serial) noteApart(c *diagnosis.Case, r *timeline.Request, nth map[*timeline.Call]int) {
	for _, id := range r.Calls {
		if call := &c.Calls[id]; nth[call] > 0 || call.Status >= failed || call.Cut {
			return
		}
	}
	for i := range r.Calls {
		for k := i + 2; k < min(len(r.Calls), i+farApart); k++ {
			if a, b := &c.Calls[r.Calls[i]], &c.Calls[r.Calls[k]]; b.Start >= a.End {
				s.after[coupleOf(r, a, b, nth)]++
			}
		}
	}
}

// farApart is how far apart calls of one request are compared, at most.
const farApart = 16

// failed is the least status of an answer that is an error.
const failed = 400

// apart reports whether two calls, b after a, need nothing of each other: the same two are also made in the other
// order, or at once.
func (s *serial) apart(k couple) bool {
	back := couple{k.endpoint, k.b, k.a, k.j, k.i}
	other := s.both[k]
	if k.a != k.b {
		other += s.after[back] + s.both[back]
	}
	return other >= 3 && diagnosis.ShareOf(int64(other), int64(other+s.after[k])) >= otherwise
}

// besides returns what a request waited for calls that could have been made beside a longer one, and adds up how much
// each couple cost.
func (s *serial) besides(c *diagnosis.Case, r *timeline.Request, path []waited, lost map[couple]Duration) (out []diagnosis.Span) {
	nth := ordinals(c, r)
	for _, run := range runs(c, path, func(run []waited, next *waited) bool {
		return !slices.ContainsFunc(run, func(w waited) bool { return !s.apart(coupleOf(r, w.call, next.call, nth)) })
	}) {
		part := shorter(run)
		out = append(out, part...)
		lost[coupleOf(r, run[0].call, run[1].call, nth)] += diagnosis.Total(part)
	}
	return out
}

// runs cuts calls into runs of at least two, one after the other. more must accept each further call, and its
// connection must not bind it to that order.
func runs(c *diagnosis.Case, path []waited, more func(run []waited, next *waited) bool) (out [][]waited) {
	for i := 0; i < len(path); {
		k := i + 1
		for k < len(path) && path[k].call.Start >= path[k-1].call.End && !bound(c, path[k-1].call, path[k].call) && more(path[i:k], &path[k]) {
			k++
		}
		if k > i+1 {
			out = append(out, path[i:k])
		}
		i = k
	}
	return out
}

// secondTry reports whether a call follows one of its shape that failed, was given up without an answer, or was made
// again after a pause.
func secondTry(c *diagnosis.Case, before, next *timeline.Call) bool {
	gone := before.Status >= failed || before.Cut && before.Arrived == recording.NoTime || triedAgain(c, before.ID)
	return gone && shapeOf(before) == shapeOf(next)
}

// shorter returns the pieces of all calls but the longest.
func shorter(run []waited) (out []diagnosis.Span) {
	longest := 0
	for i := range run {
		if run[i].sum > run[longest].sum {
			longest = i
		}
	}
	for i := range run {
		if i != longest {
			out = append(out, run[i].pieces...)
		}
	}
	return out
}

// atOnceFix says how to make calls concurrently, in a runtime's own words.
func atOnceFix(rt recording.Runtime) string {
	switch rt {
	case recording.RuntimeNode:
		return "make them concurrently: await Promise.all([...])"
	case recording.RuntimeGo:
		return "make them concurrently: golang.org/x/sync/errgroup"
	case recording.RuntimePython:
		return "make them concurrently: asyncio.gather, or a concurrent.futures.ThreadPoolExecutor"
	case recording.RuntimeJVM:
		return "make them concurrently: CompletableFuture.allOf on an executor of its own, or structured concurrency"
	case recording.RuntimeRuby:
		return "make them concurrently: one thread each, or concurrent-ruby futures"
	}
	return "make them concurrently"
}
