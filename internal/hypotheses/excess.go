package hypotheses

import (
	"cmp"
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// compared is how many calls of each kind are needed to compare the own work around
// calls that opened a connection with that around calls that did not.
const compared = 8

// place is where in the code a call is made, as far as that can be seen: its position among the calls of a request of
// an endpoint, its peer and its operation.
type place struct {
	endpoint, peer, operation string
	index                     int
	after                     bool // the work after the request's last call, not that before this one
}

// effort is the own work around one call, in order of time.
type effort struct {
	call timeline.CallID
	work []setupSpan
	sum  Duration
}

// excess returns the own work that requests with calls on new connections do beyond those with the same calls on reused
// ones: they build sockets and contexts before connect, and tear them down after the answer. It takes the difference of
// the medians, next to each call. known counts the calls that could be compared.
func excess(c *diagnosis.Case, churned map[timeline.CallID]bool) (out []setupSpan, known int) {
	fresh := onNew(c, churned)
	reused := onKept(c, churned, fresh)
	for at, efforts := range fresh {
		if len(reused[at]) < compared {
			continue
		}
		if !at.after {
			known += len(efforts)
		}
		var sums []Duration
		for _, e := range efforts {
			sums = append(sums, e.sum)
		}
		slices.Sort(sums)
		slices.Sort(reused[at])
		more := diagnosis.Quantile(sums, 50) - diagnosis.Quantile(reused[at], 50)
		for _, e := range efforts {
			out = append(out, nearest(e.work, more, at.after)...)
		}
	}
	slices.SortFunc(out, func(a, b setupSpan) int {
		return cmp.Or(cmp.Compare(a.Request, b.Request), cmp.Compare(a.From, b.From))
	})
	return out, known
}

// onNew collects the own work around churned calls, for places that have enough of them.
func onNew(c *diagnosis.Case, churned map[timeline.CallID]bool) map[place][]effort {
	out := map[place][]effort{}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		if !slices.ContainsFunc(r.Calls, func(k timeline.CallID) bool { return churned[k] }) {
			continue
		}
		eachEffort(c, r, func(at place, id timeline.CallID, from, to diagnosis.Time) {
			if churned[id] {
				out[at] = append(out[at], effortIn(r, id, from, to))
			}
		})
	}
	maps.DeleteFunc(out, func(_ place, list []effort) bool { return len(list) < compared })
	return out
}

// onKept collects how much own work is done around calls on reused connections at the same places.
func onKept(c *diagnosis.Case, churned map[timeline.CallID]bool, fresh map[place][]effort) map[place][]Duration {
	out := map[place][]Duration{}
	if len(fresh) == 0 {
		return out
	}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		eachEffort(c, r, func(at place, id timeline.CallID, from, to diagnosis.Time) {
			if !churned[id] && !c.Calls[id].New && fresh[at] != nil {
				out[at] = append(out[at], ownIn(r, from, to))
			}
		})
	}
	return out
}

// eachEffort visits a request's own work before each of its calls and after the last,
// if it makes them one after the other.
func eachEffort(c *diagnosis.Case, r *timeline.Request, visit func(at place, call timeline.CallID, from, to diagnosis.Time)) {
	calls := r.Calls
	byStart := func(a, b timeline.CallID) int { return cmp.Compare(c.Calls[a].Start, c.Calls[b].Start) }
	if !slices.IsSortedFunc(calls, byStart) {
		calls = slices.Clone(calls)
		slices.SortStableFunc(calls, byStart)
	}
	for i := 1; i < len(calls); i++ {
		if c.Calls[calls[i]].Start < c.Calls[calls[i-1]].End {
			return
		}
	}
	from := r.Start
	for i, id := range calls {
		call := &c.Calls[id]
		at := place{endpoint: r.Endpoint, peer: call.Peer, operation: call.Operation, index: i}
		visit(at, id, from, call.Start)
		if from = call.End; i == len(calls)-1 {
			at.after = true
			visit(at, id, from, r.End)
		}
	}
}

// effortIn collects a request's own work in a span, outside of calls.
func effortIn(r *timeline.Request, call timeline.CallID, from, to diagnosis.Time) effort {
	e := effort{call: call}
	for s := r.Segments(); s.Next(); {
		a, b := max(s.From, from), min(s.To, to)
		if s.Call == timeline.None && ownCPU(&s.Segment) && a < b {
			e.work = append(e.work, setupSpan{diagnosis.Span{Request: r.ID, From: a, To: b}, s.Strand})
			e.sum += b.Sub(a)
		}
	}
	return e
}

// ownIn returns how long that work takes.
func ownIn(r *timeline.Request, from, to diagnosis.Time) (d Duration) {
	for s := r.Segments(); s.Next(); {
		if a, b := max(s.From, from), min(s.To, to); s.Call == timeline.None && ownCPU(&s.Segment) && a < b {
			d += b.Sub(a)
		}
	}
	return d
}

// nearest takes d of some work, from its beginning if first is set, else from its end.
func nearest(work []setupSpan, d Duration, first bool) (out []setupSpan) {
	for i := range work {
		w := work[len(work)-1-i]
		if first {
			w = work[i]
		}
		if d <= 0 {
			break
		}
		if long := w.To.Sub(w.From); long > d && first {
			w.To = w.From + diagnosis.Time(d)
		} else if long > d {
			w.From = w.To - diagnosis.Time(d)
		}
		d -= w.To.Sub(w.From)
		out = append(out, w)
	}
	return out
}
