package handoffs

import (
	"slices"

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

// look is whether a task could contradict a way to wait for results, and does.
type look struct{ chance, odd bool }

// looks holds a task that woke nobody against each way to wait, if it is a request's: if the first put in wakes it,
// none was taken before that one and done while the request waited; if any does whenever it waits, none was done
// meanwhile; if the last does, none was done later.
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

// fits reports that a task which woke nobody may be a request's.
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
