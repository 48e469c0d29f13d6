package handoffs

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// task is one call of a worker, or several that it made for one task, in order, with the span in which it took the
// work: after begun, and before the first call was sent.
type task struct {
	calls       []timeline.CallID
	begun, sent recording.Time
	to          recording.Time // the task was done before this time
}

// last is the last call of a task.
func (x *task) last() timeline.CallID { return x.calls[len(x.calls)-1] }

// taken is the span in which the work was taken.
func (x *task) taken() causality.Span { return causality.Span{From: x.begun, To: x.sent} }

// queues decides by the queues that workers share.
type queues struct{ *decisions }

// byOrder assigns calls that no other rule decides, by the order of the queue: what was taken later was put in later.
// Whether queues keep that order, and whether a task makes one call, is checked on calls whose requests are known by
// what was delivered.
func (h *queues) byOrder() {
	of := map[recording.ProcessID][][]task{}
	var processes []recording.ProcessID
	for _, pool := range h.pools() {
		p := h.t.Calls[pool[0].calls[0]].Process
		if len(of[p]) == 0 {
			processes = append(processes, p)
		}
		of[p] = append(of[p], pool)
	}
	endings := h.endings()
	for _, p := range processes {
		reqs := h.submittersOf(p) // once per process, since a process may have many pools
		for _, pool := range h.joined(of[p], reqs) {
			h.solve(pool, reqs, nil)
			if h.oneAtATime(p) {
				h.solve(pool, reqs, h.awaits(pool, endings))
			}
		}
	}
}

// pools lists the tasks of workers that take from one queue. Workers share a queue if they wait for work at one word,
// or if they wake each other although only requests' own strands hand over work.
func (h *queues) pools() [][]task {
	workers, first := causality.NewSets[timeline.StrandID, timeline.RequestID](len(h.strands)), map[word]timeline.StrandID{}
	for i := range h.strands {
		s := timeline.StrandID(i)
		if other, ok := first[h.queueKey(s)]; ok {
			workers.Join(s, other)
		}
		first[h.queueKey(s)] = s
	}
	h.eachJob(func(j *job) {
		if j.by != timeline.None && len(j.calls) > 0 && len(h.strands[j.by].calls) > 0 && h.owner(j.by, j.from) == timeline.None {
			workers.Join(j.strand, j.by)
		}
	})
	place, list := map[int]int{}, [][]task(nil) // by set of workers: its index in list
	h.eachJob(func(j *job) {
		pool := workers.Root(workers.Add(j.strand))
		k, ok := place[pool]
		if !ok && len(j.calls) > 0 {
			k, list = len(list), append(list, nil)
			place[pool] = k
		}
		for i := 0; i < len(j.calls); {
			n := h.together(j, i)
			x := task{j.calls[i : i+n], h.turnedTo(j, i), h.sent(j.calls[i]), j.to}
			if i+n < len(j.calls) {
				x.to = h.sent(j.calls[i+n])
			}
			h.complete(&x)
			list[k] = append(list[k], x)
			i += n
		}
	})
	return list
}

// together is how many calls of a job, from the i-th on, belong to one task. That is as many as each task makes, if
// the calls between the last result before and the next result after are a multiple of it; else 1.
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

// complete assigns all calls of a task to the request that one of them is known to belong to.
func (h *queues) complete(x *task) {
	for _, id := range x.calls {
		if c := &h.t.Calls[id]; c.Request != timeline.None {
			h.give(x, c.Request, c.Why)
			return
		}
	}
}

// give assigns the calls of a task that no other rule decided.
func (h *queues) give(x *task, r timeline.RequestID, why string) {
	for _, id := range x.calls {
		if c := &h.t.Calls[id]; c.Request == timeline.None && c.Why == timeline.WhyHandOffAmbiguous {
			h.t.Assign(c, r, why)
		}
	}
}

// joined returns the pools of a process that keep the order of their queues. Workers that never wait do not show
// which queue they take from: all pools count as one if all tasks together keep the order.
func (h *queues) joined(pools [][]task, p submitters) [][]task {
	if all := slices.Concat(pools...); len(pools) > 1 && h.newQueue(all, p).ordered() {
		return [][]task{all}
	}
	return slices.DeleteFunc(pools, func(pool []task) bool { return !h.newQueue(pool, p).ordered() })
}

