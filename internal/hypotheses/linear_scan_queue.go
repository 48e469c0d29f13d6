package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// queuedSamples is how many samples of a process, around a wait for a processor, tell
// what the processors worked on meanwhile.
const queuedSamples = 20

// works are the samples of one process, of whatever it computed, in order of time.
type works struct {
	at    []diagnosis.Time
	under []int // how many of those before are the stacks
}

// queuedBehind returns what requests wait less for a processor without what is computed
// in some stacks, by anybody: the share of it in what their process computed
// meanwhile. Threads wait for what other programs compute, too; goroutines that wait in
// their own runtime's queue do not.
func queuedBehind(c *diagnosis.Case, in func(timeline.StackID) bool) (out []diagnosis.Span) {
	by := map[recording.ProcessID]*works{}
	front := diagnosis.Whole // of what threads wait behind
	if h := hostLoad(c); h.known && h.busy > 0 {
		front = min(front, diagnosis.ShareOf(int64(ours(c)), int64(h.busy)))
	}
	for _, id := range c.With(timeline.CauseRunnable) {
		r := &c.Requests[id]
		for g := r.Segments(); g.Next(); {
			if g.Cause != timeline.CauseRunnable {
				continue
			}
			w := by[r.Process]
			if w == nil {
				w = worksOf(c, r.Process, in)
				by[r.Process] = w
			}
			part := w.share(g.From, g.To)
			if g.Strand == timeline.None || c.Strands[g.Strand].Goroutine == recording.NoGoroutine {
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

// share is what part of the samples in a span, or next to it if those are few, are the stacks.
func (w *works) share(from, to diagnosis.Time) diagnosis.Share {
	i, _ := slices.BinarySearch(w.at, from)
	n, _ := slices.BinarySearch(w.at, to)
	n = max(i, n)
	if more := queuedSamples - (n - i); more > 0 {
		i, n = max(0, i-(more+1)/2), min(len(w.at), n+(more+1)/2)
	}
	return diagnosis.ShareOf(int64(w.under[n]-w.under[i]), int64(n-i))
}
