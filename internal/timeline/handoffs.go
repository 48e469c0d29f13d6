package timeline

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// Why a call was associated with a request that another strand read, or not: stable
// codes in Call.Why.
const (
	WhyHandOff          = "hand-off"           // on a strand that the request's own, or one that worked for it, had woken for work, or met at a channel
	WhyHandOffEnd       = "hand-off-end"       // on a strand that then delivered a result to the request's own
	WhyHandOffAnswer    = "hand-off-answer"    // on a strand that carries calls for others: its answer was delivered to the request's own
	WhyHandOffOnly      = "hand-off-only"      // on a strand that works for others, while one request was open
	WhyHandOffOrder     = "hand-off-order"     // on a strand that works for others: by the order of the queue, nobody else can have put it in
	WhyHandOffTaken     = "hand-off-taken"     // Python: on a strand that worked on what the request had put into a queue; of no request, if that was over by then
	WhyHandOffAmbiguous = "hand-off-ambiguous" // on a strand that works for others: for which is not known
)

// handOffs find work that strands did for requests which others had read.
type handOffs struct {
	t     *Timeline
	f     *facts
	o     owners
	wakes wakes

	serving owners // whom strands worked for that answer what others had read

	carried   []bool     // by call
	readBy    []StrandID // by call: that read its answer, or None
	ownWriter []bool     // by call: who read the answer had written it
	got       []bool     // by call: its answer was delivered
	reads     [][]readAt // by strand, in order
	between   []int32    // by strand: how often it handed an answer on that another had read
	callsOf   [][]CallID // by strand that sent them, in order of sending: calls of no request yet
	answers   [][]result // by strand that wrote them, in order: responses to requests that another had read
	idle      []idleAt   // by strand
	results   map[place]*ends
	jobs      [][]job                      // by strand, in order of time
	parts     [][]handed                   // by request
	least     []int                        // by strand: the calls that each of its tasks makes, at least; unsure: not known
	even      []bool                       // by strand: all its tasks make as many
	begins    []Time                       // by request: since when its strand may have handed work over
	bursts    []Time                       // by request: until when its strand may have handed work over
	servers   map[recording.ProcessID]bool // workers answer requests, one after the other
	busy      busyTimes
	direct    map[recording.ProcessID]bool // who wakes a worker hands it its task
	takings   [][]taking                   // by strand, in order: what it worked on
	contexts  *contexts                    // nil: none are known
	shared    map[word]bool                // several waited there for work at once, woken in contexts
	open      map[recording.ProcessID]*openOnes
	lingering map[offKey]bool // see lingers
}

// unsure is the number of calls of tasks of which too little is known.
const unsure = -1

// associateHandOffs gives calls that were made on strands without a request of their
// own to the requests that they were handed over by, where that is certain. It returns the
// parts of requests that tells, and notes the sleeps in which strands lingered.
func associateHandOffs(t *Timeline, f *facts, in segmentInput) [][]handed {
	t.lingering = map[offKey]bool{}
	h := &handOffs{t: t, f: f, o: in.owners, contexts: in.contexts, lingering: t.lingering}
	calls := h.gather(in)
	taken := f.tookWork()
	if !calls && !taken && !h.awaitsTasks() {
		h.findLingering()
		return nil
	}
	h.wakes = buildWakes(f)
	h.open = openIn(t)
	h.parts = make([][]handed, len(t.Requests))
	h.serving = make(owners, len(h.o))
	if calls || taken {
		h.byCallsAndAnswers()
	}
	h.addTasks()
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Request != None && c.Start < t.Requests[c.Request].FirstRead {
			warmed(c, &in.calls[i].bounds)
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
	h.findServers()
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
func (h *handOffs) gather(in segmentInput) bool {
	h.callsOf = make([][]CallID, len(h.t.Strands))
	any := false
	for i := range h.t.Calls {
		if h.mayBeHanded(&h.t.Calls[i]) {
			any = true
			break
		}
	}
	if any {
		h.listReads(in.calls)
		h.findCarried(in.calls)
	}
	for i := range h.t.Calls {
		if c := &h.t.Calls[i]; any && !h.carried[i] && h.mayBeHanded(c) {
			h.callsOf[c.Strand] = append(h.callsOf[c.Strand], CallID(i))
		}
	}
	h.sortCalls()
	return h.gatherAnswers(in.requests) || any
}

// mayBeHanded reports a call on a strand that may have made it for another's request.
func (h *handOffs) mayBeHanded(c *Call) bool {
	return c.Strand != None && int(c.Strand) < len(h.f.threads) && (c.Why == WhyNoOwner || c.Why == WhyContext) && !h.t.Strands[c.Strand].Loop
}

// sortCalls puts each strand's calls in order of being sent.
func (h *handOffs) sortCalls() {
	for _, list := range h.callsOf {
		slices.SortFunc(list, func(a, b CallID) int { return cmp.Compare(h.sent(a), h.sent(b)) })
	}
}

// gatherAnswers lists the responses to requests that another strand had read; false if
// there are none.
func (h *handOffs) gatherAnswers(requests []served) (any bool) {
	h.answers = make([][]result, len(h.t.Strands))
	for i := range requests {
		if w := &requests[i]; w.left != recording.NoTime {
			h.answers[w.writer], any = append(h.answers[w.writer], result{at: h.t.Requests[i].End, request: RequestID(i), place: place{None, 0}, answer: true}), true
		}
	}
	for s, list := range h.answers {
		h.answers[s] = byTime(list, func(r *result) Time { return r.at })
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
	return byTime(all, func(j **job) Time { return (*j).from })
}
