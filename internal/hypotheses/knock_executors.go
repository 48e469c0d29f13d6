package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// errand is a request's wait for a thread of an executor, which then works for it.
type errand struct {
	stay
	takes  Duration // how long the thread is busy before it takes the next one; 0: not known
	waited Duration // the wait as replayed
}

// executor is a pool of threads, known by their names, and its errands in order of time. An errand that nobody waited
// for has no length.
type executor struct {
	errands []errand
	threads int
}

// executorsFree returns what requests wait less for the threads of executors that are spared something. The tasks of
// each executor are replayed through its threads, as they were and without what is spared. Every recorded wait shrinks
// in that proportion, but at least by the time in which its thread did what is spared. Of tasks that belong to no
// request it is known what they computed: that counts as part of the task before them.
func executorsFree(c *diagnosis.Case, spared map[timeline.StrandID]*busySum) (out []stay) {
	for _, e := range executors(c) {
		if slices.ContainsFunc(e.errands, func(t errand) bool { return spared[t.strand] != nil }) {
			out = append(out, e.spare(spared)...)
		}
	}
	return out
}

// executors returns the executors that requests waited for; its callers share them.
func executors(c *diagnosis.Case) []executor {
	return c.Shared("executors", func() any { return collectExecutors(c) }).([]executor)
}

func collectExecutors(c *diagnosis.Case) (out []executor) {
	type key struct {
		process recording.ProcessID
		family  string
	}
	at := map[key]int{}
	own := func(s timeline.StrandID) key { return key{c.Strands[s].Process, family(c.Strands[s].Name)} }
	for _, s := range stays(c, timeline.CausePool, func(s *timeline.Segment) bool {
		return s.Phase == timeline.PhaseHandler && s.Strand != timeline.None
	}) {
		n, ok := at[own(s.strand)]
		if !ok {
			n = len(out)
			at[own(s.strand)] = n
			out = append(out, executor{})
		}
		out[n].errands = append(out[n].errands, errand{stay: s})
	}
	if len(out) == 0 {
		return nil
	}
	of := map[timeline.StrandID]int{} // the executor whose thread a strand is
	for i := range c.Strands {
		if n, ok := at[own(timeline.StrandID(i))]; ok {
			of[timeline.StrandID(i)] = n
		}
	}
	takenAtOnce(c, out, of)
	for i := range out {
		out[i].threads = out[i].takers()
		out[i].replay(func(t *errand, next diagnosis.Time) Duration { return busyFrom(c, t, next) })
	}
	return out
}

// takenAtOnce adds to each executor, as errands without a wait, what its threads did for requests that did not wait for
// them. Others wait behind that.
func takenAtOnce(c *diagnosis.Case, executors []executor, of map[timeline.StrandID]int) {
	type task struct {
		request diagnosis.RequestID
		strand  timeline.StrandID
	}
	waited := map[task]diagnosis.Time{} // when the last one was taken
	for i := range executors {
		for _, t := range executors[i].errands {
			k := task{t.Request, t.strand}
			waited[k] = max(waited[k], t.To)
		}
	}
	for i := range c.Requests {
		r := &c.Requests[i]
		for _, p := range partsOf(r) {
			n, ok := of[p.Strand]
			if taken, known := waited[task{r.ID, p.Strand}]; ok && (!known || p.From >= taken+granted) {
				executors[n].errands = append(executors[n].errands, errand{stay: stay{diagnosis.Span{Request: r.ID, From: p.From, To: p.From}, p.Strand, timeline.None}})
			}
		}
	}
}

// partsOf lists which strands worked for a request and when, the thread that served it included.
func partsOf(r *timeline.Request) []timeline.Part {
	if r.Strand == timeline.None || r.FirstRead == recording.NoTime || slices.ContainsFunc(r.Parts, func(p timeline.Part) bool { return p.Strand == r.Strand }) {
		return r.Parts
	}
	return append(slices.Clone(r.Parts), timeline.Part{Strand: r.Strand, From: r.FirstRead, To: r.Served()})
}

// takers counts the threads that have taken errands.
func (e *executor) takers() int {
	seen := map[timeline.StrandID]bool{}
	for i := range e.errands {
		seen[e.errands[i].strand] = true
	}
	return len(seen)
}

// busyFrom returns for how long, between taking an errand and taking the next, a thread cannot take another: it works
// for the request, computes afterwards, or waits for more on the connection that it has answered. For the rest it is
// idle.
func busyFrom(c *diagnosis.Case, t *errand, next diagnosis.Time) Duration {
	parts := partsOf(&c.Requests[t.Request])
	i := slices.IndexFunc(parts, func(p timeline.Part) bool {
		return p.Strand == t.strand && p.From < t.To+granted && p.To > t.To
	})
	if i < 0 {
		return next.Sub(t.To)
	}
	done := min(parts[i].To, next)
	busy := done.Sub(t.To)
	for _, a := range c.Doing(t.strand, done, next) {
		if a.Cause == timeline.CauseOnCPU || a.Cause == timeline.CauseRunnable || a.Lingers {
			busy += a.To.Sub(a.From)
		}
	}
	return busy
}

// replay finds how long each errand takes, and how long it would wait for a thread. busy returns how long an errand's
// thread is busy until it takes the next.
func (e *executor) replay(busy func(t *errand, next diagnosis.Time) Duration) {
	slices.SortFunc(e.errands, func(a, b errand) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Request, b.Request))
	})
	taken := make([]int, len(e.errands))
	for i := range taken {
		taken[i] = i
	}
	slices.SortFunc(taken, func(a, b int) int {
		x, y := &e.errands[a], &e.errands[b]
		return cmp.Or(cmp.Compare(x.strand, y.strand), cmp.Compare(x.To, y.To), cmp.Compare(a, b))
	})
	for i := 1; i < len(taken); i++ {
		if t, next := &e.errands[taken[i-1]], &e.errands[taken[i]]; t.strand == next.strand {
			t.takes = busy(t, next.To)
		}
	}
	for i, d := range e.waits(nil) {
		e.errands[i].waited = d
	}
}

// waits replays the errands without what is spared.
func (e *executor) waits(spared map[timeline.StrandID]*busySum) []Duration {
	jobs := make([]queueing.Job, len(e.errands))
	for i := range e.errands {
		t := &e.errands[i]
		jobs[i] = queueing.Job{Arrive: t.From, Service: max(0, t.takes-spared[t.strand].within(t.To, t.To+diagnosis.Time(t.takes)))}
	}
	return queueing.Waits(jobs, e.threads)
}

// spare returns what is saved of the waits for the executor.
func (e *executor) spare(spared map[timeline.StrandID]*busySum) (out []stay) {
	would := e.waits(spared)
	for i := range e.errands {
		t := &e.errands[i]
		gone := diagnosis.ShareOf(int64(t.waited-would[i]), int64(t.waited)).Of(t.To.Sub(t.From))
		gone = max(gone, spared[t.strand].within(t.From, t.To))
		if gone > 0 {
			s := t.stay
			s.To = s.From + diagnosis.Time(gone)
			out = append(out, s)
		}
	}
	return out
}

// within returns how much of a span lies in those of the sum, which are disjoint; nil holds none.
func (b *busySum) within(from, to diagnosis.Time) (d Duration) {
	if b == nil {
		return 0
	}
	for _, s := range b.in(diagnosis.Span{From: from, To: to}) {
		d += s.To.Sub(s.From)
	}
	return min(d, to.Sub(from))
}
