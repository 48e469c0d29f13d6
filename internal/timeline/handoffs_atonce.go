package timeline

import (
	"slices"
	"sort"
)

// Who puts work into a queue and then waits for it commonly does so without having slept in
// between, and so does who takes work and calls for it. Then only one at a time of those who
// share an interpreter's lock does, and the order of all of it is known. Whether it is so is
// checked on the calls whose requests are known by what was delivered.

// atOnce returns a pool and the bursts of its requests, both cut to where their strands slept
// last, or one of them, if what is known keeps the order so.
func (h *handOffs) atOnce(pool []task, order, put burstOrder) ([]task, burstOrder) {
	taken := h.takenAtOnce(pool)
	for _, x := range []struct {
		pool  []task
		order burstOrder
	}{{taken, put}, {pool, put}, {taken, order}} {
		if all, odd := h.newQueue(x.pool, x.order).outOfOrder(WhyHandOffEnd); all >= manyKnown && odd*exactShare <= all {
			return x.pool, x.order
		}
	}
	return pool, order
}

// manyKnown is from how many known calls on they tell that tasks are put in and taken at once.
const manyKnown = 32

// putAtOnce returns the bursts of requests as they are if they begin where who put work in
// had slept last.
func (h *handOffs) putAtOnce(order burstOrder) burstOrder {
	begins, bursts := slices.Clone(order.begins), slices.Clone(order.bursts)
	by, _ := h.workers()
	for _, r := range order.reqs {
		if s := by[r]; s != None && order.bursts[r] < h.t.Requests[r].End {
			begins[r] = max(begins[r], h.sleptUntil(s, order.bursts[r]))
		}
	}
	h.eachJob(func(j *job) { // it put something in as it woke a worker, and so all of it then
		if j.by == None || j.made || len(j.calls) == 0 {
			return
		}
		if r := h.owner(j.by, j.from); r != None && j.from > begins[r] && j.from <= bursts[r] {
			begins[r], bursts[r] = max(begins[r], j.from-Time(submitLead)), j.from
		}
	})
	order.begins, order.bursts, order.atOnce = begins, bursts, true
	return sorted(order)
}

// apart cuts the bursts of requests of which it is not known by their times which was first:
// if a task of one was taken before one of the other, all of it was put in before.
func (h *handOffs) apart(pool []task, order burstOrder) burstOrder {
	if !order.atOnce {
		return order
	}
	first, last := map[RequestID]Time{}, map[RequestID]Time{} // when tasks were taken: the first before, the last after
	for _, x := range pool {
		if r := h.t.Calls[x.call].Request; r != None {
			if at, ok := first[r]; !ok || x.sent < at {
				first[r] = x.sent
			}
			last[r] = max(last[r], x.begun)
		}
	}
	cut := order
	cut.begins, cut.bursts = slices.Clone(order.begins), slices.Clone(order.bursts)
	for i, a := range order.reqs {
		for k := i + 1; k < len(order.reqs) && k-i < manyPieces && order.begins[order.reqs[k]] < order.bursts[a]; k++ {
			x, y := a, order.reqs[k]
			if first[x] == 0 || first[y] == 0 || (first[x] <= last[y]) == (first[y] <= last[x]) {
				continue
			}
			if first[y] <= last[x] {
				x, y = y, x
			}
			if from, to := max(cut.begins[x], cut.begins[y]), min(cut.bursts[x], cut.bursts[y]); from < to {
				middle := from + (to-from)/2
				cut.bursts[x], cut.begins[y] = min(cut.bursts[x], middle), max(cut.begins[y], middle)
			}
		}
	}
	return sorted(cut)
}

// takenAtOnce returns tasks as they are if they were taken where who made their calls had
// slept last before.
func (h *handOffs) takenAtOnce(pool []task) []task {
	cut := make([]task, len(pool))
	for i, x := range pool {
		c := &h.t.Calls[x.call]
		if cut[i] = x; c.New && c.Start > x.begun {
			cut[i].sent = min(x.sent, c.Start)
		}
		cut[i].begun = max(x.begun, h.sleptUntil(c.Strand, cut[i].sent))
	}
	return cut
}

// sleptUntil is when a strand that was awake at a time had slept last.
func (h *handOffs) sleptUntil(s StrandID, at Time) Time {
	list := h.t.Strands[s].Intervals
	i := sort.Search(len(list), func(k int) bool { return list[k].From >= at })
	for i--; i >= 0; i-- {
		if st := list[i].State; st != StateRunning && st != StateRunnable {
			return min(list[i].To, at)
		}
	}
	return h.f.start
}
