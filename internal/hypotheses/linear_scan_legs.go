package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// leg is a part of a request, as its calls to others divide it.
type leg int8

// Legs; of a request without calls all is the first.
const (
	legBefore leg = iota
	legAmid
	legAfter
	legs
)

func (l leg) String() string {
	return [...]string{"before it calls peers", "while it calls peers", "after its peers have answered"}[l]
}

// legAt returns which legs the moments of a request are in.
func legAt(c *diagnosis.Case, r *timeline.Request) func(diagnosis.Time) leg {
	first, last := r.End, r.End
	for i, id := range r.Calls {
		call := &c.Calls[id]
		if i == 0 {
			first, last = call.Start, call.End
		}
		first, last = min(first, call.Start), max(last, call.End)
	}
	return func(at diagnosis.Time) leg {
		switch {
		case at < first:
			return legBefore
		case at < last:
			return legAmid
		}
		return legAfter
	}
}

// legCost sums each request's own CPU time by leg; endpoints share it.
func legCost(c *diagnosis.Case) *[legs][]Duration {
	return c.Shared("own cost by leg", func() any {
		var cost [legs][]Duration
		for l := range cost {
			cost[l] = make([]Duration, len(c.Requests))
		}
		for i := range c.Requests {
			at := legAt(c, &c.Requests[i])
			for g := c.Requests[i].Segments(); g.Next(); {
				if ownCPU(&g.Segment) {
					cost[at(g.From)][i] += g.To.Sub(g.From)
				}
			}
		}
		return &cost
	}).(*[legs][]Duration)
}

// apart returns the leg of requests that grows where the rest of the same requests does not; nil,
// if there is none. What compilers and caches do for the first half of calls can hide it there:
// the second half is looked at by itself, too.
func (s *scanned) apart(c *diagnosis.Case) *scanned {
	ids := s.alike(c)
	if p := s.mostApart(c, ids); p != nil {
		return p
	}
	p := s.mostApart(c, ids[len(ids)/2:])
	if p != nil {
		p.late = true
	}
	return p
}

// mostApart is the leg of some requests that grows most where the rest of them does not.
func (s *scanned) mostApart(c *diagnosis.Case, ids []diagnosis.RequestID) (most *scanned) {
	for l := range legs {
		if len(ids) < scanCalls {
			break
		}
		if p := s.onLeg(c, l, ids); p.growsApart() && (most == nil || p.trend.Change > most.trend.Change) {
			most = p
		}
	}
	if most != nil {
		most.sample(c)
	}
	return most
}

// alike are the requests with the usual number of calls, in order, if they are most: of others
// what is computed would be in another leg.
func (s *scanned) alike(c *diagnosis.Case) (ids []diagnosis.RequestID) {
	n := map[int]int{}
	usual := 0
	for _, id := range s.whole {
		calls := len(c.Requests[id].Calls)
		n[calls]++
		if n[calls] > n[usual] {
			usual = calls
		}
	}
	if usual == 0 || 4*n[usual] < 3*len(s.whole) {
		return nil
	}
	for _, id := range s.whole {
		if len(c.Requests[id].Calls) == usual {
			ids = append(ids, id)
		}
	}
	return ids
}

// onLeg is what one leg of some requests says.
func (s *scanned) onLeg(c *diagnosis.Case, l leg, ids []diagnosis.RequestID) *scanned {
	cost := legCost(c)[l]
	p := &scanned{of: s.of, order: s.order, whole: ids, cost: cost, all: s.all, moved: s.moved, leg: &l}
	p.trend = diagnosis.TrendOf(p.runs(func(id diagnosis.RequestID) Duration { return cost[id] }))
	p.rest = diagnosis.TrendOf(p.runs(func(id diagnosis.RequestID) Duration { return s.cost[id] - cost[id] }))
	return p
}

// growsApart reports that a leg grows, in proportion by a quarter more than the rest of the same
// requests may: processors that become slower slow both. Nor may the rest have become less by as
// much: then what is computed would only have moved.
func (s *scanned) growsApart() bool {
	share := func(d, of Duration) diagnosis.Share { return diagnosis.ShareOf(int64(d), int64(max(of, scanTiny))) }
	return s.grows() && s.rest.Start >= scanTiny && s.rest.Low > -s.trend.Change &&
		share(s.trend.Low, s.trend.Start)-max(0, share(s.rest.High, s.rest.Start)) >= diagnosis.Whole/scanRise
}

// sample keeps what was sampled on the leg.
func (s *scanned) sample(c *diagnosis.Case) {
	newSamples(c).each(s.order, func(span diagnosis.Span, stack timeline.StackID) {
		if legAt(c, &c.Requests[span.Request])(span.From) == *s.leg {
			s.list = append(s.list, sampling{span.Request, stack})
		}
	})
	s.spots = spotsIn(c, s.list)
}
