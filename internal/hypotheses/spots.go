package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// piece is own CPU time of a request around one sample of its stack.
type piece struct {
	diagnosis.Span
	stack timeline.StackID
}

// pieces collects those of some requests.
func (s *samples) pieces(ids []diagnosis.RequestID) (out []piece) {
	s.each(ids, func(span diagnosis.Span, stack timeline.StackID) { out = append(out, piece{span, stack}) })
	return out
}

// spot is a function of the service's own code, and the CPU time of requests whose
// samples have it innermost of its kind: what it calls in libraries counts to it.
type spot struct {
	name    string
	lines   map[recording.Frame]Duration
	time    Duration
	samples int
	walk    Duration // of time: in what goes through a collection item by item
	steps   int      // samples of that
	starts  int      // samples of what begins to
}

// spots sorts pieces by place.
type spots struct {
	list    []*spot // the one with the most time first
	all     Duration
	samples int
}

func spotsIn(c *diagnosis.Case, pieces []piece) (s spots) {
	index := map[string]*spot{}
	for _, p := range pieces {
		d := p.To.Sub(p.From)
		s.all += d
		s.samples++
		f, walk := ownSite(c, p.stack)
		name := c.FrameName(f)
		if name == "" {
			continue
		}
		at := index[name]
		if at == nil {
			at = &spot{name: name, lines: map[recording.Frame]Duration{}}
			index[name] = at
			s.list = append(s.list, at)
		}
		at.lines[f] += d
		at.time += d
		at.samples++
		switch walk {
		case timeline.WalkStep:
			at.walk += d
			at.steps++
		case timeline.WalkStart:
			at.starts++
		}
	}
	slices.SortFunc(s.list, func(a, b *spot) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.name, b.name)) })
	return s
}

// ownSite returns the innermost frame of a stack that is the service's own code, and
// what the frames that it called do to a collection; if it has none, the innermost that
// is not the runtime's.
func ownSite(c *diagnosis.Case, id timeline.StackID) (recording.Frame, timeline.Walk) {
	walk := timeline.WalkNone
	for _, f := range c.StackFrames(id) {
		if w := timeline.WalkOf(f); w != timeline.WalkNone {
			walk = w
		} else if timeline.Application(f) {
			return f, walk
		}
	}
	f, _ := c.SiteOf(id)
	return f, walk
}

// place names a spot with the line at which most of its time is spent.
func (s *spot) place(c *diagnosis.Case) string {
	var best recording.Frame
	most := Duration(-1)
	for f, d := range s.lines {
		if d > most || d == most && f.ID < best.ID {
			best, most = f, d
		}
	}
	return c.PlaceName(best)
}

// first is where most of the time was spent; nil if there are too few samples to say.
func (s *spots) first() *spot {
	if s.samples < fewSamples || len(s.list) == 0 {
		return nil
	}
	return s.list[0]
}

// counted says what share of the samples a spot has, and within what bounds its share of
// the time lies.
func (s *spots) counted(at *spot) string {
	low, high := diagnosis.Interval95(int64(at.samples), int64(s.samples))
	share := diagnosis.ShareOf(int64(at.time), int64(s.all))
	return diagnosis.Percent(share) + " of it (" + diagnosis.Percent(low) + " to " + diagnosis.Percent(high) +
		" by " + diagnosis.Plural(s.samples, "sample") + ")"
}

// evidence lists where most of the time was spent.
func (s *spots) evidence(c *diagnosis.Case) (ev []diagnosis.Evidence) {
	if s.samples < fewSamples {
		return nil
	}
	for _, at := range s.list[:min(3, len(s.list))] {
		if part := diagnosis.ShareOf(int64(at.time), int64(s.all)); part >= diagnosis.Whole/20 {
			ev = append(ev, diagnosis.Part("of the sampled CPU time is in "+at.place(c), part))
		}
	}
	return ev
}

// per is the mean time of a spot in some requests, whose pieces s holds.
func (s *spots) per(name string, requests int) Duration {
	for _, at := range s.list {
		if at.name == name && requests > 0 {
			return at.time / Duration(requests)
		}
	}
	return 0
}
