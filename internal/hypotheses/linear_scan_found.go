package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

const scanFix = "use an index or a map instead of a walk; bound how much is kept; if the items are ordered, search by halves and stop early"

// growing is the candidate for CPU time that grows.
func (s *scanned) growing(c *diagnosis.Case) *diagnosis.Candidate {
	t := &s.trend
	title := "The CPU time of " + s.endpoint() + s.on.when() + " grows with each request, from " + diagnosis.Human(max(0, t.Start)) + " to " + diagnosis.Human(t.Start+t.Change) +
		" over " + s.on.counted(len(s.whole)) + s.on.besides()
	name := s.grower(c)
	located, where := name != "", ", at least four fifths of that in and beneath "
	if most := s.spots.first(); (name == "" || s.on != nil) && most != nil && 2*most.samples >= s.spots.samples {
		name, where = most.name, "; most of that time is in "
	}
	cd := s.candidate(c, name, s.order)
	if cd.Place != "" {
		title += where + cd.Place
	} else {
		cd.Place = s.endpoint()
		cd.Next = "profile the service (" + profilers(c, s.of) + ") early and late in its life: too few stacks were sampled to name the code"
	}
	cd.Title = title + ": it searches item by item, and there are more items each time"
	if !located && s.on == nil && t.Low < scanSlowed*t.Start {
		cd.Title = title + ": it searches item by item, or the processors became slower meanwhile"
		cd.Decide = "record longer, or under more load: with enough sampled stacks dwell names the code that grows; slower processors would slow all code alike"
	}
	return cd
}

// walking is the candidate for walks through a collection.
func (s *scanned) walking(c *diagnosis.Case, at *spot, varies bool) *diagnosis.Candidate {
	cd := s.candidate(c, at.name, s.byCost(s.order))
	cd.Place = at.place(c)
	cd.Title = s.endpoint() + " walks through a collection item by item, and spends " + s.spots.counted(c, at, "its CPU time")
	low, high := s.tenths()
	cd.Evidence = append([]diagnosis.Evidence{
		diagnosis.Part("of its CPU time is in "+cd.Place, s.spots.share(at.name)).Against(int64(diagnosis.Whole / 2)),
		diagnosis.Part("of its CPU time is spent going on to the next item", diagnosis.ShareOf(int64(at.steps), int64(s.spots.samples))).Against(int64(diagnosis.Whole / 2)),
		diagnosis.Count("samples that go on to the next item", at.steps).Against(fewSamples),
		diagnosis.Count("samples that begin a walk", at.starts),
		diagnosis.NS("p10 of a request's own CPU", low), diagnosis.NS("p90 of a request's own CPU", high),
	}, cd.Evidence...)
	if varies {
		cd.Title += "; depending on how much there is to walk through, a request takes from " + diagnosis.Human(low) + " to " + diagnosis.Human(high)
	} else {
		cd.Title += "; the size of the collection did not change meanwhile"
		cd.Decide = "record again with more or less data: dwell diff shows whether this time grows with it"
	}
	return cd
}

// candidate takes out what requests compute beneath a function, by its share of the samples in each quarter of an
// order, and what requests wait meanwhile.
func (s *scanned) candidate(c *diagnosis.Case, name string, order []diagnosis.RequestID) *diagnosis.Candidate {
	cd := &diagnosis.Candidate{
		Fix: scanFix, Next: "dwell show REC --tree shows what it walks through", Evidence: s.evidence(),
		Lead: s.lead(), AtLeast: true,
	}
	in := newBeneath(c, func(f recording.Frame) bool { return symbol.Application(f) && symbol.Name(f) == name })
	share := s.since
	if name != "" {
		cd.Place = s.line(c, in)
		share = s.quarters(in, order)
	}
	for i := range c.Requests {
		r := &c.Requests[i]
		if r.Measured() && (s.of.Endpoint == "" || r.Endpoint == s.of.Endpoint) {
			part, on := share(diagnosis.RequestID(i)), s.on.has(c, r)
			for g := r.Segments(); g.Next(); {
				if ownCPU(&g.Segment) && on(g.From) {
					cd.Spans = append(cd.Spans, leading(r.ID, &g.Segment, part)...)
				}
			}
		}
	}
	if name != "" {
		cd.Spans = append(cd.Spans, queuedBehind(c, in.has)...)
	}
	return cd
}

// since returns the share of a request's own CPU by which it computes more than one at the beginning of the recording
// would, on the line through the requests that are looked at.
func (s *scanned) since(id diagnosis.RequestID) diagnosis.Share {
	at := func(id diagnosis.RequestID) int64 {
		i, _ := slices.BinarySearch(s.order, id)
		return int64(i)
	}
	long := slices.MaxFunc(s.stretches(), func(a, b []diagnosis.RequestID) int { return cmp.Compare(len(a), len(b)) })
	grown := int64(s.trend.Change) * at(id) / max(1, at(long[len(long)-1])-at(long[0]))
	return diagnosis.ShareOf(grown, max(grown, int64(s.cost[id])))
}

