package handoffs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/recording"
)

// A loop that leaves its requests to the threads of an executor, as Vert.x and Netty can, wakes one of them right after
// it has read a request. That thread works for the request until it waits for work again or the loop answers. If
// threads share a queue, another may have been faster, and a loop may wake threads for other work too. So this rule is
// believed for a process only if it is nearly always confirmed: the loop, when such a thread wakes it, answers next the
// request that it had read. The rule does not apply to asyncio, which continues tasks in its own order and has
// contexts, nor to tasks that make calls, which have their own rules.

// loopTasks finds what threads did for requests that loops had read, where they made no call.
type loopTasks struct {
	*partList
	read  map[timeline.StrandID][]loopRead
	given map[timeline.RequestID]bool
	right causality.Tallies[recording.ProcessID] // odd: the loop answered another request when such a strand woke it
}

// loopRead is a request that a loop has read.
type loopRead struct {
	at      recording.Time // of its last byte; of its first if the last was not seen
	request timeline.RequestID
}

// loopTask is work that a loop gave to a strand.
type loopTask struct {
	strand   timeline.StrandID
	request  timeline.RequestID
	from, to recording.Time // to: when the strand waits for work, or has the next one
	ends     []result       // when the strand woke the loop in that span, and what the loop answered next
}

// find lists the parts of requests that such threads worked on.
func (h *loopTasks) find(requests []exchange.Request) {
	h.right, h.given = causality.Tallies[recording.ProcessID]{}, map[timeline.RequestID]bool{}
	h.listReads(requests)
	tasks := h.tasks()
	for s, list := range tasks {
		for i := range list {
			x := &list[i]
			x.to = h.t.Requests[x.request].End
			if j := h.jobAt(x.strand, x.from); j != nil {
				x.to = j.to
			}
			if i+1 < len(list) {
				x.to = min(x.to, list[i+1].from)
			}
			x.ends = within(h.loopEnds[s], x.from, x.to+1, func(e result) recording.Time { return e.at })
			if len(x.ends) > 0 {
				h.right.Add(h.t.Strands[s].Process, !slices.ContainsFunc(x.ends, func(e result) bool { return e.request == x.request }))
			}
		}
	}
	for s, list := range tasks {
		if !h.right[h.t.Strands[s].Process].Rule(enoughTasks) {
			continue
		}
		for i := range list {
			if x := &list[i]; len(within(h.strands[s].calls, x.from, x.to, h.sent)) == 0 {
				h.addTask(x)
			}
		}
		h.addUnwoken(timeline.StrandID(s), list)
	}
}

// tasks lists, by strand and in order, what loops had strands do. Each request is given to the first strand that is
// woken or created right after it was read, among those that wake loops at all. A JIT compiler's threads do not.
func (h *loopTasks) tasks() [][]loopTask {
	all := make([][]loopTask, len(h.strands))
	add := func(s, by timeline.StrandID, at recording.Time) {
		r := h.readBefore(by, at)
		if r == timeline.None || h.given[r] || len(h.loopEnds[s]) == 0 || h.t.Strands[s].Loop || h.owner(s, at) != timeline.None || h.t.Strands[s].Process != h.t.Strands[by].Process {
			return
		}
		h.given[r] = true
		all[s] = append(all[s], loopTask{strand: s, request: r, from: at})
	}
	for loop := range h.read {
		for _, w := range h.strands[loop].woke {
			if h.purposeOf(w.of, w.off) != forOther {
				add(w.of, loop, w.at)
			}
		}
	}
	for s := range h.f.Threads {
		if th := &h.f.Threads[s]; th.Born != recording.NoTime && h.f.Strand(th.Creator) != timeline.None {
			add(timeline.StrandID(s), h.f.Strand(th.Creator), th.Born)
		}
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b loopTask) int { return cmp.Compare(a.from, b.from) })
	}
	return all
}

// listReads lists what loops read, in order.
func (h *loopTasks) listReads(requests []exchange.Request) {
	h.read = map[timeline.StrandID][]loopRead{}
	for i := range requests {
		r := &h.t.Requests[i]
		if r.Strand == timeline.None || !leaves(h.activity, r.Strand) {
			continue
		}
		at := requests[i].Read
		if at == recording.NoTime {
			at = r.FirstRead
		}
		h.read[r.Strand] = append(h.read[r.Strand], loopRead{at, r.ID})
	}
	for _, list := range h.read {
		slices.SortStableFunc(list, func(a, b loopRead) int { return cmp.Compare(a.at, b.at) })
	}
}

// readBefore is the request that a loop had read last when it woke or created a strand; None if it had read none since
// it last waited for events.
func (h *loopTasks) readBefore(loop timeline.StrandID, at recording.Time) timeline.RequestID {
	list := h.read[loop]
	i := sort.Search(len(list), func(k int) bool { return list[k].at > at })
	if i == 0 || !h.t.Requests[list[i-1].request].OpenAt(at) || polled(h.f, loop, list[i-1].at, at) {
		return timeline.None
	}
	return list[i-1].request
}

// addTask lists what a strand did for the request that it was woken for. If the strand then did not wait for work, it
// also lists the requests that the loop answered next when the strand woke it again, if no strand was woken for them.
func (h *loopTasks) addTask(x *loopTask) {
	at := min(x.to, h.t.Requests[x.request].End)
	k := len(x.ends)
	for i, e := range x.ends {
		if e.request == x.request {
			at, k = min(at, e.at), i
		}
	}
	h.add(x.request, timeline.Part{Strand: x.strand, From: x.from, To: at}, h.t.Requests[x.request].Strand)
	for k++; k < len(x.ends); k++ {
		at = h.addEnd(x.strand, at, x.ends[k])
	}
}

// addUnwoken lists what a strand did for requests for which it was not woken, because it was not asleep yet.
func (h *loopTasks) addUnwoken(s timeline.StrandID, tasks []loopTask) {
	last := h.f.Start
	for _, e := range h.loopEnds[s] {
		for ; len(tasks) > 0 && tasks[0].to < e.at; tasks = tasks[1:] {
			last = max(last, tasks[0].to)
		}
		if j := h.jobAt(s, e.at); j != nil && (len(tasks) == 0 || tasks[0].from > e.at) && len(j.calls) == 0 {
			last = h.addEnd(s, max(last, j.from), e)
		}
	}
}

// addEnd lists that a strand worked, since a given time, for the request that a loop answered next when the strand woke
// it, if no strand was woken for that request. It returns when the strand woke the loop.
func (h *loopTasks) addEnd(s timeline.StrandID, since recording.Time, e result) recording.Time {
	if from := max(since, h.t.Requests[e.request].FirstRead); !h.given[e.request] && from < e.at {
		h.given[e.request] = true
		h.add(e.request, timeline.Part{Strand: s, From: from, To: e.at}, timeline.None)
	}
	return e.at
}
