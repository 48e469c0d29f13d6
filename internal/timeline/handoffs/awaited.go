package handoffs

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// How a request waits for several results shows in the tasks whose ends woke no strand although their request was
// waiting for another task just then. There are three ways. A request that asks for one result after the other, in
// the order in which the tasks were put in, is woken by the first task. A request that takes results as they come is
// woken whenever it waits. And every request waits until the last result has come. Tasks whose requests are known
// otherwise show which of these apply; the result is then used to exclude requests for the other tasks.

// oneAtATime reports a process whose threads take turns by an interpreter lock. In other processes two threads may
// end tasks at the same time.
func (h *queues) oneAtATime(p recording.ProcessID) bool {
	rt := h.f.Runtime(p)
	return rt == recording.RuntimePython || rt == recording.RuntimeRuby
}

// manyKnown is how many known calls are needed to judge the others by them.
const manyKnown = 32

// awaited is how requests wait for the results of a pool's tasks.
type awaited struct {
	ends           map[timeline.RequestID][]result // by request: the results that it waited for, in order
	first          map[timeline.RequestID]task     // by request: of the tasks whose results it waited for, the one taken first
	byFirst        bool                            // the first task put in wakes its request, if that waits when the task is done
	whenever, last bool                            // any task does; the last to be done does
}

// endings lists the results that requests waited for, by the last call of the task.
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

// awaits learns from a pool's known tasks how their requests wait for results.
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
		for i, l := range a.looks(h.activity, &x, c.Request) {
			if l.chance {
				counts[i].Add(l.odd)
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
	var all causality.Tally // odd: more than once
	for _, list := range a.ends {
		all.Add(len(list) > 1)
	}
	return all.Rule(0)
}

// look is whether a task could contradict a way to wait for results, and whether it does.
type look struct{ chance, odd bool }

// looks checks a task that woke no strand against each way to wait, on the assumption that it belongs to request r.
// If the first task put in wakes its request, no task was taken before that one and done while the request waited. If
// any task does whenever the request waits, none was done meanwhile. If the last task does, none was done later.
func (a *awaited) looks(h *activity, x *task, r timeline.RequestID) [3]look {
	ends, first, done := a.ends[r], a.first[r], h.t.Calls[x.last()].End
	before, after, waited := x.sent <= first.begun, first.sent <= x.begun, done > ends[0].since
	meanwhile := slices.ContainsFunc(ends, func(e result) bool { return e.since < done && x.to < e.at })
	return [3]look{
		{(before || after) && waited, before},
		{meanwhile || waited, meanwhile},
		{true, done > ends[len(ends)-1].at},
	}
}

// fits reports whether a task that woke no strand may belong to a request.
func (a *awaited) fits(h *activity, x *task, r timeline.RequestID) bool {
	if a == nil || len(a.ends[r]) == 0 {
		return true
	}
	looks := a.looks(h, x, r)
	for i, believed := range [3]bool{a.byFirst, a.whenever, a.last} {
		if believed && looks[i].chance && looks[i].odd {
			return false
		}
	}
	return true
}