// rounds bounds how often the order of a queue is used again with what it revealed before.
const rounds = 8

// solve assigns calls by the order of their queue, as long as that decides more of them.
func (h *queues) solve(pool []task, p submitters, how *awaited) {
	for range rounds {
		q := h.newQueue(pool, p)
		q.how = how
		var tasks []task
		for _, x := range pool {
			c := &h.t.Calls[x.calls[0]]
			if c.Why == timeline.WhyHandOffAmbiguous && h.strands[c.Strand].least == len(x.calls) {
				tasks = append(tasks, x)
			}
		}
		found := false
		for i, r := range q.whose(tasks) {
			if r != timeline.None {
				h.give(&tasks[i], r, timeline.WhyHandOffOrder)
				found = true
			}
		}
		if !found {
			return
		}
	}
}

// submitters are the requests of a process.
type submitters struct {
	reqs  []timeline.RequestID // in the order in which they began to hand over work
	reach []recording.Time     // up to each: until when any of them may have handed over work
}

// submittersOf lists the submitters of a process.
func (h *queues) submittersOf(process recording.ProcessID) (p submitters) {
	for i := range h.t.Requests {
		if r := &h.t.Requests[i]; r.Process == process && r.Strand != timeline.None {
			p.reqs = append(p.reqs, r.ID)
		}
	}
	p.reqs = lists.ByTime(p.reqs, func(r *timeline.RequestID) recording.Time { return h.bursts[*r].From })
	p.reach = causality.Reaching(p.reqs, func(r *timeline.RequestID) recording.Time { return h.bursts[*r].To })
	return p
}

// queue decides, by the known tasks of a pool, to which requests the other tasks may belong.
type queue struct {
	*queues
	submitters
	pool  []task
	known []task
	order causality.Order
	how   *awaited // nil: not known
}

func (h *queues) newQueue(pool []task, p submitters) *queue {
	q := &queue{queues: h, submitters: p, pool: pool}
	var passages []causality.Passage
	for _, x := range pool {
		if r := h.t.Calls[x.calls[0]].Request; r != timeline.None {
			q.known = append(q.known, x)
			passages = append(passages, causality.Passage{Put: h.bursts[r], Taken: x.taken()})
		}
	}
	q.order = causality.NewOrder(passages)
	return q
}

// ordered reports whether the calls that are known by what was delivered keep the order. Calls known by what was
// handed over are no evidence: no other request had put anything in, so they keep any order. And of a task with
// several calls, only the first is known that way.
func (q *queue) ordered() bool {
	var late causality.Tally // odd: put in before something that was taken earlier
	for _, x := range q.known {
		if c := &q.t.Calls[x.calls[0]]; c.Why == timeline.WhyHandOffEnd {
			late.Add(q.bursts[c.Request].To < q.order.Put(x.taken()).From)
		}
	}
	return late.Rule(enoughTasks)
}

// whose returns the requests that tasks of the pool belong to, or None. It uses how many tasks each request puts in,
// if that is known; else it takes the only request that can have put the task in.
func (q *queue) whose(tasks []task) []timeline.RequestID {
	if all := q.shares(); all != nil {
		if s := q.divide(tasks, all); s.Odd*causality.Exceptions <= len(tasks) {
			return s.Whose
		}
	}
	whose := make([]timeline.RequestID, len(tasks))
	for i := range tasks {
		whose[i] = timeline.None
		if may := q.may(&tasks[i]); len(may) == 1 {
			whose[i] = may[0]
		}
	}
	return whose
}

// may returns the requests that can have put a task in; none if that is not known.
func (q *queue) may(x *task) []timeline.RequestID {
	put := q.order.Put(x.taken())
	var all []timeline.RequestID
	end := q.t.Calls[x.last()].End
	i := sort.Search(len(q.reqs), func(k int) bool { return q.bursts[q.reqs[k]].From > put.To })
	for k, n := i-1, 0; k >= 0 && q.reach[k] >= put.From; k-- {
		if n++; n > manySteps {
			return nil
		}
		if r := &q.t.Requests[q.reqs[k]]; q.bursts[r.ID].To >= put.From && r.End >= end && q.how.fits(q.activity, x, r.ID) {
			all = append(all, r.ID)
		}
	}
	return all
}
