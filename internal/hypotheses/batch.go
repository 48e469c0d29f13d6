package hypotheses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// batches returns the batch operations of well-known services, by the end of the name of the operation that they
// replace.
func batches() [][2]string {
	return [][2]string{
		{".GetItem", "BatchGetItem (up to 100 keys in one call)"},
		{".PutItem", "BatchWriteItem (up to 25 items in one call)"},
		{".DeleteItem", "BatchWriteItem (up to 25 items in one call)"},
		{".Query", "fewer queries: one with a range, or an index that covers the keys"},
		{"SendMessage", "SendMessageBatch (up to 10 messages in one call)"},
		{"DeleteMessage", "DeleteMessageBatch (up to 10 messages in one call)"},
		{"Publish", "PublishBatch (up to 10 messages in one call)"},
		{"PutRecord", "PutRecords (up to 500 records in one call)"},
		{"GetParameter", "GetParameters (up to 10 names in one call)"},
		{"GetSecretValue", "BatchGetSecretValue (up to 20 secrets in one call)"},
	}
}

// batchFix says how many calls of an operation can become one.
func batchFix(operation string) string {
	switch verb, _, _ := strings.Cut(operation, " "); verb {
	case "FETCH": // the next rows of one statement
		return "fetch more rows at a time: a larger fetch size (setFetchSize, itersize, arraysize), or none if all rows fit into memory"
	case "PREPARE":
		return "prepare a statement once and keep it (a shared statement, the driver's statement cache), or have the driver send it together with its arguments " +
			"(lib/pq binary_parameters=yes, go-sql-driver interpolateParams=true)"
	}
	for _, b := range batches() {
		if strings.HasSuffix(operation, b[0]) {
			return "replace these calls by one batch call: " + b[1]
		}
	}
	return "replace these calls by one batch call (a list of ids, IN (...), MGET, a bulk endpoint); if the peer has no such call, make them concurrently"
}

// batched holds the calls of a shape that one batch call could replace, and what that would save.
type batched struct {
	*diagnosis.Case
	shape
	made         []timeline.CallID
	took         []Duration
	apart, later int              // later: all but the first of each request; apart: those that begin after the one before has ended
	spans        []diagnosis.Span // saved if the batch call takes as long as the longest call that it replaces
	may          []diagnosis.Span // saved if it takes as long as the shortest, and if what is computed to make so many goes too
}

// add adds the calls of a request.
func (b *batched) add(r *timeline.Request) {
	longest, shortest, end := timeline.CallID(timeline.None), timeline.CallID(timeline.None), diagnosis.Time(0)
	long := func(id timeline.CallID) Duration { return b.Calls[id].End.Sub(b.Calls[id].Start) }
	for _, k := range r.Calls {
		if !counts(b.Case, k, b.shape) {
			continue
		}
		b.made, b.took = append(b.made, k), append(b.took, long(k))
		if longest == timeline.None || long(k) > long(longest) {
			longest = k
		}
		if shortest == timeline.None || long(k) < long(shortest) {
			shortest = k
		}
		if b.Calls[k].Start >= end && end != 0 {
			b.apart++
		}
		end = max(end, b.Calls[k].End)
	}
	if out := fannedOut(b.Case, r, b.shape); out != nil {
		b.spans = append(b.spans, out...)
		return
	}
	b.spans = append(b.spans, allBut(b.Case, r, b.shape, longest)...)
	b.may = append(append(b.may, allBut(b.Case, r, b.shape, shortest)...), amid(b.Case, r, b.shape)...)
}

// batchAt is the candidate: what one batch call in place of the calls of a shape would save.
func batchAt(c *diagnosis.Case, rep *repeats, ids []diagnosis.RequestID) diagnosis.Candidate {
	b := batched{Case: c, shape: rep.shape}
	most, all := 0, 0
	for _, id := range ids {
		b.add(&c.Requests[id])
		n := rep.in(id)
		all += n
		most = max(most, n)
		b.later += max(0, n-1)
	}
	slices.Sort(b.took)
	place, calls := cmp.Or(rep.operation, "calls")+" at "+rep.peer, "calls"
	if rep.operation != "" {
		calls = "calls of " + rep.operation
	}
	each := tenths(all, ids)
	unknown := b.unknown(ids)
	how := "one after another"
	if b.apart*2 < b.later {
		how = "many concurrently"
	}
	return diagnosis.Candidate{
		Place: place,
		Title: "One request makes " + oneDecimal(each) + " " + calls + " to " + rep.peer + " on average, up to " + diagnosis.Thousands(int64(most)) + ", " + how + calledIn(c, b.made) + unknownWords(tenths(unknown, ids)),
		Fix:   batchFix(rep.operation) + " (the saving assumes that one batch call takes as long as the longest call that it replaces)",
		Next:  "dwell show REC --slowest 3 shows the calls of single requests",
		Lead:  "a request makes " + oneDecimal(each) + " " + calls + " to " + rep.peer,
		Spans: b.spans, May: b.may, AtLeast: 10*unknown >= all, // some of the unknown calls may be of the shape
		Evidence: []diagnosis.Evidence{
			{What: "calls of this shape per request", Value: int64(each) * 100, Unit: diagnosis.UnitRatio, Bound: manyCalls * 1000, Bounded: each >= 10*manyCalls},
			diagnosis.Count("calls of this shape in one request at most", most),
			diagnosis.Part("of these calls begin after the one before has ended", diagnosis.ShareOf(int64(b.apart), int64(max(1, b.later)))),
			diagnosis.NS("p50 of such a call", diagnosis.Quantile(b.took, 50)),
			diagnosis.NS("mean time that a request would save", diagnosis.Total(b.spans)/Duration(max(1, len(ids)))),
		},
	}
}

