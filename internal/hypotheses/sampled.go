package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// samples are the stacks of what ran, for visits to requests' own CPU.
type samples struct {
	c  *diagnosis.Case
	of map[timeline.StrandID][]timeline.StackAt // goroutines': in order of time
}

// newSamples collects the samples of goroutines from the threads that ran them.
func newSamples(c *diagnosis.Case) *samples {
	s := &samples{c, map[timeline.StrandID][]timeline.StackAt{}}
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

// each visits the pieces of some requests' own CPU around each sample of a stack that
// was taken in them.
func (s *samples) each(ids []diagnosis.RequestID, visit func(diagnosis.Span, timeline.StackID)) {
	if len(s.c.Stacks) == 0 {
		return
	}
	for _, id := range ids {
		r := &s.c.Requests[id]
		for i := range r.Segments {
			if g := &r.Segments[i]; ownCPU(g) && g.Strand != timeline.None {
				s.in(g.Strand, diagnosis.Span{Request: id, From: g.From, To: g.To}, visit)
			}
		}
	}
}

// in cuts a span on a CPU half-way between the samples that were taken in it; without
// any there is nothing to visit.
func (s *samples) in(strand timeline.StrandID, span diagnosis.Span, visit func(diagnosis.Span, timeline.StackID)) {
	list := s.c.StacksIn(strand, span.From, span.To)
	if s.c.Strands[strand].Goroutine != recording.NoGoroutine {
		list = between(s.of[strand], span.From, span.To)
	}
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

// share is a place in code with its share of what was sampled.
type share struct {
	name string
	part diagnosis.Share
}

// frames adds up where in the code sampled time was spent.
type frames struct {
	at      tally
	all     Duration
	samples int
}

func (f *frames) add(c *diagnosis.Case, span diagnosis.Span, stack timeline.StackID) {
	if f.at == nil {
		f.at = tally{}
	}
	d := span.To.Sub(span.From)
	f.at[site(c, stack)] += d
	f.all += d
	f.samples++
}

// top returns the places where most of it was spent; none if there are too few samples
// to say.
func (f *frames) top(most int) (top []share) {
	if f.samples < fewSamples {
		return nil
	}
	for name, d := range f.at {
		if part := diagnosis.ShareOf(int64(d), int64(f.all)); name != "" && part >= diagnosis.Whole/20 {
			top = append(top, share{name, part})
		}
	}
	slices.SortFunc(top, func(a, b share) int { return cmp.Or(cmp.Compare(b.part, a.part), cmp.Compare(a.name, b.name)) })
	return top[:min(len(top), most)]
}

// mostly says where most of it was spent; "" if that is not known.
func (f *frames) mostly() string {
	top := f.top(1)
	if top == nil {
		return ""
	}
	return top[0].name + " (" + diagnosis.Percent(top[0].part) + " of samples)"
}

// evidence lists where most of it was spent.
func (f *frames) evidence() (ev []diagnosis.Evidence) {
	for _, t := range f.top(3) {
		ev = append(ev, diagnosis.Part("of the sampled CPU time is in "+t.name, t.part))
	}
	return ev
}

// fewSamples is under how many samples no code is named.
const fewSamples = 10
