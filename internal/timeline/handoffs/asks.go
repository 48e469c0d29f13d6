package handoffs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// A loop on a thread of its own makes calls for those who ask it to and wait. It takes
// what it is asked for in the order in which it was, and sends it before it sleeps; what
// it does next for a caller it does as an answer comes, before it sleeps: it sends again,
// or wakes who asked. So a call is of one that asked since the loop went to sleep last
// before it was sent, or of whose answer came in that turn; and whoever is woken had an
// answer in the turn. Nothing is believed of a loop that cannot be so.

// ask is a span in which a request's strand may have asked a loop for something, until it
// waited, and when the loop ended that wait.
type ask struct {
	from, waits, woken recording.Time
	request            timeline.RequestID
}

// asking follows one loop.
type asking struct {
	h      *carriers
	sleeps []timeline.Stint                         // the spans in which it slept
	asks   []ask                                    // in order of from
	reach  []recording.Time                         // up to each: the latest waits
	last   map[timeline.RequestID]recording.Time    // when each was woken last
	of     map[timeline.RequestID]timeline.StrandID // who asked for it
	told   map[timeline.RequestID]bool              // those that were woken as an answer had come
	ended  []int                                    // tasks in order of their answers
	tasks  []task                                   // that it did, in order
	s      causality.Shares[timeline.RequestID]
}

// fewKnown is of how many calls of a loop one at least must be known at once.
const fewKnown = 4

// byAsks associates the calls of loops that other strands ask for them.
func (h *carriers) byAsks() {
	by := make([][]task, len(h.t.Strands))
	for i := range h.ways {
		if s := h.ways[i].reader; h.ways[i].carried && h.ways[i].own && s != timeline.None {
			by[s] = append(by[s], task{calls: []timeline.CallID{timeline.CallID(i)}, sent: h.sent(timeline.CallID(i))})
		}
	}
	for s, tasks := range by {
		if len(tasks) < enoughTasks {
			continue
		}
		a := &asking{h: h, last: map[timeline.RequestID]recording.Time{}, of: map[timeline.RequestID]timeline.StrandID{}, told: map[timeline.RequestID]bool{}}
		if a.listSleeps(timeline.StrandID(s)); len(a.sleeps)*fewKnown < len(tasks) {
			continue // so many a turn cannot be told apart, and would take long
		}
		if a.listAsks(timeline.StrandID(s)); len(a.asks) < enoughTasks {
			continue
		}
		a.find(lists.ByTime(tasks, func(x *task) recording.Time { return x.sent }))
		if a.believed() {
			a.settle(a.tasks, a.s.Whose)
		}
	}
}

// believed reports that hardly any call is nobody's, and hardly any request was woken for
// nothing but such as cannot be its answer.
func (a *asking) believed() bool {
	odd, known := 0, 0
	for _, r := range a.s.Whose {
		if r != timeline.None {
			known++
		}
	}
	for i, list := range a.s.May {
		if len(list) == 0 && !a.h.t.Calls[a.tasks[i].calls[0]].Cut {
			odd++
		}
	}
	for r := range a.last {
		if !a.told[r] && !a.h.t.Requests[r].Cut {
			odd++
		}
	}
	return known*fewKnown >= len(a.tasks) && odd*causality.Exceptions <= len(a.tasks)
}

// settle associates calls.
func (a *asking) settle(tasks []task, whose []timeline.RequestID) {
	for i, r := range whose {
		c := &a.h.t.Calls[tasks[i].calls[0]]
		if r != timeline.None && c.Request == timeline.None && a.h.mayBeHanded(c) && a.h.sent(c.ID) >= a.h.t.Requests[r].FirstRead {
			a.h.t.Assign(c, r, timeline.WhyHandOffAnswer)
			c.Strand, c.Carried = a.of[r], true
			a.h.ways[c.ID].delivered = true
		}
	}
}

// listSleeps lists when the loop slept for its sockets.
func (a *asking) listSleeps(s timeline.StrandID) {
	for _, st := range a.h.f.Threads[s].Steps {
		if st.Off != nil && st.Off.State == recording.OffSleep && polls(st.Off) && st.Off.Woken != recording.NoTime {
			a.sleeps = append(a.sleeps, timeline.Stint{From: st.Off.Since, To: st.Off.Woken, Request: timeline.None})
		}
	}
}

