package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// behindWorkers returns what requests wait less for a worker once something that other
// requests waited for is gone: the very time in which that worker waited for it, or, if
// that is more, what replaying the requests through the workers without it says: queues
// shrink by more than the work that they wait behind. So do those of executors, and with
// them the time for which requests occupy the workers that wait for an executor.
func behindWorkers(c *diagnosis.Case, gone []stay) (out []diagnosis.Span) {
	return behindStrands(c, gone, gone)
}

// behindStrands is behindWorkers where more is known of what workers are spared than the
// requests' own waits: what they do for a request need not be what it waits for.
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
	var freed map[diagnosis.RequestID]Duration
	for _, id := range c.Measured() {
		r := &c.Requests[id]
		for i := range r.Segments {
			s := &r.Segments[i]
			if s.Cause != timeline.CausePool || s.Phase == timeline.PhaseHandler && s.Strand != timeline.None {
				continue
			}
			if freed == nil {
				freed = workersFree(c, append(tasks, gone...))
			}
			out = append(out, sooner(diagnosis.Span{Request: id, From: s.From, To: s.To}, s, sums[s.Strand], freed[id])...)
		}
	}
	return out
}

// sooner is what goes of one wait for a worker.
func sooner(w diagnosis.Span, s *timeline.Segment, busy *busySum, gone Duration) (out []diagnosis.Span) {
	if busy != nil {
		out = busy.in(w)
	}
	if d := min(gone, w.To.Sub(w.From)); s.Phase == timeline.PhaseUnread && d > diagnosis.Total(out) {
		return []diagnosis.Span{{Request: w.Request, From: w.From, To: w.From + diagnosis.Time(d)}}
	}
	return out
}

// workersFree replays the requests of each process through its workers, as they were
// and without what is gone, and returns how much sooner each request is taken.
func workersFree(c *diagnosis.Case, gone []stay) map[diagnosis.RequestID]Duration {
	less := make([]Duration, len(c.Requests))
	for i := range gone {
		less[gone[i].Request] += gone[i].To.Sub(gone[i].From)
	}
	of, workers := map[recording.ProcessID][]diagnosis.RequestID{}, map[recording.ProcessID]map[timeline.StrandID]bool{}
	for i := range c.Requests {
		r := &c.Requests[i]
		if r.Strand == timeline.None || c.Strands[r.Strand].Loop || r.FirstRead == recording.NoTime || r.Excluded != "" {
			continue
		}
		if workers[r.Process] == nil {
			workers[r.Process] = map[timeline.StrandID]bool{}
		}
		workers[r.Process][r.Strand] = true
		of[r.Process] = append(of[r.Process], diagnosis.RequestID(i))
	}
	freed := map[diagnosis.RequestID]Duration{}
	for p, ids := range of {
		slices.SortStableFunc(ids, func(a, b diagnosis.RequestID) int { return cmp.Compare(c.Requests[a].Start, c.Requests[b].Start) })
		all, without := make([]diagnosis.Job, len(ids)), make([]diagnosis.Job, len(ids))
		for i, id := range ids {
			r := &c.Requests[id]
			took := r.End.Sub(r.FirstRead)
			all[i] = diagnosis.Job{Arrive: r.Start, Service: took}
			without[i] = diagnosis.Job{Arrive: r.Start, Service: max(0, took-less[id])}
		}
		was, would := diagnosis.WaitsOf(all, len(workers[p])), diagnosis.WaitsOf(without, len(workers[p]))
		for i, id := range ids {
			freed[id] = was[i] - would[i]
		}
	}
	return freed
}

// served are the spans in which a strand worked for measured requests, in order.
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
			out[r.Strand] = append(out[r.Strand], served{window{r.FirstRead, r.End}, id})
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

// ownTime returns what spans of holders are in the time of the requests that they
// worked for: the holder's own wait is lost to its request, too.
func ownTime(c *diagnosis.Case, did []*deed) (out []diagnosis.Span) {
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
		for k := range r.Segments {
			s := &r.Segments[k]
			own := s.Strand == d.strand || d.call != timeline.None && s.Call == d.call // a goroutine's call is carried by others
			if from, to := max(s.From, d.from), min(s.To, d.to); own && from < to {
				out = append(out, diagnosis.Span{Request: r.ID, From: from, To: to})
			}
		}
	}
	return out
}
