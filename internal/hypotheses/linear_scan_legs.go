package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// leg is a part of a request, as divided by its calls to others.
type leg int8

// Legs; a request without calls is in the first one only.
const (
	legBefore leg = iota
	legAmid
	legAfter
	legs
)

// legAt returns a function that says in which leg a moment of a request is.
func legAt(c *diagnosis.Case, r *timeline.Request) func(diagnosis.Time) leg {
	first, last := r.End, r.Start
	for _, id := range r.Calls {
		first, last = min(first, c.Calls[id].Start), max(last, c.Calls[id].End)
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
	return c.Once("own cost by leg", func() any {
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

// part says which of an endpoint's requests, in order, are looked at.
type part int8

// Parts of requests. In the first half of calls, compilers and caches can hide that a leg grows. A collector that moves
// what is walked through next to each other makes each step of the walk shorter at once.
const (
	partAll       part = iota
	partLater          // the later half
	partCollected      // all, in stretches during which no collector stopped a process
	partsOfCalls       // how many there are
)

// of returns a part of some requests, in order, and how it is divided; nil: it is not.
func (p part) of(c *diagnosis.Case, ids []diagnosis.RequestID) (some []diagnosis.RequestID, split [][]diagnosis.RequestID) {
	switch p {
	case partLater:
		return ids[len(ids)/2:], nil
	case partCollected:
		if split = uncollected(c, ids); len(split) == 0 {
			return nil, nil
		}
		return slices.Concat(split...), split
	}
	return ids, nil
}

// uncollected returns the stretches of some requests, in order, between whose starts no collector stopped a process. A
// stretch must have at least half as many calls as show a trend.
func uncollected(c *diagnosis.Case, ids []diagnosis.RequestID) (out [][]diagnosis.RequestID) {
	from := 0
	cut := func(to int) {
		if 2*(to-from) >= scanCalls {
			out = append(out, ids[from:to])
		}
		from = to
	}
	for _, at := range stopTimes(c) {
		to, _ := slices.BinarySearchFunc(ids, at, func(id diagnosis.RequestID, t diagnosis.Time) int { return cmp.Compare(c.Requests[id].Start, t) })
		cut(max(from, to))
	}
	cut(len(ids))
	return out
}

// stopTimes returns when collectors began to stop processes, in order; endpoints share them.
func stopTimes(c *diagnosis.Case) []diagnosis.Time {
	return c.Once("times of the collector's stops", func() any {
		var at []diagnosis.Time
		for _, s := range stopsOf(c) {
			at = append(at, s.from)
		}
		slices.Sort(at)
		return at
	}).([]diagnosis.Time)
}

// onLeg is the leg of some requests that something is said about; nil: all of each of them.
type onLeg struct {
	leg  leg
	part part            // which of the requests
	rest diagnosis.Trend // what the same requests compute besides
}

// has returns a function that reports whether a moment of a request is on the leg.
func (l *onLeg) has(c *diagnosis.Case, r *timeline.Request) func(diagnosis.Time) bool {
	if l == nil {
		return func(diagnosis.Time) bool { return true }
	}
	at := legAt(c, r)
	return func(t diagnosis.Time) bool { return at(t) == l.leg }
}

// when says which leg is meant, after a request's name.
func (l *onLeg) when() string {
	if l == nil {
		return ""
	}
	return [...]string{" before it calls peers", " while it calls peers", " after its peers have answered"}[l.leg]
}

// counted says how many calls are meant.
func (l *onLeg) counted(calls int) string {
	n := diagnosis.Plural(calls, "request")
	switch {
	case l != nil && l.part == partLater:
		return "the last " + n
	case l != nil && l.part == partCollected:
		return n + ", each time until the next garbage collection"
	}
	return n
}

// besides says how much the rest of the same requests may have grown.
func (l *onLeg) besides() string {
	switch {
	case l == nil:
		return ""
	case l.rest.High <= 0:
		return " (their other computing does not grow)"
	}
	return " (their other computing grows by " + diagnosis.Percent(diagnosis.ShareOf(int64(l.rest.High), int64(l.rest.Start))) + " at most)"
}

// evidence is what was measured of the rest of the same requests.
func (l *onLeg) evidence() []diagnosis.Evidence {
	if l == nil {
		return nil
	}
	return []diagnosis.Evidence{
		diagnosis.NS("other own CPU of the first requests", l.rest.Start),
		diagnosis.NS("growth of the other own CPU at most", l.rest.High),
	}
}

// apart returns the leg of requests that grows most while the rest of the same requests does not. It takes the first
// part of the requests in which a leg does so; nil if there is none.
func (s *scanned) apart(c *diagnosis.Case) *scanned {
	all := callingAlike(c, s.whole)
	for is := range partsOfCalls {
		ids, split := is.of(c, all)
		if len(ids) < scanCalls {
			continue
		}
		var most *scanned
		for l := range legs {
			cost := legCost(c)[l]
			p := &scanned{of: s.of, order: s.order, whole: ids, split: split, cost: cost, all: s.all, moved: s.moved}
			p.trend = diagnosis.TrendOf(p.runs(func(id diagnosis.RequestID) Duration { return cost[id] })...)
			rest := diagnosis.TrendOf(p.runs(func(id diagnosis.RequestID) Duration { return s.cost[id] - cost[id] })...)
			p.on = &onLeg{leg: l, part: is, rest: rest}
			if p.growsApart() && (most == nil || p.trend.Change > most.trend.Change) {
				most = p
			}
		}
		if most != nil {
			most.list = sampledOn(c, most.on, s.order)
			most.spots = spotsIn(c, most.list)
			return most
		}
	}
	return nil
}

// callingAlike returns the requests with the usual number of calls, in order, if three quarters have it. In the others
// the same work would be on another leg.
func callingAlike(c *diagnosis.Case, ids []diagnosis.RequestID) (same []diagnosis.RequestID) {
	n := map[int]int{}
	usual := 0
	for _, id := range ids {
		calls := len(c.Requests[id].Calls)
		n[calls]++
		if n[calls] > n[usual] {
			usual = calls
		}
	}
	if usual == 0 || 4*n[usual] < 3*len(ids) {
		return nil
	}
	for _, id := range ids {
		if len(c.Requests[id].Calls) == usual {
			same = append(same, id)
		}
	}
	return same
}

// growsApart reports whether a leg grows, in proportion by a quarter more than the rest of the same requests may have
// grown: processors that become slower slow both. Nor may the rest have shrunk by as much: then work would only have
// moved.
func (s *scanned) growsApart() bool {
	share := func(d, of Duration) diagnosis.Share { return diagnosis.ShareOf(int64(d), int64(max(of, scanTiny))) }
	rest := &s.on.rest
	return s.grows() && rest.Start >= scanTiny && rest.Low > -s.trend.Change &&
		share(s.trend.Low, s.trend.Start)-max(0, share(rest.High, rest.Start)) >= diagnosis.Whole/scanRise
}

// sampledOn returns the samples of what some requests computed on a leg.
func sampledOn(c *diagnosis.Case, on *onLeg, ids []diagnosis.RequestID) (list []sampling) {
	newSamples(c).each(ids, func(span diagnosis.Span, stack timeline.StackID) {
		if on.has(c, &c.Requests[span.Request])(span.From) {
			list = append(list, sampling{span.Request, stack})
		}
	})
	return list
}
