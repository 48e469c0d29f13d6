package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// sampling is one sample of what a request computed. Each stands for the same CPU time, however long the piece is in
// which it was taken.
type sampling struct {
	request diagnosis.RequestID
	stack   timeline.StackID
}

// list collects the samples of some requests.
func (s *samples) list(ids []diagnosis.RequestID) (out []sampling) {
	s.each(ids, func(span diagnosis.Span, stack timeline.StackID) { out = append(out, sampling{span.Request, stack}) })
	return out
}

// spot is a function of the service's own code, with the samples in which it is the innermost such function: what it
// calls in libraries counts to it.
type spot struct {
	name    string
	lines   map[recording.Frame]int
	samples int
	steps   int // of them: in code that goes through a collection item by item
	starts  int // of them: in code that begins to
}

// spots sorts samples by place.
type spots struct {
	list    []*spot // the one with the most samples first
	samples int
}

func spotsIn(c *diagnosis.Case, list []sampling) (s spots) {
	index := map[string]*spot{}
	for _, p := range list {
		s.samples++
		own := ownSite(c, p.stack)
		if own.name == "" {
			continue
		}
		at := index[own.name]
		if at == nil {
			at = &spot{name: own.name, lines: map[recording.Frame]int{}}
			index[own.name] = at
			s.list = append(s.list, at)
		}
		at.lines[own.frame]++
		at.samples++
		switch own.walk {
		case symbol.WalkStep:
			at.steps++
		case symbol.WalkStart:
			at.starts++
		}
	}
	slices.SortFunc(s.list, func(a, b *spot) int { return cmp.Or(cmp.Compare(b.samples, a.samples), cmp.Compare(a.name, b.name)) })
	return s
}

// ownPlace is where the service's own code is on a stack.
type ownPlace struct {
	frame recording.Frame
	name  string      // of frame; "": there is none
	walk  symbol.Walk // what the frames that it called do to a collection
}

// ownSite returns the innermost frame of a stack that is the service's own code. If it has none, it is the innermost
// that is not the runtime's; if that is native code, it is the innermost function in the service's language. Many
// samples share a stack, so each is searched once.
func ownSite(c *diagnosis.Case, id timeline.StackID) ownPlace {
	known := c.Shared("own sites", func() any { return map[timeline.StackID]ownPlace{} }).(map[timeline.StackID]ownPlace)
	own, ok := known[id]
	if !ok {
		own = findOwnSite(c, id)
		own.name = symbol.Name(own.frame)
		known[id] = own
	}
	return own
}

func findOwnSite(c *diagnosis.Case, id timeline.StackID) (own ownPlace) {
	var library *recording.Frame
	for _, f := range c.StackFrames(id) {
		if library == nil && symbol.Managed(f) && !symbol.Glue(f) {
			library = &f
		}
		if w := symbol.WalkOf(f); w != symbol.WalkNone {
			own.walk = w
		} else if symbol.Application(f) {
			own.frame = f
			return own
		}
	}
	if own.frame, _ = c.SiteOf(id); library != nil && !symbol.Managed(own.frame) {
		own.frame = *library
	}
	return own
}

// place names a spot, with the line that most of its samples have.
func (s *spot) place(c *diagnosis.Case) string {
	var best recording.Frame
	most := 0
	for f, n := range s.lines {
		if n > most || n == most && f.ID < best.ID {
			best, most = f, n
		}
	}
	return symbol.Place(best)
}

// first returns the spot in which most of the time was spent; nil if there are too few samples to say, or as many in
// another.
func (s *spots) first() *spot {
	if s.samples < fewSamples || len(s.list) == 0 || len(s.list) > 1 && s.list[1].samples == s.list[0].samples {
		return nil
	}
	return s.list[0]
}

// counted says which share of something the samples give a spot, where that is, and within which bounds its share of
// the time lies.
func (s *spots) counted(c *diagnosis.Case, at *spot, of string) string {
	low, high := diagnosis.Interval95(int64(at.samples), int64(s.samples))
	return diagnosis.Percent(s.share(at.name)) + " of " + of + " in " + at.place(c) + " (" + diagnosis.Plural(s.samples, "sample") + ": " +
		diagnosis.Percent(low) + " to " + diagnosis.Percent(high) + ")"
}

// evidence lists where most of the time was spent.
func (s *spots) evidence(c *diagnosis.Case) (ev []diagnosis.Evidence) {
	if s.samples < fewSamples {
		return nil
	}
	for _, at := range s.list[:min(3, len(s.list))] {
		if part := s.share(at.name); part >= diagnosis.Whole/20 {
			ev = append(ev, diagnosis.Part("of the sampled CPU time is in "+at.place(c), part))
		}
	}
	return ev
}

// share is the share of a place.
func (s *spots) share(name string) diagnosis.Share {
	for _, at := range s.list {
		if at.name == name {
			return diagnosis.ShareOf(int64(at.samples), int64(s.samples))
		}
	}
	return 0
}
