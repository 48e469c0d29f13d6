package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// behindWorkers returns what requests wait less for a worker once something that other requests waited for is gone.
// That is the time in which the worker itself waited for it. If it is more, it is what a replay of the requests through
// the workers without it says: queues shrink by more than the work that they wait behind. The queues of executors
// shrink too, and with them the time for which requests occupy the workers that wait for an executor.
func behindWorkers(c *diagnosis.Case, gone []stay) (out []diagnosis.Span) {
	return behindStrands(c, gone, gone)
}

// behindStrands is behindWorkers if more is known of what workers are spared than the requests' own waits: what a
// worker does for a request need not be what the request waits for.
func behindStrands(c *diagnosis.Case, gone, spared []stay) (out []diagnosis.Span) {
	on := map[timeline.StrandID][]diagnosis.Span{}
	for i := range spared {
		if s := spared[i].strand; s != timeline.None {
			on[s] = append(on[s], spared[i].Span)
		}
	}
	sums := map[timeline.StrandID]*busySum{}
	for s, spans := range on {
		slices.SortFunc(spans, func(a, b diagnosis.Span) int { return cmp.Compare(a.From, b.From) })
		b := sumOf(spans)
		sums[s] = &b
	}
	tasks := executorsFree(c, sums)
	out = append(out, spansOf(tasks)...)
	waits := waitsForWorkers(c)
	if len(waits) == 0 {
		return out
	}
	freed := workersFree(c, append(tasks, gone...))
	spares := make([]*busySum, len(c.Strands))
	for s, sum := range sums {
		spares[s] = sum
	}
	for i := range waits {
		w := &waits[i]
		var busy *busySum
		if w.strand != timeline.None {
			busy = spares[w.strand]
		}
		if busy != nil || freed[w.Request] > 0 {
			out = append(out, w.sooner(busy, freed[w.Request])...)
		}
	}
	return out
}

// workerWait is a request's wait for a worker.
type workerWait struct {
	diagnosis.Span
	strand timeline.StrandID // of the worker, or None
	unread bool              // the request is not read yet
}

// waitsForWorkers lists the workerWaits of measured requests; its callers share them.
func waitsForWorkers(c *diagnosis.Case) []workerWait {
	return c.Once("waits for workers", func() any {
		var out []workerWait
		for _, id := range c.With(timeline.CausePool) {
			r := &c.Requests[id]
			for s := r.Segments(); s.Next(); {
				if behindAWorker(c.Timeline, &s.Segment) {
					out = append(out, workerWait{diagnosis.Span{Request: id, From: s.From, To: s.To}, s.Strand, s.Phase == timeline.PhaseUnread})
				}
			}
		}
		return out
	}).([]workerWait)
}

// behindAWorker reports whether a segment is a wait for a worker. A wait for a thread of an executor is not one, nor is
// the wait of a loop's call for a connection: a loop serves others while one of its requests waits.
func behindAWorker(t *timeline.Timeline, s *timeline.Segment) bool {
	return s.Cause == timeline.CausePool && (s.Strand == timeline.None || s.Phase != timeline.PhaseHandler && !t.Strands[s.Strand].Loop)
}

// sooner returns what is saved of one wait for a worker.
func (w *workerWait) sooner(busy *busySum, gone Duration) (out []diagnosis.Span) {
	if busy != nil {
		out = busy.in(w.Span)
	}
	if d := min(gone, w.To.Sub(w.From)); w.unread && d > diagnosis.Total(out) {
		return []diagnosis.Span{{Request: w.Request, From: w.From, To: w.From + diagnosis.Time(d)}}
	}
	return out
}

// workersFree replays the requests of each process through its workers, as they were and without what is gone, and
// returns how much sooner each request is taken. If a request waits longer in the replay than in the recording, it is
// the same share of the recorded wait.
func workersFree(c *diagnosis.Case, gone []stay) []Duration {
	less := make([]Duration, len(c.Requests))
	for i := range gone {
		less[gone[i].Request] += gone[i].To.Sub(gone[i].From)
	}
	freed := make([]Duration, len(c.Requests))
	for _, w := range workforces(c) {
		if !slices.ContainsFunc(w.ids, func(id diagnosis.RequestID) bool { return less[id] != 0 }) {
			continue
		}
		without := slices.Clone(w.jobs)
		for i, id := range w.ids {
			without[i].Service = max(0, without[i].Service-less[id])
		}
		for i, would := range queueing.Waits(without, w.workers) {
			d, r := w.waits[i]-would, &c.Requests[w.ids[i]]
			freed[w.ids[i]] = min(d, diagnosis.ShareOf(int64(d), int64(w.waits[i])).Of(r.FirstRead.Sub(r.Start)))
		}
	}
	return freed
}

