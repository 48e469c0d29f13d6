package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// samples holds the stacks of what ran, for visits to requests' own CPU.
type samples struct {
	c     *diagnosis.Case
	of    map[timeline.StrandID][]timeline.StackAt // of goroutines: in order of time
	while []bool                                   // by request: whether what ran was sampled meanwhile
}

// newSamples returns the samples of a case; its callers share them.
func newSamples(c *diagnosis.Case) *samples {
	return c.Shared("samples", func() any { return collectSamples(c) }).(*samples)
}

// collectSamples collects the samples of goroutines from the threads that ran them.
func collectSamples(c *diagnosis.Case) *samples {
	s := &samples{c: c, of: map[timeline.StrandID][]timeline.StackAt{}, while: make([]bool, len(c.Requests))}
	var all []diagnosis.Time
	for i := range c.Strands {
		for _, a := range c.Strands[i].Stacks {
			if a.Origin == recording.StackOnCPU {
				all = append(all, a.Time)
			}
		}
	}
	slices.Sort(all)
	for i := range c.Requests {
		r := &c.Requests[i]
		for len(all) > 0 && all[0] < r.Start {
			all = all[1:]
		}
		s.while[i] = len(all) > 0 && all[0] < r.End
	}
	type key struct {
		process   recording.ProcessID
		goroutine recording.GoroutineID
	}
	ids := map[key]timeline.StrandID{}
	for i := range c.Strands {
		if st := &c.Strands[i]; st.Goroutine != recording.NoGoroutine {
			ids[key{st.Process, st.Goroutine}] = timeline.StrandID(i)
		}
	}
	if len(ids) == 0 {
		return s
	}
	for i := range c.Strands {
		st := &c.Strands[i]
		for _, a := range st.Stacks {
			if id, ok := ids[key{st.Process, a.Goroutine}]; ok && a.Goroutine != recording.NoGoroutine && a.Origin == recording.StackOnCPU {
				s.of[id] = append(s.of[id], a)
			}
		}
	}
	for _, list := range s.of {
		slices.SortStableFunc(list, func(a, b timeline.StackAt) int { return cmp.Compare(a.Time, b.Time) })
	}
	return s
}

// each visits the pieces of some requests' own CPU, one around each sample of a stack that was taken in them.
func (s *samples) each(ids []diagnosis.RequestID, visit func(diagnosis.Span, timeline.StackID)) {
	if len(s.c.Stacks) == 0 {
		return
	}
	for _, id := range ids {
		if !s.while[id] {
			continue
		}
		for g := s.c.Requests[id].Segments(); g.Next(); {
			if ownCPU(&g.Segment) && g.Strand != timeline.None {
				s.in(g.Strand, diagnosis.Span{Request: id, From: g.From, To: g.To}, visit)
			}
		}
	}
}

// eachRun visits the pieces of some requests' own CPU around each sample, as far as their strands ran on, or only
// waited for a processor in between. If work is cut into pieces that are shorter than the clock's period, few have a
// sample of their own. first marks a sample's first piece.
func (s *samples) eachRun(ids []diagnosis.RequestID, visit func(piece diagnosis.Span, stack timeline.StackID, first bool)) {
	if len(s.c.Stacks) == 0 {
		return
	}
	var run []diagnosis.Span
	for _, id := range ids {
		if !s.while[id] {
			continue
		}
		strand, at := timeline.StrandID(timeline.None), diagnosis.Time(0)
		for g := s.c.Requests[id].Segments(); g.Next(); {
			own := ownCPU(&g.Segment)
			if g.Strand != strand || g.From != at || !own && g.Cause != timeline.CauseRunnable {
				s.inRun(strand, run, visit)
				run, strand = run[:0], g.Strand
			}
			if at = g.To; own {
				run = append(run, diagnosis.Span{Request: id, From: g.From, To: g.To})
			}
		}
		s.inRun(strand, run, visit)
		run = run[:0]
	}
}

// inRun visits the pieces of what a strand ran around each sample.
func (s *samples) inRun(strand timeline.StrandID, run []diagnosis.Span, visit func(diagnosis.Span, timeline.StackID, bool)) {
	if len(run) == 0 || strand == timeline.None {
		return
	}
	s.in(strand, diagnosis.Span{Request: run[0].Request, From: run[0].From, To: run[len(run)-1].To}, func(around diagnosis.Span, stack timeline.StackID) {
		first := true
		for _, r := range run {
			if r.From, r.To = max(r.From, around.From), min(r.To, around.To); r.From < r.To {
				visit(r, stack, first)
				first = false
			}
		}
	})
}

// in cuts a span on a CPU half-way between the samples that were taken in it. Without any there is nothing to visit.
func (s *samples) in(strand timeline.StrandID, span diagnosis.Span, visit func(diagnosis.Span, timeline.StackID)) {
	st := &s.c.Strands[strand]
	list := st.Stacks
	if st.Goroutine != recording.NoGoroutine {
		list = s.of[strand]
	}
	if len(list) == 0 {
		return
	}
	list = between(list, span.From, span.To)
	piece, last := span, timeline.StackAt{Stack: timeline.None}
	for _, a := range list {
		if a.Origin != recording.StackOnCPU {
			continue
		}
		if last.Stack != timeline.None {
			piece.To = last.Time + (a.Time-last.Time)/2
			visit(piece, last.Stack)
			piece.From = piece.To
		}
		last = a
	}
	if piece.To = span.To; last.Stack != timeline.None {
		visit(piece, last.Stack)
	}
}

// between returns the samples within a span.
func between(list []timeline.StackAt, from, to diagnosis.Time) []timeline.StackAt {
	before := func(a timeline.StackAt, t diagnosis.Time) int { return cmp.Compare(a.Time, t) }
	i, _ := slices.BinarySearchFunc(list, from, before)
	n, _ := slices.BinarySearchFunc(list, to, before)
	return list[i:max(i, n)]
}

// fewSamples: with fewer samples no code is named.
const fewSamples = 10
