package handoffs

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/recording"
)

// findBursts finds until when each request may have handed work over: until its strand
// waits for a result, for sure, and not for a lock that a worker happens to hold.
func (h *rulings) findBursts() {
	h.bursts = make([]recording.Time, len(h.t.Requests))
	for i := range h.bursts {
		h.bursts[i] = h.t.Requests[i].End
	}
	h.eachJob(func(j *job) {
		for _, x := range j.results {
			if x.sure && !x.answer {
				h.bursts[x.request] = min(h.bursts[x.request], x.since)
			}
		}
	})
}

// findBegins finds since when each request may have handed work over: since it was read,
// or, where those that woke workers did so shortly before they waited, since it had as
// much time on a CPU left until then. A few exceptions are let pass.
func (h *rulings) findBegins() {
	h.begins = make([]recording.Time, len(h.t.Requests))
	first := make([]recording.Time, len(h.t.Requests)) // when a request first woke a worker
	by, since := h.workers()
	for i := range h.begins {
		h.begins[i], first[i] = since[i], recording.NoTime
	}
	for _, j := range h.inOrder() {
		if j.by == timeline.None || len(j.calls) == 0 {
			continue
		}
		if r := h.owner(j.by, j.from); r != timeline.None && first[r] == recording.NoTime {
			first[r] = j.from
		}
	}
	ran := map[recording.ProcessID][]recording.Duration{}
	for i, at := range first {
		if r := &h.t.Requests[i]; at != recording.NoTime && h.bursts[i] < r.End && at < h.bursts[i] {
			ran[r.Process] = append(ran[r.Process], h.ranIn(by[i], at, h.bursts[i]))
		}
	}
	for p, list := range ran {
		slices.Sort(list)
		ran[p] = list[max(0, len(list)-1-len(list)/causality.Exceptions):]
		if len(list) < enoughTasks {
			delete(ran, p)
		}
	}
	for i := range h.begins {
		r := &h.t.Requests[i]
		if most := ran[r.Process]; len(most) > 0 && h.bursts[i] < r.End && by[i] != timeline.None {
			h.begins[i] = h.ranFrom(by[i], since[i], h.bursts[i], most[0]+submitLead)
		}
	}
}

// workers lists the strands that work on requests, and since when they may: which read
// them, or answer them.
func (h *rulings) workers() (by []timeline.StrandID, since []recording.Time) {
	by, since = make([]timeline.StrandID, len(h.t.Requests)), make([]recording.Time, len(h.t.Requests))
	for i := range by {
		by[i], since[i] = h.t.Requests[i].Strand, h.t.Requests[i].FirstRead
	}
	for s, list := range h.serving {
		for _, own := range list {
			by[own.Request], since[own.Request] = timeline.StrandID(s), max(own.From, since[own.Request])
		}
	}
	return by, since
}

// ranIn is how long a strand ran within a span.
func (h *rulings) ranIn(s timeline.StrandID, from, to recording.Time) recording.Duration {
	sum := recording.Duration(0)
	for _, iv := range timeline.Clipped(h.t.Strands[s].Intervals, from, to) {
		if iv.State == timeline.StateRunning {
			sum += min(iv.To, to).Sub(max(iv.From, from))
		}
	}
	return sum
}

// ranFrom is the time, within a span, from which on a strand ran as long until its end.
func (h *rulings) ranFrom(s timeline.StrandID, from, to recording.Time, long recording.Duration) recording.Time {
	list := timeline.Clipped(h.t.Strands[s].Intervals, from, to)
	for i := len(list) - 1; i >= 0; i-- {
		iv := &list[i]
		if iv.State != timeline.StateRunning {
			continue
		}
		a, b := max(iv.From, from), min(iv.To, to)
		if d := b.Sub(a); d < long {
			long -= d
			continue
		}
		return b - recording.Time(long)
	}
	return from
}
