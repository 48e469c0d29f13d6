package handoffs

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/recording"
)

// submitLead bounds the time between putting work into a queue and waking the thread that is to take it.
const submitLead recording.Duration = 50_000

// decisions assigns the calls of jobs by the strand that started the job and the strands to which it delivered
// results.
type decisions struct {
	*activity
	bursts []causality.Span // by request: when its strand may have handed work over
	busy   map[recording.ProcessID]*busyTimes
}

// decideAll assigns the calls of all jobs.
func (h *decisions) decideAll() {
	h.findBursts()
	h.countCalls()
	h.claimAll()
	h.findBusy()
	h.eachJob(h.decide)
}

// claimAll finds the request that the start of each job belongs to. It also marks jobs as late that started while a
// worker that was woken for another request had yet to begin: they may have taken that request's task.
func (h *decisions) claimAll() {
	begun := map[recording.ProcessID][]*job{} // claimed jobs that make calls
	for _, j := range h.inOrder() {
		if h.claim(j); j.claim == timeline.None || len(j.calls) == 0 {
			continue
		}
		p := h.t.Strands[j.strand].Process
		for _, x := range begun[p][max(0, len(begun[p])-manySteps):] {
			j.late = j.late || x.claim != j.claim && h.sent(x.calls[0]) > j.from
		}
		begun[p] = append(begun[p], j)
	}
}

// claim finds the request that a job's start belongs to: the request of the strand that woke it.
func (h *decisions) claim(j *job) {
	if j.by == timeline.None || j.told {
		return
	}
	if r := h.worksFor(j.by, j.from); r != timeline.None {
		j.claim, j.root = r, j.from-recording.Time(submitLead)
		return
	}
	if from := h.jobAt(j.by, j.from); from != nil && from.claim != timeline.None && !from.told && !from.moved(j.from) {
		j.claim, j.root = from.claim, from.root
	}
}

// moved reports whether a job had delivered a result before a time: it may have taken another request's task since.
func (j *job) moved(at recording.Time) bool { return len(j.results) > 0 && j.results[0].at < at }

// countCalls learns how many calls the tasks of each strand make at least: between two results lie one or more tasks.
// Strands that wait for work at the same word have tasks from one queue. A few exceptions are tolerated. Requests
// that were under way when the recording began or ended do not count, since some of their calls may not have been
// seen.
func (h *decisions) countCalls() {
	of := map[word][]int{}
	for s := range h.strands {
		jobs := h.strands[s].jobs
		q := h.queueKey(timeline.StrandID(s))
		for i := range jobs {
			for k, r := range jobs[i].results {
				if !h.t.Requests[r.request].Cut && (k > 0 || jobs[i].by != timeline.None) {
					of[q] = append(of[q], r.calls-jobs[i].callsUpTo(k))
				}
			}
		}
	}
	for _, counts := range of {
		slices.Sort(counts)
	}
	for s := range h.strands {
		counts := of[h.queueKey(timeline.StrandID(s))]
		h.strands[s].least = unsure
		if len(counts) >= enoughTasks {
			h.strands[s].least = counts[len(counts)/causality.Exceptions]
			h.strands[s].even = multiples(counts, h.strands[s].least)
		}
	}
}

// queueKey identifies the queue that a strand takes work from, as far as its waits show it.
func (h *decisions) queueKey(s timeline.StrandID) word {
	if w := h.strands[s].idle.word; w != 0 {
		return word{h.t.Strands[s].Process, w}
	}
	return word{timeline.None, int64(s)}
}

// multiples reports that hardly any count is not a multiple of another number.
func multiples(counts []int, of int) bool {
	var all causality.Tally // odd: not a multiple
	for _, n := range counts {
		all.Add(of <= 0 || n%of != 0)
	}
	return all.Rule(0)
}

// enoughTasks is how many tasks are needed to learn how many calls each task makes.
const enoughTasks = 8

