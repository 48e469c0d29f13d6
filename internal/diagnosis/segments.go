package diagnosis

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Spans returns the segments of the measured requests that keep accepts, which is asked
// twice: the list is as long as it must be, for there may be millions.
func (c *Case) Spans(keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	return c.spansIn(c.measured, keep)
}

// SpansOf is Spans for segments of one cause: of requests that have none it asks nothing.
func (c *Case) SpansOf(cause timeline.Cause, keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	return c.spansIn(c.With(cause), func(r *timeline.Request, s *timeline.Segment) bool { return s.Cause == cause && keep(r, s) })
}

func (c *Case) spansIn(ids []RequestID, keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	n := 0
	first := len(ids)
	for k, id := range ids {
		r := &c.Requests[id]
		for i := range r.Segments {
			if keep(r, &r.Segments[i]) {
				n++
				first = min(first, k)
			}
		}
	}
	if n == 0 {
		return nil
	}
	out := make([]Span, 0, n)
	for _, id := range ids[first:] {
		r := &c.Requests[id]
		for i := range r.Segments {
			if s := &r.Segments[i]; keep(r, s) {
				out = append(out, Span{id, s.From, s.To})
			}
		}
	}
	return out
}

// TimeOf returns how much of the measured requests' time has a cause.
func (c *Case) TimeOf(cause timeline.Cause) (sum Duration) {
	for _, id := range c.With(cause) {
		for i := range c.Requests[id].Segments {
			if s := &c.Requests[id].Segments[i]; s.Cause == cause {
				sum += s.To.Sub(s.From)
			}
		}
	}
	return sum
}

// With returns the measured requests that have a segment of a cause, in order of id.
func (c *Case) With(cause timeline.Cause) []RequestID {
	return c.Shared("by cause", func() any { return c.byCause() }).([][]RequestID)[cause]
}

func (c *Case) byCause() [][]RequestID {
	by := make([][]RequestID, timeline.NumCauses)
	for _, id := range c.measured {
		r := &c.Requests[id]
		var has [timeline.NumCauses]bool
		for i := range r.Segments {
			if cause := r.Segments[i].Cause; !has[cause] {
				has[cause] = true
				by[cause] = append(by[cause], id)
			}
		}
	}
	return by
}

// Gaps returns the time of the measured requests that no segment accounts for, and
// the segments of unknown cause.
func (c *Case) Gaps() []Span {
	return slices.Clone(c.Shared("gaps", func() any { return c.findGaps() }).([]Span))
}

func (c *Case) findGaps() []Span {
	var out []Span
	for _, id := range c.measured {
		r := &c.Requests[id]
		at := r.Start
		for i := range r.Segments {
			s := &r.Segments[i]
			if s.From > at {
				out = append(out, Span{id, at, s.From})
			}
			if s.Cause == timeline.CauseUnknown {
				out = append(out, Span{id, s.From, s.To})
			}
			at = s.To
		}
		if r.End > at {
			out = append(out, Span{id, at, r.End})
		}
	}
	return out
}
