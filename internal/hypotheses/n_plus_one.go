package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func nPlusOne() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "n-plus-one",
		Title: "One request makes many calls of the same shape",
		Doc: "Supported by at least 3 calls of one operation to one peer in the mean request, or in the mean slow request, of an endpoint. Where the operation is hidden (TLS) " +
			"the number of calls has to differ between requests too, as it does where it follows the data: at least 3 in the mean slow request and half as many again as in an ordinary one. " +
			"Taken out of each request: what it waited for those calls, but for as long as the longest of them took; one batch call is assumed to take as long as that. " +
			"Where other threads make the calls for it: all its time from handing over the first to the end of the last, queues for those threads included, but for as long as the longest single one took there.",
		Needs:    []string{recording.HookSockets, recording.HookIO},
		Explains: []string{"serial-calls", "pool-exhausted", "slow-peer", "accept-queue", "load"},
		Test:     testNPlusOne,
	}
}

// manyCalls is how many calls of one shape in a request are many.
const manyCalls = 3

// shape is what calls have in common that one batch call could replace.
type shape struct {
	process         recording.ProcessID
	peer, operation string
}

func shapeOf(call *timeline.Call) shape { return shape{call.Process, call.Peer, call.Operation} }

// repeats are the calls of one shape by request.
type repeats struct {
	shape
	calls map[diagnosis.RequestID]int
}

// repeated counts the calls of each shape in measured requests, in order of shape.
func repeated(c *diagnosis.Case) []*repeats {
	index := map[shape]*repeats{}
	var out []*repeats
	for _, id := range c.Measured() {
		for _, k := range c.Requests[id].Calls {
			sh := shapeOf(&c.Calls[k])
			rep := index[sh]
			if rep == nil {
				rep = &repeats{sh, map[diagnosis.RequestID]int{}}
				index[sh] = rep
				out = append(out, rep)
			}
			rep.calls[id]++
		}
	}
	slices.SortFunc(out, func(a, b *repeats) int {
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.peer, b.peer), cmp.Compare(a.operation, b.operation))
	})
	return out
}

// tenths returns ten times the mean number of calls of a shape in requests.
func (rep *repeats) tenths(ids []diagnosis.RequestID) int {
	n := 0
	for _, id := range ids {
		n += rep.calls[id]
	}
	return n * 10 / max(1, len(ids))
}

// many reports whether requests of a symptom make many calls of a shape.
func (rep *repeats) many(s *diagnosis.Symptom) bool {
	slow := rep.tenths(s.Slow)
	if rep.operation == "" {
		return slow >= 10*manyCalls && slow*2 >= rep.tenths(s.Ordinary)*3
	}
	return slow >= 10*manyCalls || rep.tenths(s.Requests) >= 10*manyCalls
}

func testNPlusOne(c *diagnosis.Case) diagnosis.Result {
	var res diagnosis.Result
	most := 0
	var of shape
	for _, rep := range repeated(c) {
		var ids []diagnosis.RequestID
		for i := range c.Symptoms {
			s := &c.Symptoms[i]
			if n := max(rep.tenths(s.Slow), rep.tenths(s.Requests)); n > most {
				most, of = n, rep.shape
			}
			if rep.many(s) {
				ids = append(ids, s.Requests...)
			}
		}
		if len(ids) > 0 {
			res.Candidates = append(res.Candidates, batchAt(c, rep, ids))
		}
	}
	res.Evidence = []diagnosis.Evidence{
		{What: "calls of one shape in a request", Value: int64(most) * 100, Unit: diagnosis.UnitRatio, Bound: manyCalls * 1000, Bounded: true},
		diagnosis.Count("calls", len(c.Calls)),
	}
	many := unowned(c, everyCall(c), func(k *timeline.Call) window { return window{k.Start, k.End} })
	res.Hidden = hiddenIn(c, many)
	bound := " (bound " + diagnosis.Thousands(manyCalls) + ")"
	switch {
	case len(c.Calls) == 0:
		res.Lead = noCalls(c)
	case most == 0:
		res.Lead = "no call is known to belong to a request"
	case len(res.Candidates) == 0 && most >= 10*manyCalls:
		res.Lead = "every request makes about as many of its " + oneDecimal(most) + " calls to " + of.peer + ", whose operations TLS hides"
	case len(res.Candidates) == 0:
		res.Lead = "a request makes at most " + oneDecimal(most) + " calls of one shape on average" + bound
	default:
		res.Lead = "a request makes up to " + oneDecimal(most) + " calls of one shape on average"
	}
	return res
}

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

