package timeline

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// Who puts work into a queue and then waits for it commonly does so without having slept in
// between, and so does who takes work and calls for it. Then only one at a time of those who
// share an interpreter's lock does, and the order of all of it is known. Whether it is so is
// checked on the calls whose requests are known by what was delivered.

// atOnce returns a pool and the bursts of its requests, each cut to when work can have been
// put in, or taken, at once, or one of them, if what is known keeps the order so.
func (h *handOffs) atOnce(pool []task, order, put burstOrder) ([]task, burstOrder) {
	taken, turned := h.takenAtOnce(pool), h.takenFirst(pool)
	for _, x := range []struct {
		pool  []task
		order burstOrder
	}{{taken, put}, {turned, put}, {pool, put}, {taken, order}} {
		if all, odd := h.newQueue(x.pool, x.order).outOfOrder(WhyHandOffEnd); all >= manyKnown && odd*exactShare <= all {
			return x.pool, x.order
		}
	}
	return pool, order
}

// oneAtATime reports a process whose threads take turns, by a lock of their interpreter: of
// others two may put work in, or take it, at the same time.
func (h *handOffs) oneAtATime(p recording.ProcessID) bool {
	rt := h.f.runtime(p)
	return rt == recording.RuntimePython || rt == recording.RuntimeRuby
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

// A thread that waited for work waits for its interpreter's lock next, in several sleeps
// perhaps, between which it runs for less than shortTurn; it takes work as soon as it has
// that, and holds it for longTurn at most until it has.
const (
	shortTurn Duration = 20_000  // ns
	longTurn  Duration = 150_000 // ns
)

// takenFirst returns tasks as they are if they were taken as soon as it was a strand's turn.
func (h *handOffs) takenFirst(pool []task) []task {
	cut := make([]task, len(pool))
	for i, x := range pool {
		s := h.t.Calls[x.call].Strand
		cut[i] = x
		cut[i].begun, _ = h.firstTurn(s, x, shortTurn)
		_, cut[i].sent = h.firstTurn(s, x, longTurn)
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

// firstTurn is the first span in which a strand ran for some time, from when it can have
// taken a task on, or until it slept for something else than its interpreter's lock.
func (h *handOffs) firstTurn(s StrandID, x task, least Duration) (from, to Time) {
	list := h.t.Strands[s].Intervals
	i := sort.Search(len(list), func(k int) bool { return list[k].To > x.begun })
	ran, from := Duration(0), x.begun
	for ; i < len(list) && list[i].From < x.sent; i++ {
		iv := &list[i]
		switch {
		case iv.State == StateRunning:
			ran += min(iv.To, x.sent).Sub(max(iv.From, from))
		case iv.State == StateRunnable:
		case ran >= least, ran > 0 && !h.forInterpreter(s, iv.From):
			return from, iv.From
		default:
			ran, from = 0, min(iv.To, x.sent)
		}
	}
	return from, x.sent
}

// forInterpreter reports a sleep in which a strand waited for its interpreter's lock.
func (h *handOffs) forInterpreter(s StrandID, since Time) bool {
	id := h.t.WaitAt(s, since)
	return id != None && h.t.Waits[id].Cause == CauseInterpreterLock
}
