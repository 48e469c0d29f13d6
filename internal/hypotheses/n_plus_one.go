package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func nPlusOne() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "n-plus-one",
		Title: "One request makes many calls of the same shape",
		Doc: "One batch call could replace them.\n\n" +
			"Support: at least 3 calls of one operation to one peer in the mean request, or in the mean slow request, of an endpoint. If TLS hides the operation, if only its verb is known (SELECT, of a statement that was prepared before the recording), " +
			"or if its path has no fixed part (/{}/{}), the calls need not be alike. Then one of these must be true besides:\n\n" +
			"- Their number differs between requests, as it does if it follows the data: at least 3 in the mean slow request, and half as many again as in an ordinary one.\n" +
			"- One path through the code, by the stacks with which the answers are waited for, makes at least 5 of them in the mean request.\n\n" +
			"Otherwise 10 or more in the mean request are a lead, and fewer leave it undecided if that could matter.\n\n" +
			"Not this: calls that failed (status 429 or from 500 on). Nor calls that are made again after the request slept until a timer, as what follows may be another try.\n\n" +
			"Saving: what a request waited for those calls is taken out, except for as long as the longest of them took: one batch call is assumed to take that long. The range of the saving reaches to what is saved if the batch call takes as " +
			"long as the shortest of them, and if what is computed between them goes too. If other threads make the calls for the request, all its time from handing over the first to the end of the last is taken out, queues for those threads " +
			"included, except for as long as the longest single call took there.",
		Needs:    []string{recording.HookSockets, recording.HookIO},
		Explains: []string{"serial-calls", "pool-exhausted", "slow-peer", "accept-queue", "load"},
		Test:     testNPlusOne,
	}
}

const (
	manyCalls   = 3  // so many calls of one shape in a request are many
	manyOnePath = 5  // calls that one path through the code makes in a request: for one line, a library may make a few unlike ones
	manyUnnamed = 10 // calls in a request of which it is not known whether they are alike
)

// shape is what calls have in common that one batch call could replace. The process is no part of it: servers run the
// same code in several.
type shape struct{ peer, operation string }

func shapeOf(call *timeline.Call) shape { return shape{call.Peer, call.Operation} }

// shapes numbers the shapes of all calls.
type shapes struct {
	of   []int32 // by call
	list []shape
}

// shapesOf returns the shapes of a case; its callers share them.
func shapesOf(c *diagnosis.Case) *shapes {
	return c.Once("shapes", func() any {
		s, index := &shapes{of: make([]int32, len(c.Calls))}, map[shape]int32{}
		for i := range c.Calls {
			sh := shapeOf(&c.Calls[i])
			n, ok := index[sh]
			if !ok {
				n = int32(len(s.list))
				index[sh] = n
				s.list = append(s.list, sh)
			}
			s.of[i] = n
		}
		return s
	}).(*shapes)
}

// repeats are the calls of one shape by request.
type repeats struct {
	shape
	by    []repeat // in order of request
	parts []tallied
}

type repeat struct {
	request diagnosis.RequestID
	calls   int
}

// tallied counts the calls in a symptom's requests.
type tallied struct{ all, ordinary, slow int }

// repeated counts the calls of each shape in measured requests, in order of shape. Calls that failed are counted apart,
// and so are calls that are made again after a pause: the next may be another try, which no batch would save. Calls
// that only ask whether a connection works do not count.
func repeated(c *diagnosis.Case) (out []*repeats, failed, again int) {
	shapes := shapesOf(c)
	index := make([]*repeats, len(shapes.list))
	for _, id := range c.Measured() {
		for _, k := range c.Requests[id].Calls {
			if refused(&c.Calls[k]) {
				failed++
				continue
			}
			if asksAlive(c.Calls[k].Operation) {
				continue
			}
			if triedAgain(c, k) {
				again++
				continue
			}
			sh := shapes.of[k]
			rep := index[sh]
			if rep == nil {
				rep = &repeats{shape: shapes.list[sh]}
				index[sh] = rep
				out = append(out, rep)
			}
			if n := len(rep.by); n > 0 && rep.by[n-1].request == id {
				rep.by[n-1].calls++
			} else {
				rep.by = append(rep.by, repeat{id, 1})
			}
		}
	}
	slices.SortFunc(out, func(a, b *repeats) int {
		return cmp.Or(cmp.Compare(a.peer, b.peer), cmp.Compare(a.operation, b.operation))
	})
	at := standings(c)
	for _, rep := range out {
		rep.parts = make([]tallied, len(c.Symptoms))
		for _, x := range rep.by {
			at[x.request].add(rep.parts, x.calls)
		}
	}
	return out, failed, again
}

// in returns how many calls of the shape a request makes.
func (rep *repeats) in(id diagnosis.RequestID) int {
	i, ok := slices.BinarySearchFunc(rep.by, id, func(x repeat, id diagnosis.RequestID) int { return cmp.Compare(x.request, id) })
	if !ok {
		return 0
	}
	return rep.by[i].calls
}

// tenths returns ten times the mean number of calls in some requests.
func tenths(calls int, requests []diagnosis.RequestID) int { return calls * 10 / max(1, len(requests)) }

// many reports whether requests of a symptom make many calls of a shape.
func (rep *repeats) many(s *diagnosis.Symptom, p tallied) bool {
	slow := tenths(p.slow, s.Slow)
	if rep.vague() {
		return slow >= 10*manyCalls && slow*2 >= tenths(p.ordinary, s.Ordinary)*3
	}
	return slow >= 10*manyCalls || tenths(p.all, s.Requests) >= 10*manyCalls
}

