package handoffs

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// task is a call of a worker, or several that it made for one task, with the time in which
// it took the work: after begun, and before the first call was sent.
type task struct {
	call        timeline.CallID
	begun, sent recording.Time
	more        []timeline.CallID // after the first
	to          recording.Time    // before which it was done
}

// last is the last call of a task.
func (x *task) last() timeline.CallID {
	if n := len(x.more); n > 0 {
		return x.more[n-1]
	}
	return x.call
}

// taken is when the work was.
func (x *task) taken() causality.Span { return causality.Span{From: x.begun, To: x.sent} }

// queues are those that workers share.
type queues struct{ *rulings }

// byOrder associates calls that nothing tells of by the order of the queue: what was
// taken later was put in later. That queues keep it, and that a task makes one call, is
// checked on the calls whose requests are known by what was delivered.
func (h *queues) byOrder() {
	of := map[recording.ProcessID][][]task{}
	var processes []recording.ProcessID
	for _, pool := range h.pools() {
		p := h.t.Calls[pool[0].call].Process
		if len(of[p]) == 0 {
			processes = append(processes, p)
		}
		of[p] = append(of[p], pool)
	}
	endings := h.endings()
	for _, p := range processes {
		order := h.burstOrder(p) // once, as many pools may have one process
		for _, pool := range h.joined(of[p], order) {
			h.orderRounds(pool, order, nil)
			if h.oneAtATime(p) {
				h.orderRounds(pool, order, h.awaits(pool, endings))
			}
		}
	}
}

// joined returns the pools of a process that keep the order of their queues. Workers that
// never wait do not show whose queue it is they take from: all are one pool if all
// together keep the order.
func (h *queues) joined(pools [][]task, order burstOrder) [][]task {
	if all := slices.Concat(pools...); len(pools) > 1 && h.newQueue(all, order).ordered() {
		return [][]task{all}
	}
	return slices.DeleteFunc(pools, func(p []task) bool { return !h.newQueue(p, order).ordered() })
}

// mayOrder reports a task that nothing tells of but the order of its queue may.
func (h *queues) mayOrder(x *task) bool {
	c := &h.t.Calls[x.call]
	return c.Why == timeline.WhyHandOffAmbiguous && h.strands[c.Strand].least == 1+len(x.more)
}

// rounds bounds how often what was found by the order of a queue is used to find more.
const rounds = 8

func (h *queues) orderRounds(pool []task, order burstOrder, how *awaited) {
	for range rounds {
		if !h.orderRound(pool, order, how) {
			return
		}
	}
}

// orderRound associates calls by the order of their queue; false if nothing was found.
func (h *queues) orderRound(pool []task, order burstOrder, how *awaited) bool {
	q := h.newQueue(pool, order)
	q.how = how
	var tasks []task
	for i := range pool {
		if h.mayOrder(&pool[i]) {
			tasks = append(tasks, pool[i])
		}
	}
	found := false
	for i, r := range q.whoseAll(pool, tasks) {
		if r != timeline.None {
			h.give(&tasks[i], r, timeline.WhyHandOffOrder)
			found = true
		}
	}
	return found
}

// give associates the calls of a task that nothing else told of.
func (h *queues) give(x *task, r timeline.RequestID, why string) {
	for i := -1; i < len(x.more); i++ {
		c := &h.t.Calls[x.call]
		if i >= 0 {
			c = &h.t.Calls[x.more[i]]
		}
		if c.Request == timeline.None && c.Why == timeline.WhyHandOffAmbiguous {
			h.t.Assign(c, r, why)
		}
	}
}

// whoseAll returns the requests that tasks of a pool belong to, or None.
func (q *queue) whoseAll(pool, tasks []task) []timeline.RequestID {
	if all := q.h.sharesOf(pool, q.burstOrder); all != nil {
		s := q.divide(pool, tasks, all)
		if s.Odd*causality.Exceptions <= len(tasks) {
			return s.Whose
		}
	}
	whose := make([]timeline.RequestID, len(tasks))
	for i, x := range tasks {
		whose[i] = q.only(x)
	}
	return whose
}

// pools lists the tasks of workers that wake each other, where only requests' own
// strands hand over work.
func (h *queues) pools() [][]task {
	parent := make([]timeline.StrandID, len(h.strands))
	for s := range parent {
		parent[s] = timeline.StrandID(s)
	}
	root := func(s timeline.StrandID) timeline.StrandID {
		for parent[s] != s {
			parent[s] = parent[parent[s]]
			s = parent[s]
		}
		return s
	}
	words := map[[2]int64]timeline.StrandID{}
	for s := range h.strands {
		if w := h.strands[s].idle.word; w != 0 {
			k := [2]int64{int64(h.t.Strands[s].Process), w}
			if other, ok := words[k]; ok {
				parent[root(timeline.StrandID(s))] = root(other)
			}
			words[k] = timeline.StrandID(s)
		}
	}
	h.eachJob(func(j *job) {
		if j.by != timeline.None && len(j.calls) > 0 && len(h.strands[j.by].calls) > 0 && h.owner(j.by, j.from) == timeline.None {
			parent[root(j.strand)] = root(j.by)
		}
	})
	place, list := map[timeline.StrandID]int{}, [][]task(nil)
	h.eachJob(func(j *job) {
		k, ok := place[root(j.strand)]
		if !ok && len(j.calls) > 0 {
			k, list = len(list), append(list, nil)
			place[root(j.strand)] = k
		}
		for i := 0; i < len(j.calls); {
			n, id := h.together(j, i), j.calls[i]
			x := task{id, h.taken(j, i), h.sent(id), j.calls[i+1 : i+n], j.to}
			if i+n < len(j.calls) {
				x.to = h.sent(j.calls[i+n])
			}
			list[k] = append(list[k], x)
			h.complete(&list[k][len(list[k])-1])
			i += n
		}
	})
	return list
}

