// Package handoffs decides to which requests the calls of threads belong that work for others: those
// that were woken for work, that took it from a queue, or that carry calls and deliver answers.
// Associate is all that it does, besides PythonContexts, which follows requests through Python's
// contexts; it returns what each of those threads did for which request (Handover). A call of a
// worker that is given to a wrong request is mended here, by the rule that its Why names.
package handoffs

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// handOffs find work that strands did for requests which others had read.
type handOffs struct {
	t     *timeline.Timeline
	f     *facts.Facts
	o     timeline.Stints
	wakes wakes

	serving timeline.Stints // whom strands worked for that answer what others had read

	carried   []bool              // by call
	readBy    []timeline.StrandID // by call: that read its answer, or None
	ownWriter []bool              // by call: who read the answer had written it
	got       []bool              // by call: its answer was delivered
	reads     [][]readAt          // by strand, in order
	between   []int32             // by strand: how often it handed an answer on that another had read
	callsOf   [][]timeline.CallID // by strand that sent them, in order of sending: calls of no request yet
	answers   [][]result          // by strand that wrote them, in order: responses to requests that another had read
	idle      []idleAt            // by strand
	results   map[place]*ends
	jobs      [][]job               // by strand, in order of time
	parts     [][]timeline.Handover // by request
	least     []int                 // by strand: the calls that each of its tasks makes, at least; unsure: not known
	even      []bool                // by strand: all its tasks make as many
	begins    []recording.Time      // by request: since when its strand may have handed work over
	bursts    []recording.Time      // by request: until when its strand may have handed work over
	busy      busyTimes
	direct    map[recording.ProcessID]bool // who wakes a worker hands it its task
	takings   [][]taking                   // by strand, in order: what it worked on
	contexts  *contexts                    // nil: none are known
	shared    map[word]bool                // several waited there for work at once, woken in contexts
	open      map[recording.ProcessID]*timeline.Open
}

// manySteps bounds how many steps back are looked at.
const manySteps = 64

// unsure is the number of calls of tasks of which too little is known.
const unsure = -1

// Associate gives calls that were made on strands without a request of their
// own to the requests that they were handed over by, where that is certain. It returns the
// parts of requests that tells, and notes the sleeps in which strands lingered.
func Associate(t *timeline.Timeline, f *facts.Facts, in Input) [][]timeline.Handover {
	h := &handOffs{t: t, f: f, o: in.Owners, contexts: in.Contexts}
	calls := h.gather(in)
	taken := f.TookWork()
	if !calls && !taken && !h.awaitsTasks() {
		h.findLingering()
		return nil
	}
	h.wakes = buildWakes(f)
	h.open = timeline.OpenIn(t)
	h.parts = make([][]timeline.Handover, len(t.Requests))
	h.serving = make(timeline.Stints, len(h.o))
	if calls || taken {
		h.byCallsAndAnswers()
	}
	h.addTasks()
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead {
			exchange.Warmed(c, &in.Calls[i].Bounds)
		}
	}
	return h.settleParts()
}

// byCallsAndAnswers finds whose the calls of workers are, and what they answered, and lists
// the parts of requests that these tell.
func (h *handOffs) byCallsAndAnswers() {
	h.findIdle()
	h.findServing()
	h.findTakings()
	h.byAnswers()
	h.cutAll()
	h.findQueues()
	h.tellAll()
	h.findResults()
	h.fillAll()
	h.dropBegins()
	h.dropLocks()
	h.findBursts()
	h.findBegins()
	h.countCalls()
	h.claimAll()
	h.busy = h.newBusyTimes()
	h.direct = h.directOnes()
	h.eachJob(h.decide)
	h.byTakings()
	h.byOrder()
	h.eachJob(h.addParts)
	h.addTakings()
}

// gather lists the calls and responses that may have been handed over, by strand; false
// if there are none.
func (h *handOffs) gather(in Input) bool {
	h.callsOf = make([][]timeline.CallID, len(h.t.Strands))
	any := false
	for i := range h.t.Calls {
		if h.mayBeHanded(&h.t.Calls[i]) {
			any = true
			break
		}
	}
	if any {
		h.listReads(in.Calls)
		h.findCarried(in.Calls)
	}
	for i := range h.t.Calls {
		if c := &h.t.Calls[i]; any && !h.carried[i] && h.mayBeHanded(c) {
			h.callsOf[c.Strand] = append(h.callsOf[c.Strand], timeline.CallID(i))
		}
	}
	h.sortCalls()
	return h.gatherAnswers(in.Requests) || any
}

// mayBeHanded reports a call on a strand that may have made it for another's request.
func (h *handOffs) mayBeHanded(c *timeline.Call) bool {
	return c.Strand != timeline.None && int(c.Strand) < len(h.f.Threads) && (c.Why == timeline.WhyNoOwner || c.Why == timeline.WhyContext) && !h.t.Strands[c.Strand].Loop
}

// sortCalls puts each strand's calls in order of being sent.
func (h *handOffs) sortCalls() {
	for _, list := range h.callsOf {
		slices.SortFunc(list, func(a, b timeline.CallID) int { return cmp.Compare(h.sent(a), h.sent(b)) })
	}
}

// gatherAnswers lists the responses to requests that another strand had read; false if
// there are none.
func (h *handOffs) gatherAnswers(requests []exchange.Request) (any bool) {
	h.answers = make([][]result, len(h.t.Strands))
	for i := range requests {
		if w := &requests[i]; w.Left != recording.NoTime {
			h.answers[w.Writer], any = append(h.answers[w.Writer], result{at: h.t.Requests[i].End, request: timeline.RequestID(i), place: place{timeline.None, 0}, answer: true}), true
		}
	}
	for s, list := range h.answers {
		h.answers[s] = lists.ByTime(list, func(r *result) recording.Time { return r.at })
	}
	return any
}

// inOrder lists all jobs in order of their start.
func (h *handOffs) inOrder() []*job {
	var all []*job
	for _, jobs := range h.jobs {
		for i := range jobs {
			all = append(all, &jobs[i])
		}
	}
	return lists.ByTime(all, func(j **job) recording.Time { return (*j).from })
}
