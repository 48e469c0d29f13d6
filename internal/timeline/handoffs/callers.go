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

// A client may run an event loop on a thread of its own, which makes calls for threads that ask it to and then wait.
// The loop sends what it was asked for before it sleeps. What it does next for a caller, it does when an answer
// comes, before it sleeps: it sends again, or wakes the caller. So a call belongs to a request that asked since the
// loop last went to sleep before sending the call, or to a request whose answer came in that turn. And a thread that
// is woken had an answer in the turn. If what is seen of a loop contradicts this, nothing is believed about that
// loop.

// ask is a span in which a request's strand may have asked a loop for something. It lasts until the strand waited;
// woken is when the loop ended that wait.
type ask struct {
	from, waits, woken recording.Time
	request            timeline.RequestID
}

// asker is the strand that asked a loop for a request's calls.
type asker struct {
	strand timeline.StrandID
	woken  recording.Time // when it was last woken
	told   bool           // an answer had come when it was woken
}

// callers follows one loop.
type callers struct {
	*carriers
	causality.Shares[timeline.RequestID]                   // by call: the requests that it may belong to
	calls                                []timeline.CallID // calls that the loop made, in order
	ended                                []int             // indexes of calls, in order of their answers
	sleeps                               []timeline.Stint  // spans in which the loop slept
	asks                                 []ask             // in order of from
	reach                                []recording.Time  // up to each: the latest waits
	askers                               map[timeline.RequestID]*asker
}

// fewKnown: the rule needs at least one turn, and one call known at once, per this many calls of a loop.
const fewKnown = 4

// byAsks assigns the calls of loops that other strands ask for them.
func (h *carriers) byAsks() {
	by := make([][]timeline.CallID, len(h.strands))
	for i, w := range h.ways {
		if w.carried && w.own {
			by[w.reader] = append(by[w.reader], timeline.CallID(i))
		}
	}
	for s, calls := range by {
		if len(calls) < enoughTasks {
			continue
		}
		a := &callers{carriers: h, askers: map[timeline.RequestID]*asker{}}
		a.calls = lists.ByTime(calls, func(id *timeline.CallID) recording.Time { return h.sent(*id) })
		if a.listSleeps(timeline.StrandID(s)); len(a.sleeps)*fewKnown < len(calls) {
			continue // so many calls per turn cannot be told apart, and would take long
		}
		if a.listAsks(timeline.StrandID(s)); len(a.asks) < enoughTasks {
			continue
		}
		if a.find(); a.believed() {
			a.settle()
		}
	}
}

// listSleeps lists when the loop slept for its sockets.
func (a *callers) listSleeps(s timeline.StrandID) {
	for _, st := range a.f.Threads[s].Steps {
		if st.Off != nil && st.Off.State == recording.OffSleep && polls(st.Off) && st.Off.Woken != recording.NoTime {
			a.sleeps = append(a.sleeps, timeline.Stint{From: st.Off.Since, To: st.Off.Woken, Request: timeline.None})
		}
	}
}

// turn returns when the loop last went to sleep before a time, and when it woke.
func (a *callers) turn(at recording.Time) (slept, woke recording.Time) {
	i := sort.Search(len(a.sleeps), func(k int) bool { return a.sleeps[k].To > at })
	if i == 0 {
		return a.f.Start, a.f.Start
	}
	return a.sleeps[i-1].From, a.sleeps[i-1].To
}

// listAsks lists when requests may have asked a loop for calls.
func (a *callers) listAsks(s timeline.StrandID) {
	for _, w := range a.strands[s].woke {
		r := a.ownAt(w)
		if r == timeline.None || !a.mayDeliver(w) {
			continue
		}
		from, by := a.t.Requests[r].FirstRead, a.askers[r]
		if by == nil {
			by = &asker{}
			a.askers[r] = by
		} else {
			from = by.woken
		}
		by.woken, by.strand = w.at, w.of
		a.asks = append(a.asks, ask{from, w.off.Since, w.at, r})
	}
	slices.SortStableFunc(a.asks, func(x, y ask) int { return cmp.Compare(x.from, y.from) })
	a.reach = causality.Reaching(a.asks, func(x *ask) recording.Time { return x.waits })
}

