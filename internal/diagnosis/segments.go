package diagnosis

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Spans returns the segments of the measured requests that keep accepts. The list is as long as it must
// be, for there may be millions.
func (c *Case) Spans(keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	return c.spansIn(c.measured, keep)
}

// SpansOf is Spans for segments of one cause: of requests that have none it asks nothing.
func (c *Case) SpansOf(cause timeline.Cause, keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	return c.spansIn(c.With(cause), func(r *timeline.Request, s *timeline.Segment) bool { return s.Cause == cause && keep(r, s) })
}

// SpansAmong is Spans of some requests.
func (c *Case) SpansAmong(some func(*timeline.Request) bool, keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	var ids []RequestID
	for _, id := range c.measured {
		if some(&c.Requests[id]) {
			ids = append(ids, id)
		}
	}
	return c.spansIn(ids, keep)
}

func (c *Case) spansIn(ids []RequestID, keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	var pieces [][]Span
	var list []Span
	var s timeline.Segments // handed to keep, and so not on the stack: one for all
	for _, id := range ids {
		r := &c.Requests[id]
		for s = r.Segments(); s.Next(); {
			if keep(r, &s.Segment) {
				if len(list) == cap(list) {
					pieces = append(pieces, list)
					list = make([]Span, 0, min(2*cap(list)+8, 1<<14))
				}
				list = append(list, Span{id, s.From, s.To})
			}
		}
	}
	return slices.Concat(append(pieces, list)...)
}

// TimeOf returns how much of the measured requests' time has a cause.
func (c *Case) TimeOf(cause timeline.Cause) Duration {
	return c.Shared("time of "+cause.String(), func() any {
		var sum Duration
		for _, id := range c.With(cause) {
			for s := c.Requests[id].Segments(); s.Next(); {
				if s.Cause == cause {
					sum += s.To.Sub(s.From)
				}
			}
		}
		return sum
	}).(Duration)
}

// With returns the measured requests that have a segment of a cause, in order of id.
func (c *Case) With(cause timeline.Cause) []RequestID {
	return c.Shared("by cause", func() any { return c.byCause() }).([][]RequestID)[cause]
}

func (c *Case) byCause() [][]RequestID {
	by := make([][]RequestID, timeline.NumCauses)
	for _, id := range c.measured {
		r := &c.Requests[id]
		for cause := range timeline.NumCauses {
			if r.Has(cause) {
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
		for s := r.Segments(); s.Next(); {
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
