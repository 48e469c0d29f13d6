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
	WhyHandOffAmbiguous = "hand-off-ambiguous" // on a strand that works for others: for which is not known
)

// handOffs find work that strands did for requests which others had read.
type handOffs struct {
	t     *Timeline
	f     *facts
	o     owners
	wakes wakes

	carried []bool     // by call
	readBy  []StrandID // by call: that read its answer, or None
	reads   [][]readAt // by strand, in order
	callsOf [][]CallID // by strand that sent them, in order of sending: calls of no request yet
	answers [][]result // by strand that wrote them, in order: responses to requests that another had read
	idle    []idleAt   // by strand
	results map[place]*ends
	jobs    [][]job                      // by strand, in order of time
	parts   [][]handed                   // by request
	least   []int                        // by strand: the calls that each of its tasks makes, at least; unsure: not known
	bursts  []Time                       // by request: until when its strand may have handed work over
	submit  map[recording.ProcessID]bool // workers hand over work themselves
	servers map[recording.ProcessID]bool // workers answer requests, one after the other
	busy    busyTimes
	open    map[recording.ProcessID]*openOnes
}

// unsure is the number of calls of tasks of which too little is known.
const unsure = -1

// associateHandOffs gives calls that were made on strands without a request of their
// own to the requests that they were handed over by, where that is certain.
func associateHandOffs(t *Timeline, f *facts, in segmentInput) [][]handed {
	h := &handOffs{t: t, f: f, o: in.owners}
	h.listReads(in.calls)
	h.findCarried(in.calls)
	if !h.gather(in.requests) {
		return nil
	}
	h.wakes = buildWakes(f)
	h.findIdle()
	h.open = newOpenOnes(t)
	h.byAnswers()
	h.findResults()
	h.buildJobs()
	h.dropLocks()
	h.findBursts()
	h.countCalls()
	h.findServers()
	for _, j := range h.inOrder() {
		h.claim(j)
	}
	h.submit = h.submitters()
	h.busy = h.newBusyTimes()
	h.parts = make([][]handed, len(t.Requests))
	h.eachJob(h.decide)
	h.byOrder()
	h.eachJob(h.addParts)
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Request != None && c.Start < t.Requests[c.Request].FirstRead {
			warmed(c, &in.calls[i].bounds)
		}
	}
	return h.settleParts()
}

// gather lists the calls and responses that may have been handed over, by strand; false
// if there are none.
func (h *handOffs) gather(requests []served) bool {
	h.callsOf = make([][]CallID, len(h.t.Strands))
	any := false
	for i := range h.t.Calls {
		c := &h.t.Calls[i]
		if c.Strand == None || int(c.Strand) >= len(h.f.threads) || c.Why != WhyNoOwner || h.t.Strands[c.Strand].Loop {
			continue
		}
		if any = true; h.carried[i] {
			continue
		}
		h.callsOf[c.Strand] = append(h.callsOf[c.Strand], CallID(i))
	}
	for _, list := range h.callsOf {
		slices.SortFunc(list, func(a, b CallID) int { return cmp.Compare(h.sent(a), h.sent(b)) })
	}
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