// find finds the requests of a loop's calls.
func (a *callers) find() {
	for i := range a.calls {
		a.ended = append(a.ended, i)
		a.Whose = append(a.Whose, timeline.None)
	}
	a.ended = lists.ByTime(a.ended, func(i *int) recording.Time { return a.t.Calls[a.calls[*i]].End })
	a.May = make([][]timeline.RequestID, len(a.calls))
	for i, id := range a.calls {
		if r := a.t.Calls[id].Request; r != timeline.None {
			a.May[i] = []timeline.RequestID{r}
		} else {
			a.May[i] = a.may(id)
		}
	}
	for i := range a.calls {
		a.Settle(i)
	}
	for range rounds {
		if !a.answers() {
			break
		}
	}
}

// may lists the requests that a call may belong to.
func (a *callers) may(id timeline.CallID) (list []timeline.RequestID) {
	c, sent := &a.t.Calls[id], a.sent(id)
	began := sent
	if c.New {
		began = min(began, c.Start)
	}
	slept, woke := a.turn(began)
	add := func(id timeline.RequestID) {
		if r := &a.t.Requests[id]; r.FirstWrite >= c.End && r.FirstRead <= sent && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	k := sort.Search(len(a.asks), func(k int) bool { return a.asks[k].from > sent })
	for k--; k >= 0 && a.reach[k] >= slept && len(list) < manySteps; k-- {
		if a.asks[k].waits >= slept {
			add(a.asks[k].request)
		}
	}
	for _, i := range a.between(woke, sent) {
		for _, r := range a.May[i] {
			add(r)
		}
	}
	return list
}

// between lists the calls whose answers came in a span.
func (a *callers) between(from, to recording.Time) []int {
	end := func(k int) recording.Time { return a.t.Calls[a.calls[a.ended[k]]].End }
	i := sort.Search(len(a.ended), func(k int) bool { return end(k) >= from })
	n := sort.Search(len(a.ended), func(k int) bool { return end(k) > to })
	return a.ended[i:max(i, min(n, i+manySteps))]
}

// answers draws the conclusions from the strands that were woken: one of the answers that came in the turn, while the
// strand waited, was for its request. It reports whether anything new followed.
func (a *callers) answers() (more bool) {
	for _, x := range a.asks {
		_, woke := a.turn(x.woken)
		only, n := -1, 0
		for _, i := range a.between(woke, x.woken) {
			if slices.Contains(a.May[i], x.request) {
				only, n = i, n+1
			}
		}
		if n == 0 || a.t.Calls[a.calls[only]].End < x.waits {
			continue // it waited for something else; or the answer came before it waited
		}
		a.askers[x.request].told = true
		if n == 1 && a.Whose[only] == timeline.None {
			a.May[only] = []timeline.RequestID{x.request}
			a.Settle(only)
			more = true
		}
	}
	return more
}

// believed reports whether hardly any call is left without a possible request, and hardly any request was woken with
// only answers that cannot be its own.
func (a *callers) believed() bool {
	odd, known := 0, 0
	for i, r := range a.Whose {
		if r != timeline.None {
			known++
		}
		if len(a.May[i]) == 0 && !a.t.Calls[a.calls[i]].Cut {
			odd++
		}
	}
	for r, by := range a.askers {
		if !by.told && !a.t.Requests[r].Cut {
			odd++
		}
	}
	return known*fewKnown >= len(a.calls) && odd*causality.Exceptions <= len(a.calls)
}

// settle assigns the calls.
func (a *callers) settle() {
	for i, r := range a.Whose {
		c := &a.t.Calls[a.calls[i]]
		by := a.askers[r]
		if by != nil && c.Request == timeline.None && a.mayBeHanded(c) && a.sent(c.ID) >= a.t.Requests[r].FirstRead {
			a.t.Assign(c, r, timeline.WhyHandOffAnswer)
			c.Strand, c.Carried = by.strand, true
			a.ways[c.ID].delivered = true
		}
	}
}