// decision is the request of a call of a job, and the rule.
type decision struct {
	request timeline.RequestID
	why     string
	odd     bool // two rules name different requests
	certain bool // no other rule counts
}

func (x *decision) say(r timeline.RequestID, why string) {
	switch {
	case x.certain:
	case x.request == timeline.None:
		x.request, x.why = r, why
	case x.request != r:
		x.odd = true
	}
}

// decide assigns the calls of a job: first those that the delivered results make certain, then those by the strand
// that handed the job over.
func (h *decisions) decide(j *job) {
	if len(j.calls)+len(j.results) == 0 {
		return
	}
	all := make([]decision, len(j.calls))
	for i := range all {
		all[i].request = timeline.None
	}
	h.byResults(j, all)
	if j.claim != timeline.None {
		h.byStart(j, all)
	}
	for i, id := range j.calls {
		h.settle(j, id, all[i])
	}
}

// byResults: the last calls before a result belong to its task, as many as every task makes.
func (h *decisions) byResults(j *job, all []decision) {
	least := h.strands[j.strand].least
	for k, x := range j.results {
		before := j.callsUpTo(k)
		n := x.calls - before
		if x.answer && len(h.serving[j.strand]) > 0 {
			for i := before; i < x.calls; i++ {
				all[i] = decision{request: x.request, why: timeline.WhyHandOffEnd, certain: true}
			}
		}
		sure := min(n, max(least, 0))
		if n == 1 && least != 0 {
			sure = 1
		}
		for i := x.calls - sure; i < x.calls; i++ {
			all[i].say(x.request, timeline.WhyHandOffEnd)
		}
	}
}

// byStart: the first calls of a job belong to the request that handed it over, under one of three conditions: no
// other request can have put anything into the queue before they were sent; the strand was created for them; or their
// result is delivered to that request.
func (h *decisions) byStart(j *job, all []decision) {
	if j.told {
		h.byContext(j, all)
		return
	}
	task := max(h.strands[j.strand].least, 1)
	until := h.foreign(j)
	first := len(j.calls)
	agreed, own := false, j.made && h.ownThread(j)
	if len(j.results) > 0 {
		first = j.results[0].calls
		agreed = j.results[0].request == j.claim && first <= task
	}
	for i, id := range j.calls[:first] {
		if own && i < task || !j.late && h.sent(id) < until && h.taskOf(j, id) || agreed {
			all[i].say(j.claim, timeline.WhyHandOff)
		}
	}
}

// ownThread reports whether a strand that a request created worked for that request alone. A pool that grows creates
// threads that may take what other requests had put in.
func (h *decisions) ownThread(made *job) bool {
	for i := range h.strands[made.strand].jobs {
		j := &h.strands[made.strand].jobs[i]
		if j.claim != timeline.None && j.claim != made.claim {
			return false
		}
		for _, x := range j.results {
			if x.request != made.claim {
				return false
			}
		}
	}
	return true
}

// taskOf reports whether a call may belong to the task that a job was started for. The time at which a carried call
// was sent is not the time at which the job turned to it. If another worker started the job, such a call may belong
// to a task that was put in earlier and whose worker had yet to run.
func (h *decisions) taskOf(j *job, id timeline.CallID) bool {
	return !h.ways[id].carried || h.owner(j.by, j.from) == j.claim
}

// settle assigns one call of a job.
func (h *decisions) settle(j *job, id timeline.CallID, x decision) {
	c, at := &h.t.Calls[id], h.sent(id)
	if x.request == timeline.None && (j.claim != timeline.None || len(j.results) > 0) {
		x.request, x.why = h.open[c.Process].At(at), timeline.WhyHandOffOnly
	}
	switch {
	case c.Why == timeline.WhyContext:
	case x.request != timeline.None && !x.odd && h.t.Requests[x.request].OpenAt(at):
		h.t.Assign(c, x.request, x.why)
	case j.by != timeline.None || len(j.results) > 0:
		h.t.Assign(c, c.Request, timeline.WhyHandOffAmbiguous)
	}
}