// leading returns a part of a segment, from its beginning.
func leading(of timeline.RequestID, g *timeline.Segment, part diagnosis.Share) []diagnosis.Span {
	if d := part.Of(g.To.Sub(g.From)); d > 0 {
		return []diagnosis.Span{{Request: of, From: g.From, To: g.From + diagnosis.Time(d)}}
	}
	return nil
}

// line names the line of a function that has the most samples.
func (s *scanned) line(c *diagnosis.Case, in *beneath) string {
	at := spot{lines: map[recording.Frame]int{}}
	for _, p := range s.list {
		for _, f := range c.StackFrames(p.stack) {
			if in.is(f) {
				at.lines[f]++
				break
			}
		}
	}
	return at.place(c)
}

// quarters returns the share of own CPU beneath a function: of the requests in the same quarter of an order, or of all
// if those have too few samples.
func (s *scanned) quarters(in *beneath, order []diagnosis.RequestID) func(diagnosis.RequestID) diagnosis.Share {
	const of = 4
	quarter := map[diagnosis.RequestID]int{}
	for i, id := range order {
		quarter[id] = i * of / len(order)
	}
	var under, all [of + 1]int
	for _, p := range s.list {
		q := quarter[p.request]
		all[q]++
		all[of]++
		if in.has(p.stack) {
			under[q]++
			under[of]++
		}
	}
	return func(id diagnosis.RequestID) diagnosis.Share {
		q := quarter[id]
		if all[q] < fewSamples {
			q = of
		}
		return diagnosis.ShareOf(int64(under[q]), int64(all[q]))
	}
}

// queuedSamples is how many samples of a process, around a wait for a processor, show what the processors worked on
// meanwhile. Fewer show nothing.
const queuedSamples = 20

// works holds the samples of one process, whatever it computed, in order of time.
type works struct {
	at    []diagnosis.Time
	under []int // how many of those before are of the stacks that are looked for
}

// queuedBehind returns what requests wait less for a processor, or for their interpreter, if nothing is computed in
// some stacks: the share of those in what their process computed meanwhile. Threads wait for processors that other
// programs have, too; goroutines that wait in their own runtime's queue do not.
func queuedBehind(c *diagnosis.Case, in func(timeline.StackID) bool) (out []diagnosis.Span) {
	by := map[recording.ProcessID]*works{}
	front, _ := inFront(c)
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		for g := r.Segments(); g.Next(); {
			if g.Cause != timeline.CauseRunnable && g.Cause != timeline.CauseInterpreterLock {
				continue
			}
			w := by[r.Process]
			if w == nil {
				w = worksOf(c, r.Process, in)
				by[r.Process] = w
			}
			part := w.share(g.From, g.To)
			if g.Cause == timeline.CauseRunnable && ofThread(c, &g.Segment) {
				part = diagnosis.Share(front.Of(Duration(part)))
			}
			out = append(out, leading(id, &g.Segment, part)...)
		}
	}
	return out
}

func worksOf(c *diagnosis.Case, p recording.ProcessID, in func(timeline.StackID) bool) *works {
	type sample struct {
		at    diagnosis.Time
		under bool
	}
	var list []sample
	for i := range c.Strands {
		if st := &c.Strands[i]; st.Process == p {
			for _, a := range st.Stacks {
				if a.Origin == recording.StackOnCPU {
					list = append(list, sample{a.Time, in(a.Stack)})
				}
			}
		}
	}
	if len(list) < queuedSamples {
		list = nil
	}
	slices.SortStableFunc(list, func(a, b sample) int { return cmp.Compare(a.at, b.at) })
	w := &works{under: []int{0}}
	for _, s := range list {
		n := w.under[len(w.under)-1]
		if s.under {
			n++
		}
		w.at, w.under = append(w.at, s.at), append(w.under, n)
	}
	return w
}

// share returns which part of the samples in a span, or next to it if those are few, is of the stacks.
func (w *works) share(from, to diagnosis.Time) diagnosis.Share {
	i, _ := slices.BinarySearch(w.at, from)
	n, _ := slices.BinarySearch(w.at, to)
	n = max(i, n)
	if more := queuedSamples - (n - i); more > 0 {
		i, n = max(0, i-(more+1)/2), min(len(w.at), n+(more+1)/2)
	}
	return diagnosis.ShareOf(int64(w.under[n]-w.under[i]), int64(n-i))
}
