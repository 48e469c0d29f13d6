package handoffs

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// findBursts finds the span in which each request may have handed work over. The span ends when the request's strand
// surely begins to wait for a result, and not for a lock that a worker happens to hold. It begins when the request
// was read. If enough is known, it begins later: strands of a process run at most for some CPU time between first
// waking a worker and waiting, so the span begins where the strand had that much CPU time left. A few exceptions are
// tolerated.
func (h *decisions) findBursts() {
	by := h.workers()
	h.eachJob(func(j *job) {
		for _, x := range j.results {
			if b := &h.bursts[x.request]; x.sure && !x.answer {
				b.To = min(b.To, x.since)
			}
		}
	})
	most := h.mostRan(by)
	for i := range h.bursts {
		b, r := &h.bursts[i], &h.t.Requests[i]
		if long, ok := most[r.Process]; ok && b.To < r.End && by[i] != timeline.None {
			b.From = h.ranFrom(by[i], *b, long+submitLead)
		}
	}
}

// workers returns, by request, the strand that works on it: the one that read it, or that answers it. It also sets
// each burst to the span in which that strand works on the request.
func (h *decisions) workers() []timeline.StrandID {
	by := make([]timeline.StrandID, len(h.t.Requests))
	h.bursts = make([]causality.Span, len(h.t.Requests))
	for i := range by {
		r := &h.t.Requests[i]
		by[i], h.bursts[i] = r.Strand, causality.Span{From: r.FirstRead, To: r.End}
	}
	for s, list := range h.serving {
		for _, own := range list {
			by[own.Request], h.bursts[own.Request].From = timeline.StrandID(s), max(own.From, h.bursts[own.Request].From)
		}
	}
	return by
}

// mostRan returns, for each process of which enough is known, how long strands run at most after they first woke a
// worker for a request, until they wait.
func (h *decisions) mostRan(by []timeline.StrandID) map[recording.ProcessID]recording.Duration {
	ran, woke := map[recording.ProcessID][]recording.Duration{}, map[timeline.RequestID]bool{}
	for _, j := range h.inOrder() {
		if j.by == timeline.None || len(j.calls) == 0 {
			continue
		}
		id := h.owner(j.by, j.from)
		if id == timeline.None || woke[id] {
			continue
		}
		woke[id] = true
		if r, until := &h.t.Requests[id], h.bursts[id].To; until < r.End && j.from < until {
			sum := recording.Duration(0)
			for _, x := range h.ran(by[id], causality.Span{From: j.from, To: until}) {
				sum += x.To.Sub(x.From)
			}
			ran[r.Process] = append(ran[r.Process], sum)
		}
	}
	most := map[recording.ProcessID]recording.Duration{}
	for p, list := range ran {
		if slices.Sort(list); len(list) >= enoughTasks {
			most[p] = list[max(0, len(list)-1-len(list)/causality.Exceptions)]
		}
	}
	return most
}

// ran lists when a strand ran within a span.
func (h *decisions) ran(s timeline.StrandID, in causality.Span) (list []causality.Span) {
	for _, iv := range timeline.Clipped(h.t.Strands[s].Intervals, in.From, in.To) {
		if iv.State == timeline.StateRunning {
			list = append(list, causality.Span{From: max(iv.From, in.From), To: min(iv.To, in.To)})
		}
	}
	return list
}

// ranFrom is the time within a span from which on the strand ran for the given CPU time until the span's end.
func (h *decisions) ranFrom(s timeline.StrandID, in causality.Span, long recording.Duration) recording.Time {
	for _, x := range slices.Backward(h.ran(s, in)) {
		d := x.To.Sub(x.From)
		if d >= long {
			return x.To - recording.Time(long)
		}
		long -= d
	}
	return in.From
}

// busyTimes are the spans in which strands of a process ran for requests of their own, and may have handed over work,
// in order of their start.
type busyTimes struct {
	runs  []timeline.Stint
	reach []recording.Time // the latest end of the spans up to each
}

// findBusy lists when strands ran that may hand over work: for requests of their own.
func (h *decisions) findBusy() {
	h.busy = map[recording.ProcessID]*busyTimes{}
	for i := range h.t.Strands {
		for _, stints := range [][]timeline.Stint{h.o[i], h.serving[i]} {
			for _, own := range stints {
				for _, x := range h.ran(timeline.StrandID(i), causality.Span{From: own.From, To: min(own.To, h.bursts[own.Request].To)}) {
					b := lists.Entry(h.busy, h.t.Strands[i].Process)
					b.runs = append(b.runs, timeline.Stint{From: x.From, To: x.To, Request: own.Request})
				}
			}
		}
	}
	for _, b := range h.busy {
		b.runs = lists.ByTime(b.runs, func(s *timeline.Stint) recording.Time { return s.From })
		b.reach = causality.Reaching(b.runs, func(s *timeline.Stint) recording.Time { return s.To })
	}
}

// foreign returns the first time, since work of a job's claim may have been put in, at which a strand ran for another
// request; the end of the recording if none did.
func (h *decisions) foreign(j *job) recording.Time {
	b := h.busy[h.t.Strands[j.strand].Process]
	if b == nil {
		return h.t.End
	}
	i := sort.Search(len(b.runs), func(k int) bool { return b.runs[k].From > j.root })
	for k := i - 1; k >= 0 && b.reach[k] > j.root; k-- {
		if b.runs[k].Request != j.claim && b.runs[k].To > j.root || i-k > manySteps {
			return j.root
		}
	}
	for _, x := range b.runs[i:] {
		if x.Request != j.claim {
			return x.From
		}
	}
	return h.t.End
}
