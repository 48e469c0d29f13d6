package handoffs

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// A request that waits for several results shows how it does: by the tasks whose ends woke
// nobody, as their request waited for another just then. Who asks for one result after the
// other, in the order in which tasks were put in, is woken by the first of them; who takes
// them as they come is woken whenever it waits; and all wait until the last has come. What
// those show whose requests are known otherwise is held against those of which it is not.

// oneAtATime reports a process whose threads take turns, by a lock of their interpreter: of
// others two may end tasks at the same time.
func (h *queues) oneAtATime(p recording.ProcessID) bool {
	rt := h.f.Runtime(p)
	return rt == recording.RuntimePython || rt == recording.RuntimeRuby
}

// manyKnown is from how many known calls on they tell how others are.
const manyKnown = 32

// awaited is how requests wait for the results of a pool's tasks.
type awaited struct {
	ends           map[timeline.RequestID][]result // that were waited for, in order
	first          map[timeline.RequestID]task     // whose result was waited for that was taken first
	byFirst        bool                            // the first put in wakes its request, if that waits when it is done
	whenever, last bool                            // any does; the last to be done does
}

// endings lists what each request waited for, by the last call of the task.
func (h *queues) endings() map[timeline.CallID]result {
	all := map[timeline.CallID]result{}
	h.eachJob(func(j *job) {
		for _, x := range j.results {
			if x.calls > 0 && !x.answer {
				if c := &h.t.Calls[j.calls[x.calls-1]]; c.Request == x.request && c.Why == timeline.WhyHandOffEnd {
					all[c.ID] = x
				}
			}
		}
	})
	return all
}

// awaits tells how the requests of a pool's known tasks wait for results.
func (h *queues) awaits(pool []task, endings map[timeline.CallID]result) *awaited {
	a := &awaited{ends: map[timeline.RequestID][]result{}, first: map[timeline.RequestID]task{}}
	for _, x := range pool {
		r := h.t.Calls[x.calls[0]].Request
		if e, ok := endings[x.last()]; ok && r != timeline.None {
			a.ends[r] = append(a.ends[r], e)
			if f, ok := a.first[r]; !ok || x.sent < f.sent {
				a.first[r] = x
			}
		}
	}
	for r, list := range a.ends {
		a.ends[r] = lists.ByTime(list, func(e *result) recording.Time { return e.at })
	}
	var counts [3]causality.Tally
	for _, x := range pool {
		c := &h.t.Calls[x.calls[0]]
		if _, ok := endings[x.last()]; ok || c.Request == timeline.None || len(a.ends[c.Request]) == 0 {
			continue
		}
		for i, says := range []func(*task, timeline.RequestID) (bool, bool){a.beforeFirst(h.scene), a.whileWaiting(h.scene), a.afterLast(h.scene)} {
			if chance, odd := says(&x, c.Request); chance {
				counts[i].Add(odd)
			}
		}
	}
	holds := func(i, few int) bool {
		return counts[i].Rule(few) || counts[i].All >= few && counts[i].Odd <= 1
	}
	a.byFirst, a.whenever, a.last = holds(0, manyKnown/2), holds(1, manyKnown), holds(2, manyKnown) && a.once()
	return a
}

// once reports that hardly any request is woken twice.
func (a *awaited) once() bool {
	more := 0
	for _, list := range a.ends {
		if len(list) > 1 {
			more++
		}
	}
	return more*causality.Exceptions <= len(a.ends)
}

// beforeFirst tells of tasks that woke nobody, though their request waited when they were
// done, which of them were taken before the first that woke it.
func (a *awaited) beforeFirst(h *scene) func(*task, timeline.RequestID) (chance, odd bool) {
	return func(x *task, r timeline.RequestID) (bool, bool) {
		f := a.first[r]
		before, after := x.sent <= f.begun, f.sent <= x.begun
		return (before || after) && h.t.Calls[x.last()].End > a.ends[r][0].since, before
	}
}

// whileWaiting tells which of them were done while their request waited for another.
func (a *awaited) whileWaiting(h *scene) func(*task, timeline.RequestID) (chance, odd bool) {
	return func(x *task, r timeline.RequestID) (bool, bool) {
		end := h.t.Calls[x.last()].End
		for _, e := range a.ends[r] {
			if e.since < end && x.to < e.at {
				return true, true
			}
		}
		return end > a.ends[r][0].since, false
	}
}

// afterLast tells which of them were done after the last that woke their request.
func (a *awaited) afterLast(h *scene) func(*task, timeline.RequestID) (chance, odd bool) {
	return func(x *task, r timeline.RequestID) (bool, bool) {
		return true, h.t.Calls[x.last()].End > a.ends[r][len(a.ends[r])-1].at
	}
}

// fits reports that a task which woke nobody may be a request's.
func (a *awaited) fits(h *scene, x *task, r timeline.RequestID) bool {
	if a == nil || len(a.ends[r]) == 0 {
		return true
	}
	for i, says := range []func(*task, timeline.RequestID) (bool, bool){a.beforeFirst(h), a.whileWaiting(h), a.afterLast(h)} {
		if on := [3]bool{a.byFirst, a.whenever, a.last}[i]; !on {
			continue
		}
		if chance, odd := says(x, r); chance && odd {
			return false
		}
	}
	return true
}