// turn returns when the loop went to sleep last before a time, and when it woke.
func (a *asking) turn(at recording.Time) (slept, woke recording.Time) {
	i := sort.Search(len(a.sleeps), func(k int) bool { return a.sleeps[k].To > at })
	if i == 0 {
		return a.h.f.Start, a.h.f.Start
	}
	return a.sleeps[i-1].From, a.sleeps[i-1].To
}

// listAsks lists when requests may have asked a loop for calls.
func (a *asking) listAsks(s timeline.StrandID) {
	h := a.h
	for _, w := range h.strands[s].woke {
		r := h.ownAt(w)
		if r == timeline.None || !h.mayDeliver(w) {
			continue
		}
		from := h.t.Requests[r].FirstRead
		if before, ok := a.last[r]; ok {
			from = before
		}
		a.last[r], a.of[r] = w.at, w.of
		a.asks = append(a.asks, ask{from, w.off.Since, w.at, r})
	}
	slices.SortStableFunc(a.asks, func(x, y ask) int { return cmp.Compare(x.from, y.from) })
	a.reach = causality.Reaching(a.asks, func(x *ask) recording.Time { return x.waits })
}

// find finds whose the tasks of a loop are.
func (a *asking) find(tasks []task) {
	h := a.h
	a.tasks, a.s.May, a.s.Whose = tasks, make([][]timeline.RequestID, len(tasks)), make([]timeline.RequestID, len(tasks))
	for i := range tasks {
		a.ended = append(a.ended, i)
	}
	a.ended = lists.ByTime(a.ended, func(i *int) recording.Time { return h.t.Calls[tasks[*i].calls[0]].End })
	for i, x := range tasks {
		a.s.Whose[i] = timeline.None
		if r := h.t.Calls[x.calls[0]].Request; r != timeline.None {
			a.s.May[i] = []timeline.RequestID{r}
			continue
		}
		a.s.May[i] = a.may(x)
	}
	for i := range tasks {
		a.s.Settle(i)
	}
	for range rounds {
		if !a.answers() {
			break
		}
	}
}

// may lists the requests that a call may be of.
func (a *asking) may(x task) []timeline.RequestID {
	h := a.h
	c := &h.t.Calls[x.calls[0]]
	began := x.sent
	if c.New {
		began = min(began, c.Start)
	}
	slept, woke := a.turn(began)
	var list []timeline.RequestID
	add := func(r timeline.RequestID) {
		if h.t.Requests[r].FirstWrite >= c.End && h.t.Requests[r].FirstRead <= x.sent && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	k := sort.Search(len(a.asks), func(k int) bool { return a.asks[k].from > x.sent })
	for k--; k >= 0 && a.reach[k] >= slept && len(list) < manySteps; k-- {
		if a.asks[k].waits >= slept {
			add(a.asks[k].request)
		}
	}
	for _, i := range a.between(woke, x.sent) {
		for _, r := range a.s.May[i] {
			add(r)
		}
	}
	return list
}

// between lists the tasks whose answers came in a span.
func (a *asking) between(from, to recording.Time) []int {
	end := func(k int) recording.Time { return a.h.t.Calls[a.tasks[a.ended[k]].calls[0]].End }
	i := sort.Search(len(a.ended), func(k int) bool { return end(k) >= from })
	n := sort.Search(len(a.ended), func(k int) bool { return end(k) > to })
	return a.ended[i:max(i, min(n, i+manySteps))]
}

// answers draws the conclusions from who was woken: of the answers that came in the turn,
// while it waited, one was for that request. True if that told more.
func (a *asking) answers() (more bool) {
	for _, x := range a.asks {
		_, woke := a.turn(x.woken)
		only, n := -1, 0
		for _, i := range a.between(woke, x.woken) {
			if slices.Contains(a.s.May[i], x.request) {
				only, n = i, n+1
			}
		}
		if n == 0 || a.h.t.Calls[a.tasks[only].calls[0]].End < x.waits {
			continue // it waited for something else; or too late, if what it had asked for was done
		}
		a.told[x.request] = true
		if n == 1 && a.s.Whose[only] == timeline.None {
			a.s.May[only] = []timeline.RequestID{x.request}
			a.s.Settle(only)
			more = true
		}
	}
	return more
}