// unknown counts the commands to the same database whose operation is not known, in requests that make calls of the
// shape.
func (b *batched) unknown(requests []diagnosis.RequestID) (n int) {
	for _, id := range requests {
		for _, k := range b.Requests[id].Calls {
			if call := &b.Calls[k]; b.operation != "" && (call.Operation == "" || bareVerb(call.Operation)) && call.Operation != b.operation && call.Protocol.SQL() && call.Peer == b.peer {
				n++
			}
		}
	}
	return n
}

// unknownWords says how many such commands a request makes, given ten times their number.
func unknownWords(tenths int) string {
	if tenths == 0 {
		return ""
	}
	return "; the operation of another " + oneDecimal(tenths) + " calls to it is not known (such as of statements prepared before the recording)"
}

// allBut returns what a request waited for calls of a shape that did not fail, except for as long as one of them, the
// longest, took. That much stays of the wait for that call, then of the waits for the others.
func allBut(c *diagnosis.Case, r *timeline.Request, of shape, longest timeline.CallID) (out []diagnosis.Span) {
	if longest == timeline.None {
		return nil
	}
	keep := c.Calls[longest].End.Sub(c.Calls[longest].Start)
	list := r.SegmentList()
	kept := make([]Duration, len(list))
	for _, itself := range []bool{true, false} {
		for i := range list {
			if s := &list[i]; s.Call != timeline.None && (s.Call == longest) == itself && counts(c, s.Call, of) {
				kept[i] = min(keep, s.To.Sub(s.From))
				keep -= kept[i]
			}
		}
	}
	for i := range list {
		s := &list[i]
		if from := s.From + diagnosis.Time(kept[i]); s.Call != timeline.None && from < s.To && counts(c, s.Call, of) {
			out = append(out, diagnosis.Span{Request: r.ID, From: from, To: s.To})
		}
	}
	return out
}

// amid returns what a request computes, and waits for a processor to compute, from the beginning of its first call of a
// shape to the end of its last. Most of it is work to make the calls.
func amid(c *diagnosis.Case, r *timeline.Request, of shape) (out []diagnosis.Span) {
	var from, to diagnosis.Time
	for _, id := range r.Calls {
		if !counts(c, id, of) {
			continue
		}
		if call := &c.Calls[id]; to == 0 {
			from, to = call.Start, call.End
		} else {
			from, to = min(from, call.Start), max(to, call.End)
		}
	}
	for s := r.Segments(); s.Next(); {
		own := s.Phase == timeline.PhaseHandler && s.Call == timeline.None && (s.Cause == timeline.CauseOnCPU || s.Cause == timeline.CauseRunnable)
		if own && s.From < to && s.To > from {
			out = append(out, diagnosis.Span{Request: r.ID, From: max(s.From, from), To: min(s.To, to)})
		}
	}
	return out
}

// counts reports whether a call is of a shape, did not fail and was not made again after a pause.
func counts(c *diagnosis.Case, id timeline.CallID, of shape) bool {
	return shapeOf(&c.Calls[id]) == of && !refused(&c.Calls[id]) && !triedAgain(c, id)
}

// triedAgain reports whether its request made the call once more after it had slept until a timer. Such a call asks for
// what was not there yet, and not for the next item of a list.
func triedAgain(c *diagnosis.Case, id timeline.CallID) bool {
	return c.Once("tried again", func() any {
		again := map[timeline.CallID]bool{}
		for _, id := range c.With(timeline.CauseSleep) {
			r := &c.Requests[id]
			asleep, last := timesOf(r, timeline.CauseSleep), map[shape]timeline.CallID{}
			for _, k := range r.Calls { // in the order of their starts
				sh := shapeOf(&c.Calls[k])
				if before, ok := last[sh]; ok && mostly(asleep, window{c.Calls[before].End, c.Calls[k].Start}) {
					again[before] = true
				}
				last[sh] = k
			}
		}
		return again
	}).(map[timeline.CallID]bool)[id]
}

// mostly reports whether more than half of a span is within windows, which are in order.
func mostly(of []window, w window) bool {
	var rest Duration
	for x := range outside(of, w) {
		rest += x.to.Sub(x.from)
	}
	return 2*rest < w.to.Sub(w.from)
}
