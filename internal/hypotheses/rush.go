package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// rush is how requests that came while another one of their process made a call made that call, too, as when all that
// miss a cache get what it lacks. A call is a first one if none like it was under way when it began.
type rush struct {
	came, made int // requests that came while a first one was under way; those of them that made such a call
	rest, lone int // all others; those of them that made one
}

// leastRush is how many requests must have joined in to decide that they do.
const leastRush = 10

// is reports whether requests join in as a rule, while others seldom make the call.
func (r *rush) is() bool {
	return r.made >= leastRush && 2*r.made >= r.came && diagnosis.ShareOf(int64(r.lone), int64(r.rest)) < rareShare
}

// words says so, to follow what is said of the peer's answers.
func (r *rush) words() string {
	if !r.is() {
		return ""
	}
	return "; " + diagnosis.Thousands(int64(r.made)) + " of the " + diagnosis.Plural(r.came, "request") + " that came while another one waited for this peer asked it as well, but only " +
		diagnosis.Percent(diagnosis.ShareOf(int64(r.lone), int64(r.rest))) + " of all others did"
}

// fix says how one call could serve all; "" if nothing suggests that it could.
func (r *rush) fix() string {
	if !r.is() {
		return ""
	}
	return "if they all get the same answer, let one request get it while the others use the old value or wait for that one: fill the cache by one request at a time, or ahead of time"
}

// next says what to look at; "" if requests do not join in.
func (r *rush) next() string {
	if !r.is() {
		return ""
	}
	return "see whether concurrent requests ask for the same thing, as when a cache entry has expired: then one call would do"
}

// rushOf looks at the calls of one operation.
func rushOf(c *diagnosis.Case, calls []timeline.CallID, operation string) (r rush) {
	by, endpoints := map[recording.ProcessID][]*timeline.Call{}, map[string]bool{}
	makes := map[diagnosis.RequestID]bool{}
	for _, id := range calls {
		if call := &c.Calls[id]; call.Request != timeline.None && call.Operation == operation {
			q := &c.Requests[call.Request]
			by[q.Process] = append(by[q.Process], call)
			endpoints[q.Endpoint], makes[call.Request] = true, true
		}
	}
	firsts := map[recording.ProcessID][]*timeline.Call{}
	for p, list := range by {
		slices.SortFunc(list, func(a, b *timeline.Call) int { return cmp.Compare(a.Start, b.Start) })
		free := diagnosis.Time(0)
		for _, call := range list {
			if call.Start >= free {
				firsts[p] = append(firsts[p], call)
			}
			free = max(free, call.End)
		}
	}
	for _, id := range c.Measured() {
		q := &c.Requests[id]
		if !endpoints[q.Endpoint] {
			continue
		}
		joins, makes := duringFirst(firsts[q.Process], q), makes[id]
		switch {
		case joins && makes:
			r.made++
			fallthrough
		case joins:
			r.came++
		case makes:
			r.lone++
			fallthrough
		default:
			r.rest++
		}
	}
	return r
}

// duringFirst reports whether a request was read while one of some calls, in order and disjoint, was under way for
// another request.
func duringFirst(calls []*timeline.Call, q *timeline.Request) bool {
	i, _ := slices.BinarySearchFunc(calls, q.FirstRead, func(call *timeline.Call, at diagnosis.Time) int { return cmp.Compare(call.End, at+1) })
	return i < len(calls) && calls[i].Start <= q.FirstRead && calls[i].Request != q.ID
}
