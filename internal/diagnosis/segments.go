package diagnosis

import (
	"math/bits"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// Spans returns the segments of the measured requests that keep accepts. The list has no spare room, because there may
// be millions.
func (c *Case) Spans(keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	return c.spansIn(c.measured, allCauses, keep)
}

// SpansOf is Spans for segments of one cause: it skips requests without any.
func (c *Case) SpansOf(cause timeline.Cause, keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	return c.spansIn(c.With(cause), 1<<cause, keep)
}

// SpansAmong is Spans for some requests.
func (c *Case) SpansAmong(some func(*timeline.Request) bool, keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	var ids []RequestID
	for _, id := range c.measured {
		if some(&c.Requests[id]) {
			ids = append(ids, id)
		}
	}
	return c.spansIn(ids, allCauses, keep)
}

// causes is a set of causes, by bit.
type causes uint

const allCauses causes = 1<<timeline.NumCauses - 1

func (c *Case) spansIn(ids []RequestID, of causes, keep func(*timeline.Request, *timeline.Segment) bool) []Span {
	var s timeline.Segments // passed to keep, and so not on the stack: one for all
	var list pieces
	for _, id := range ids {
		r := &c.Requests[id]
		for s = r.Segments(); s.Next(); {
			if of>>s.Cause&1 != 0 && keep(r, &s.Segment) {
				list.add(Span{id, s.From, s.To})
			}
		}
	}
	return list.joined()
}

// pieces is a list that grows without being copied: there may be millions.
type pieces struct {
	full [][]Span
	last []Span
}

func (p *pieces) add(s Span) {
	if len(p.last) == cap(p.last) {
		p.full = append(p.full, p.last)
		p.last = make([]Span, 0, min(2*cap(p.last)+8, 1<<14))
	}
	p.last = append(p.last, s)
}

// joined returns the list, without spare room.
func (p *pieces) joined() []Span { return slices.Concat(append(p.full, p.last)...) }

// Ready returns the spans in which the measured requests waited for a processor, in order and disjoint; its callers
// share them.
func (c *Case) Ready() []Span {
	return slices.Clip(c.Once("ready", func() any {
		return c.Merged(c.SpansOf(timeline.CauseRunnable, func(*timeline.Request, *timeline.Segment) bool { return true }))
	}).([]Span))
}

// With returns the measured requests that have a segment of a cause, in order of id.
func (c *Case) With(cause timeline.Cause) []RequestID {
	return c.Once("by cause", func() any { return c.byCause() }).([][]RequestID)[cause]
}

func (c *Case) byCause() [][]RequestID {
	by, n := make([][]RequestID, timeline.NumCauses), [timeline.NumCauses]int{}
	for _, id := range c.measured {
		for set := c.Requests[id].Causes(); set != 0; set &= set - 1 {
			n[bits.TrailingZeros(set)]++
		}
	}
	for cause := range by {
		by[cause] = make([]RequestID, 0, n[cause])
	}
	for _, id := range c.measured {
		for set := c.Requests[id].Causes(); set != 0; set &= set - 1 {
			cause := bits.TrailingZeros(set)
			by[cause] = append(by[cause], id)
		}
	}
	return by
}

// Gaps returns the time of the measured requests that no segment accounts for, and
// the segments of unknown cause.
func (c *Case) Gaps() []Span {
	return slices.Clone(c.gaps())
}

func (c *Case) gaps() []Span {
	return c.Once("gaps", func() any { return c.findGaps() }).([]Span)
}

func (c *Case) findGaps() []Span {
	var out pieces
	for _, id := range c.measured {
		r := &c.Requests[id]
		at := r.Start
		for s := r.Segments(); s.Next(); {
			if s.From > at {
				out.add(Span{id, at, s.From})
			}
			if s.Cause == timeline.CauseUnknown {
				out.add(Span{id, s.From, s.To})
			}
			at = s.To
		}
		if r.End > at {
			out.add(Span{id, at, r.End})
		}
	}
	return out.joined()
}