// together is how many calls of a job, from the i-th on, are of one task: as many as each
// makes, if those before, up to the last result, and after, up to the next, come out even.
func (h *queues) together(j *job, i int) int {
	n := h.strands[j.strand].least
	if n <= 1 || !h.strands[j.strand].even {
		return 1
	}
	from, to := 0, len(j.calls)
	for _, x := range j.results {
		if x.calls > i {
			to = x.calls
			break
		}
		from = x.calls
	}
	if (to-from)%n != 0 {
		return 1
	}
	return n
}

// complete gives the calls of a task of which one is known to the same request.
func (h *queues) complete(x *task) {
	c := &h.t.Calls[x.call]
	for _, id := range x.more {
		if c.Request == timeline.None {
			c = &h.t.Calls[id]
		}
	}
	if c.Request != timeline.None && len(x.more) > 0 {
		h.give(x, c.Request, c.Why)
	}
}

// taken is the earliest time at which a job can have turned to its i-th call.
func (h *queues) taken(j *job, i int) recording.Time {
	at := j.from
	if i > 0 {
		at = h.t.Calls[j.calls[i-1]].End
	}
	k := sort.Search(len(j.results), func(k int) bool { return j.results[k].calls > i })
	for k--; k >= 0 && j.results[k].calls == i; k-- {
		if x := j.results[k]; x.at <= h.sent(j.calls[i]) {
			return max(at, x.at)
		}
	}
	return at
}

// queue tells by the known tasks of a pool whose others may be.
type queue struct {
	h     *queues
	order causality.Order
	known []task
	how   *awaited // nil: not known
	burstOrder
}

// burstOrder are the requests of a process.
type burstOrder struct {
	reqs   []timeline.RequestID // in order of the beginnings of their bursts
	reach  []recording.Time     // up to each: the latest end of a burst
	begins []recording.Time     // by request: of its burst
	bursts []recording.Time     // by request: the end of its burst
}

func (h *queues) newQueue(pool []task, order burstOrder) *queue {
	q := &queue{h: h, burstOrder: order}
	for _, x := range pool {
		if h.t.Calls[x.call].Request != timeline.None {
			q.known = append(q.known, x)
		}
	}
	passages := make([]causality.Passage, len(q.known))
	for i, x := range q.known {
		r := h.t.Calls[x.call].Request
		passages[i] = causality.Passage{Put: causality.Span{From: q.begins[r], To: q.bursts[r]}, Taken: x.taken()}
	}
	q.order = causality.NewOrder(passages)
	return q
}

func (h *queues) burstOrder(p recording.ProcessID) burstOrder {
	var list []timeline.RequestID
	for i := range h.t.Requests {
		if r := &h.t.Requests[i]; r.Process == p && r.Strand != timeline.None {
			list = append(list, r.ID)
		}
	}
	return sorted(burstOrder{reqs: list, begins: h.begins, bursts: h.bursts})
}

// sorted puts requests in order of the beginnings of their bursts.
func sorted(o burstOrder) burstOrder {
	o.reqs = lists.ByTime(slices.Clone(o.reqs), func(r *timeline.RequestID) recording.Time { return o.begins[*r] })
	o.reach = causality.Reaching(o.reqs, func(r *timeline.RequestID) recording.Time { return o.bursts[*r] })
	return o
}

// ordered reports whether the calls that are known by what was delivered keep the order.
// (Those known by what was handed over are no evidence: nobody else had put anything in,
// so they keep any order, and of a task of several calls only the first is known so.)
func (q *queue) ordered() bool {
	all, odd := 0, 0
	for _, x := range q.known {
		c := &q.h.t.Calls[x.call]
		if c.Why != timeline.WhyHandOffEnd {
			continue
		}
		all++
		if q.bursts[c.Request] < q.order.Put(x.taken()).From {
			odd++
		}
	}
	return all >= enoughTasks && odd*causality.Exceptions <= all
}

// only returns the one request that can have put a task in, None if there are several.
func (q *queue) only(x task) timeline.RequestID {
	if all := q.whose(x); len(all) == 1 {
		return all[0]
	}
	return timeline.None
}

// whose returns the requests that can have put a task in; none if that is not known.
func (q *queue) whose(x task) []timeline.RequestID {
	put := q.order.Put(x.taken())
	var all []timeline.RequestID
	end := q.h.t.Calls[x.last()].End
	i := sort.Search(len(q.reqs), func(k int) bool { return q.begins[q.reqs[k]] > put.To })
	for k, n := i-1, 0; k >= 0 && q.reach[k] >= put.From; k-- {
		if n++; n > manySteps {
			return nil
		}
		if r := &q.h.t.Requests[q.reqs[k]]; q.bursts[r.ID] >= put.From && r.End >= end && q.how.fits(q.h.scene, &x, r.ID) {
			all = append(all, r.ID)
		}
	}
	return all
}
