package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// fannedOut is for a request that has other threads make calls of a shape. It returns what the request would not wait
// if one of them made one call: its time from handing over the first to the end of the last, except for as long as the
// longest single one takes there. Nil if fewer than two of its calls were made so.
func fannedOut(c *diagnosis.Case, r *timeline.Request, of shape) (out []diagnosis.Span) {
	keep, from, to, tasks := tasksOf(c, r, of)
	if tasks < 2 {
		return nil
	}
	list := r.SegmentList()
	for i := len(list) - 1; i >= 0; i-- { // before that the first one lay in a queue
		if s := &list[i]; s.To == from && s.Cause == timeline.CausePool && s.Phase == timeline.PhaseHandler {
			from = s.From
		}
	}
	for s := r.Segments(); s.Next(); {
		if s.Phase == timeline.PhaseUnread || s.Call != timeline.None && shapeOf(&c.Calls[s.Call]) != of {
			continue
		}
		span := diagnosis.Span{Request: r.ID, From: max(s.From, from), To: min(s.To, to)}
		if s.Cause != timeline.CausePool { // a queue is not part of what one call takes
			if d := min(keep, max(0, span.To.Sub(span.From))); d > 0 {
				span.From += diagnosis.Time(d)
				keep -= d
			}
		}
		if span.From < span.To {
			out = append(out, span)
		}
	}
	if out == nil {
		out = []diagnosis.Span{} // its calls were made so, and nothing is saved
	}
	return out
}

// tasksOf returns how many calls of a shape other threads made for a request, the span in which they worked for it, and
// how long the longest single call took them. A strand that only sends a call, as a connection's goroutine does, did not
// make it.
func tasksOf(c *diagnosis.Case, r *timeline.Request, of shape) (longest Duration, from, to diagnosis.Time, tasks int) {
	for _, p := range r.Parts {
		var calls, most Duration
		n := 0
		for _, id := range r.Calls {
			call := &c.Calls[id]
			d := call.End.Sub(call.Start)
			if call.Strand != p.Strand || 2*min(call.End, p.To).Sub(max(call.Start, p.From)) <= d || shapeOf(call) != of {
				continue
			}
			calls, most = calls+d, max(most, d)
			n++
		}
		if n == 0 {
			continue
		}
		if tasks == 0 || p.From < from {
			from = p.From
		}
		to = max(to, p.To)
		tasks += n
		own := max(0, p.To.Sub(p.From)-calls) / Duration(n)
		longest = max(longest, most+own)
	}
	return longest, from, to, tasks
}