// workforce is the workers of a process, and the requests that they took, by arrival.
type workforce struct {
	workers int
	ids     []diagnosis.RequestID
	jobs    []queueing.Job
	waits   []Duration // as replayed
}

// workforces returns the workforces of all processes; its callers share them.
func workforces(c *diagnosis.Case) []*workforce {
	return c.Shared("workforces", func() any { return collectWorkforces(c) }).([]*workforce)
}

func collectWorkforces(c *diagnosis.Case) (out []*workforce) {
	type worker struct {
		process recording.ProcessID
		strand  timeline.StrandID
	}
	of, known := map[recording.ProcessID]*workforce{}, map[worker]bool{}
	for i := range c.Requests {
		r := &c.Requests[i]
		if r.Strand == timeline.None || c.Strands[r.Strand].Loop || r.FirstRead == recording.NoTime || r.Excluded != "" {
			continue
		}
		w := of[r.Process]
		if w == nil {
			w = &workforce{}
			of[r.Process] = w
			out = append(out, w)
		}
		if k := (worker{r.Process, r.Strand}); !known[k] {
			known[k] = true
			w.workers++
		}
		w.ids = append(w.ids, diagnosis.RequestID(i))
	}
	for _, w := range out {
		slices.SortStableFunc(w.ids, func(a, b diagnosis.RequestID) int { return cmp.Compare(c.Requests[a].Start, c.Requests[b].Start) })
		w.jobs = make([]queueing.Job, len(w.ids))
		for i, id := range w.ids {
			r := &c.Requests[id]
			w.jobs[i] = queueing.Job{Arrive: r.Start, Service: r.Served().Sub(r.FirstRead)}
		}
		w.waits = queueing.Waits(w.jobs, w.workers)
	}
	return out
}

// served is a span in which a strand worked for a measured request.
type served struct {
	window
	request diagnosis.RequestID
}

// servedBy lists, for some strands, which measured requests they worked for and when.
func servedBy(c *diagnosis.Case, strands map[timeline.StrandID]bool) map[timeline.StrandID][]served {
	out := map[timeline.StrandID][]served{}
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		if strands[r.Strand] {
			out[r.Strand] = append(out[r.Strand], served{window{r.FirstRead, r.Served()}, id})
		}
		for _, p := range r.Parts {
			if strands[p.Strand] {
				out[p.Strand] = append(out[p.Strand], served{window{p.From, p.To}, id})
			}
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b served) int { return cmp.Compare(a.from, b.from) })
	}
	return out
}

// ownTime returns which parts of the holders' spans lie in the time of the requests that they worked for: a holder's
// own wait is lost to its request, too. Spans that keep refuses are left out.
func ownTime(c *diagnosis.Case, did []*deed, keep func(*timeline.Request, *deed) bool) (out []diagnosis.Span) {
	strands := map[timeline.StrandID]bool{}
	for _, d := range did {
		strands[d.strand] = d.strand != timeline.None
	}
	by := servedBy(c, strands)
	for _, d := range did {
		list := by[d.strand]
		n, _ := slices.BinarySearchFunc(list, d.from, func(s served, t diagnosis.Time) int { return cmp.Compare(s.from, t+1) })
		if n == 0 || list[n-1].to <= d.from {
			continue
		}
		r := &c.Requests[list[n-1].request]
		if !keep(r, d) {
			continue
		}
		for s := r.Segments(); s.Next(); {
			own := s.Strand == d.strand || d.call != timeline.None && s.Call == d.call // other threads carry a goroutine's call
			if from, to := max(s.From, d.from), min(s.To, d.to); own && from < to {
				out = append(out, diagnosis.Span{Request: r.ID, From: from, To: to})
			}
		}
	}
	return out
}
