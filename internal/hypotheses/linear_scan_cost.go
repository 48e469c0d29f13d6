package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

func scanOf(c *diagnosis.Case, of *diagnosis.Symptom, cost []Duration, sampled *samples) *scanned {
	s := &scanned{of: of, order: of.ByID(), cost: cost}
	hidden := hiddenCost(c)
	for _, id := range s.order {
		s.all += cost[id]
		if hidden[id] <= max(scanTiny, cost[id]/scanRise) {
			s.whole = append(s.whole, id)
		}
	}
	s.trend = diagnosis.TrendOf(s.runs(func(id diagnosis.RequestID) Duration { return cost[id] })...)
	s.list = sampled.list(s.order)
	s.spots = spotsIn(c, s.list)
	flying := inFlight(c)
	inflight := diagnosis.TrendOf(s.runs(func(id diagnosis.RequestID) Duration { return 1000 * Duration(flying[id]) })...)
	s.moved = inflight.Agree >= diagnosis.Whole/2
	return s
}

// hiddenCost is how much of each request's time may have been spent computing unseen; its callers share it.
func hiddenCost(c *diagnosis.Case) []Duration {
	return c.Once("hidden cost", func() any { return costOf(c, c.Gaps()) }).([]Duration)
}

// stretches returns the calls that are looked at, divided where their cost may jump.
func (s *scanned) stretches() [][]diagnosis.RequestID {
	if s.split != nil {
		return s.split
	}
	return [][]diagnosis.RequestID{s.whole}
}

// runs returns, for each stretch, the medians of a quantity over runs of consecutive calls, by the number of calls so
// far.
func (s *scanned) runs(of func(diagnosis.RequestID) Duration) (out [][]diagnosis.Point) {
	for _, ids := range s.stretches() {
		n := len(ids)
		bins := min(scanBins, n/scanRun)
		var points []diagnosis.Point
		for b := range bins {
			from, to := b*n/bins, (b+1)*n/bins
			list := make([]Duration, 0, to-from)
			for _, id := range ids[from:to] {
				list = append(list, of(id))
			}
			diagnosis.Sort(list)
			points = append(points, diagnosis.Point{X: int64(from+to) / 2, Y: diagnosis.Quantile(list, 50)})
		}
		out = append(out, points)
	}
	return out
}

// byCost sorts requests, the cheapest first.
func (s *scanned) byCost(ids []diagnosis.RequestID) []diagnosis.RequestID {
	by := slices.Clone(ids)
	slices.SortStableFunc(by, func(a, b diagnosis.RequestID) int { return cmp.Compare(s.cost[a], s.cost[b]) })
	return by
}

// tenths returns what a tenth of calls takes less than, and what a tenth takes more than.
func (s *scanned) tenths() (low, high Duration) {
	by := s.byCost(s.whole)
	if n := len(by); n > 0 {
		low, high = s.cost[by[n/10]], s.cost[by[n-1-n/10]]
	}
	return low, high
}

// varies reports whether requests differ by how long they walk, and by little else: the more expensive half of them
// does the same at the same place, for longer.
func (s *scanned) varies(c *diagnosis.Case, walk *spot) bool {
	by := s.byCost(s.whole)
	n := len(by)
	if low, high := s.tenths(); n < scanCalls/2 || high < 2*low || high-low < 5*scanTiny {
		return false
	}
	rank := map[diagnosis.RequestID]int{}
	for i, id := range by {
		rank[id] = i
	}
	var cheaper, dearer []sampling
	for _, p := range s.list {
		if i, ok := rank[p.request]; ok && i >= n/2 {
			dearer = append(dearer, p)
		} else if ok {
			cheaper = append(cheaper, p)
		}
	}
	a, b := spotsIn(c, cheaper), spotsIn(c, dearer)
	if b.samples < fewSamples {
		return false
	}
	lo, hi := s.mean(by[:n/2]), s.mean(by[n/2:])
	inWalk := b.share(walk.name).Of(hi) - a.share(walk.name).Of(lo)
	return 10*inWalk >= 8*(hi-lo)
}

// beneath reports for every stack whether one of some functions is on it.
type beneath struct {
	c    *diagnosis.Case
	is   func(recording.Frame) bool
	seen map[timeline.StackID]bool
}

func newBeneath(c *diagnosis.Case, is func(recording.Frame) bool) *beneath {
	return &beneath{c, is, map[timeline.StackID]bool{}}
}

func (b *beneath) has(id timeline.StackID) bool {
	if id == timeline.None {
		return false
	}
	in, ok := b.seen[id]
	if !ok {
		for _, f := range b.c.StackFrames(id) {
			if in = b.is(f); in {
				break
			}
		}
		b.seen[id] = in
	}
	return in
}

// thirdsOf returns in which third of its stretch each call is, from 1 to 3.
func thirdsOf(stretches [][]diagnosis.RequestID) map[diagnosis.RequestID]int {
	of := map[diagnosis.RequestID]int{}
	for _, ids := range stretches {
		third := len(ids) / 3
		for i, id := range ids {
			switch {
			case i < third:
				of[id] = 1
			case i < len(ids)-third:
				of[id] = 2
			default:
				of[id] = 3
			}
		}
	}
	return of
}

// grower finds the innermost function of the service's own code beneath which at least four fifths of the growth lies.
// The growth is the samples of the last third of calls less those of the first, of each stretch; "" if that is not
// known.
func (s *scanned) grower(c *diagnosis.Case) string {
	thirds := thirdsOf(s.stretches())
	type sum struct{ early, late, depth int }
	sums := map[string]*sum{}
	var all sum
	for _, p := range s.list {
		third := thirds[p.request]
		switch third {
		case 1:
			all.early++
		case 3:
			all.late++
		default:
			continue
		}
		counted := map[string]bool{}
		for depth, f := range c.StackFrames(p.stack) {
			name := symbol.Name(f)
			if !symbol.Application(f) || counted[name] {
				continue
			}
			counted[name] = true
			at := sums[name]
			if at == nil {
				at = &sum{}
				sums[name] = at
			}
			if third == 3 {
				at.late++
				at.depth += depth
			} else {
				at.early++
			}
		}
	}
	if all.late < fewSamples {
		return ""
	}
	best, by := "", sum{}
	for name, at := range sums {
		if 10*(at.late-at.early) < 8*(all.late-all.early) {
			continue
		}
		if best == "" || cmp.Or(cmp.Compare(at.late, by.late), cmp.Compare(at.depth, by.depth), cmp.Compare(name, best)) < 0 {
			best, by = name, *at
		}
	}
	return best
}