// batchAt is what one batch call in place of the calls of a shape would save.
func batchAt(c *diagnosis.Case, rep *repeats, ids []diagnosis.RequestID) diagnosis.Candidate {
	var spans []diagnosis.Span
	var took []Duration
	apart, later, most := 0, 0, 0
	for _, id := range ids {
		r := &c.Requests[id]
		var longest Duration
		end := diagnosis.Time(0)
		for _, k := range r.Calls {
			call := &c.Calls[k]
			if shapeOf(call) != rep.shape {
				continue
			}
			took = append(took, call.End.Sub(call.Start))
			longest = max(longest, call.End.Sub(call.Start))
			if call.Start >= end && end != 0 {
				apart++
			}
			end = max(end, call.End)
		}
		most = max(most, rep.calls[id])
		later += max(0, rep.calls[id]-1)
		if out := fannedOut(c, r, rep.shape); out != nil {
			spans = append(spans, out...)
		} else {
			spans = append(spans, allBut(c, r, rep.shape, longest)...)
		}
	}
	slices.Sort(took)
	place, calls := cmp.Or(rep.operation, "calls")+" at "+rep.peer, "calls"
	if rep.operation != "" {
		calls = "calls of " + rep.operation
	}
	each := rep.tenths(ids)
	how := "one after the other"
	if apart*2 < later {
		how = "many at once"
	}
	return diagnosis.Candidate{
		Place: place,
		Title: "One request makes " + oneDecimal(each) + " " + calls + " to " + rep.peer + " on average, up to " + diagnosis.Thousands(int64(most)) + ", " + how,
		Fix:   batchFix(rep.operation) + " (assumed: one batch call takes as long as the longest call that it replaces)",
		Next:  "dwell show REC --slowest 3 shows the calls of single requests",
		Lead:  "a request makes " + oneDecimal(each) + " " + calls + " to " + rep.peer,
		Spans: spans,
		Evidence: []diagnosis.Evidence{
			{What: "calls of this shape in a request", Value: int64(each) * 100, Unit: diagnosis.UnitRatio, Bound: manyCalls * 1000, Bounded: true},
			diagnosis.Count("calls of this shape in one request at most", most),
			diagnosis.Part("of them begin after the one before has ended", diagnosis.ShareOf(int64(apart), int64(max(1, later)))),
			diagnosis.NS("p50 of such a call", diagnosis.Quantile(took, 50)),
			diagnosis.NS("mean time a request would wait less for them", diagnosis.Total(spans)/Duration(max(1, len(ids)))),
		},
	}
}

// allBut returns what a request waited for calls of a shape, but for a part as long as
// keep, which is left at the beginning.
func allBut(c *diagnosis.Case, r *timeline.Request, of shape, keep Duration) (out []diagnosis.Span) {
	for i := range r.Segments {
		s := &r.Segments[i]
		if s.Call == timeline.None || shapeOf(&c.Calls[s.Call]) != of {
			continue
		}
		from := s.From
		if d := min(keep, s.To.Sub(from)); d > 0 {
			from += diagnosis.Time(d)
			keep -= d
		}
		if from < s.To {
			out = append(out, diagnosis.Span{Request: r.ID, From: from, To: s.To})
		}
	}
	return out
}