// vague reports whether calls of one operation need not be alike: it is hidden, of SQL only the verb is known, or all
// segments of its path may be names as well as ids.
func (rep *repeats) vague() bool {
	_, path, found := strings.Cut(rep.operation, " ")
	return rep.operation == "" || bareVerb(rep.operation) || found && path != "/" && strings.Trim(path, "/{}") == ""
}

// bareVerb reports what is known of a statement of SQL that was prepared before the recording: what its answer says.
func bareVerb(operation string) bool {
	switch operation {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE":
		return true
	}
	return false
}

// onOnePath reports whether one path through the code makes many of the calls in the mean request of a symptom; each is
// ten times their mean number.
func (rep *repeats) onOnePath(c *diagnosis.Case, s *diagnosis.Symptom, each int) bool {
	if each < 10*manyOnePath {
		return false
	}
	return int(onePath(c, rep.calls(c, s.Requests)).Of(Duration(each))) >= 10*manyOnePath
}

// calls lists the calls of the shape that requests make.
func (rep *repeats) calls(c *diagnosis.Case, requests []diagnosis.RequestID) (ids []timeline.CallID) {
	for _, id := range requests {
		for _, k := range c.Requests[id].Calls {
			if counts(c, k, rep.shape) {
				ids = append(ids, k)
			}
		}
	}
	return ids
}

// unnamed says why the calls need not be alike.
func (rep *repeats) unnamed() string {
	switch {
	case rep.operation == "":
		return "TLS hides their operations"
	case bareVerb(rep.operation):
		return "their statements were prepared before the recording"
	}
	return "their paths have no fixed part"
}

// most returns ten times the mean number of calls in the requests, or slow requests, of the symptom that has most.
func (rep *repeats) most(c *diagnosis.Case) (most int) {
	for i := range c.Symptoms {
		s, p := &c.Symptoms[i], rep.parts[i]
		most = max(most, tenths(p.slow, s.Slow), tenths(p.all, s.Requests))
	}
	return most
}

// known sorts the requests of symptoms that make many calls by what is known of these: they are alike, or it is only
// known that they are many, or a few.
func (rep *repeats) known(c *diagnosis.Case) (alike, many, few []diagnosis.RequestID) {
	for i := range c.Symptoms {
		s, p := &c.Symptoms[i], rep.parts[i]
		each := tenths(p.all, s.Requests)
		switch {
		case rep.many(s, p) || rep.vague() && rep.onOnePath(c, s, each):
			alike = append(alike, s.Requests...)
		case each >= 10*manyUnnamed:
			many = append(many, s.Requests...)
		case each >= 10*manyCalls:
			few = append(few, s.Requests...)
		}
	}
	return alike, many, few
}

func testNPlusOne(c *diagnosis.Case) diagnosis.Result {
	var res diagnosis.Result
	most := 0
	var of *repeats
	var sealed []diagnosis.Span
	var hides string
	shapes, failed, again := repeated(c)
	for _, rep := range shapes {
		alike, many, few := rep.known(c)
		if n := rep.most(c); n > most {
			most, of = n, rep
		}
		if len(alike) > 0 {
			cd := batchAt(c, rep, alike)
			if rep.vague() {
				cd.Evidence = append(cd.Evidence, diagnosis.Part("of the calls with a known stack come from one path through the code", onePath(c, rep.calls(c, alike))))
			}
			res.Candidates = append(res.Candidates, cd)
		}
		if len(many) > 0 {
			cd := batchAt(c, rep, many)
			cd.Decide = "see in the code, or in the peer's log, whether these calls have one shape: " + rep.unnamed()
			res.Candidates = append(res.Candidates, cd)
		}
		if len(few) > 0 {
			sealed = append(sealed, batchAt(c, rep, few).Spans...)
			hides = "is spent in calls to " + rep.peer + ", and dwell cannot see whether they have one shape: " + rep.unnamed()
		}
	}
	res.Evidence = []diagnosis.Evidence{
		{What: "calls of one shape per request", Value: int64(most) * 100, Unit: diagnosis.UnitRatio, Bound: manyCalls * 1000, Bounded: true},
		diagnosis.Count("calls", len(c.Calls)),
	}
	many := unowned(c, everyCall(c), func(k *timeline.Call) window { return window{k.Start, k.End} })
	res.Hidden = hiddenIn(c, many)
	if len(sealed) > 0 {
		res.Hidden, res.Hides = append(res.Hidden, sealed...), hides
	}
	hideShared(c, &res)
	res.Lead = "a request makes at most " + atMost(most) + " calls of one shape on average"
	if failed > 0 {
		res.Lead += ", not counting " + diagnosis.Thousands(int64(failed)) + " that failed"
	}
	if again > 0 {
		res.Lead += ", not counting " + diagnosis.Thousands(int64(again)) + " that were repeated after a pause"
	}
	switch {
	case len(c.Calls) == 0:
		res.Lead = noCalls(c)
	case len(shapes) == 0 && failed+again == 0:
		res.Lead = "no call is known to belong to a request"
	case len(res.Candidates) == 0 && len(sealed) > 0:
		res.Lead = "a request makes " + oneDecimal(most) + " calls to " + of.peer + "; " + of.unnamed()
	case len(res.Candidates) == 0:
		res.Lead += " (threshold " + diagnosis.Thousands(manyCalls) + ")"
	}
	return res
}

// atMost is oneDecimal, but at least 0.1: less would show as none.
func atMost(tenths int) string { return oneDecimal(max(1, tenths)) }

func everyCall(c *diagnosis.Case) []timeline.CallID {
	ids := make([]timeline.CallID, len(c.Calls))
	for i := range ids {
		ids[i] = timeline.CallID(i)
	}
	return ids
}

func oneDecimal(tenths int) string {
	return diagnosis.Thousands(int64(tenths/10)) + "." + diagnosis.Thousands(int64(tenths%10))
}
