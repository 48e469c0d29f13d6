// Package handoffs decides to which requests calls belong that threads make while they work for other threads
// (Associate). The Why of a call names the rule that decided, and dwell show REC --whose CALL prints it. If a call
// was given to the wrong request, look at the files of that rule. Work gets from a request's thread to another in six
// ways; each is a type:
//
//	Why                   type         files                  how the work is handed over
//	WhyContext,           contexts     contexts               it is done in the request's Python context, or in a copy;
//	WhyNoContext                                              or in a context that belongs to no request
//	WhyHandOffAnswer      carriers     carriers, deliveries,  a client's own threads send all calls and wake the asking
//	                                   callers                thread when the answer comes (deliveries), or one thread
//	                                                          polls for all answers and is asked in turns (callers)
//	WhyHandOffEnd         responders   responders             one thread reads a request; another does the rest and
//	                                                          answers it
//	WhyHandOffTaken       queueTakers  queuetakers            a thread takes from a queue what another was seen to put in
//	WhyHandOff            decisions    decisions, bursts,     a thread is woken for work by a request's thread, or in its
//	                                   jobcontexts            Python context (jobcontexts); bursts finds when other
//	                                                          requests can have put in work too
//	WhyHandOffEnd         decisions    decisions, loopends    the thread then wakes a request's thread that waits for the
//	                                                          result, or the loop that answers the request next (loopends)
//	WhyHandOffOnly        decisions    decisions              neither is known, but only one request was open
//	WhyHandOffOrder       queues       queue, shares,         the FIFO order of the queue that workers share, how many
//	                                   awaited                tasks each request puts in, and which results it waits for
//	WhyHandOffAmbiguous                                       a thread works for several requests, and no rule decides
//
// Some words: a worker is a strand that works for requests that it did not read. A wake is an edge from the thread
// that released a futex to the thread that it made runnable. A job is a span in which a worker worked without waiting
// for work; it may cover several tasks, each of which is one piece of work that a request put into a queue. A result
// is a wake that ends a request's wait for a task, or the response itself.
//
// PythonContexts runs first. Then Associate applies the types in this order: idlePlaces (where workers wait for
// work), responders, queueTakers, carriers, jobFinder (cuts workers into jobs), decisions, queueTakers again for the
// calls, queues.
//
// All of them share one activity: what each strand did, and for which request, as far as found yet. sleeps.go and
// lingers.go find what a sleep was for (work, a result, a lock, the next request), and jobs.go cuts the lives of
// workers by that. Look there first if calls go to the request whose task a worker did before or after, or if several
// rules are wrong at once. A rule that is true of most programs, but not of all, is believed for a process only if
// hardly any fact that is known otherwise contradicts it (causality.Tally).
//
// Finally, parts.go lists what each thread did for which request (Handover). For that, tasks.go and silence.go also
// find Python tasks that make no call, and looptasks.go those that loops leave to threads.
package handoffs

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// Input is what the rules use besides the Timeline and the facts.
type Input struct {
	Requests []exchange.Request
	Calls    []exchange.Call
	Owners   timeline.Stints
	Contexts *contexts
}

// Associate assigns calls that were made on strands without a request of their own to the requests that handed them
// over, if that is certain. It returns the parts of requests that follow from this, and notes the sleeps in which
// strands lingered.
func Associate(t *timeline.Timeline, f *facts.Facts, in Input) [][]timeline.Handover {
	h := newActivity(t, f, in)
	calls, answers, told := h.listCalls(in.Calls), h.listAnswers(in.Requests), f.TookWork() || in.Contexts != nil
	left := findLoopEnds(h)
	if !calls && !answers && !told && !left && !awaitsTasks(h) {
		(&jobFinder{activity: h}).findLingering()
		return nil
	}
	h.open = timeline.OpenIn(t)
	h.listWakes()
	parts := partList{activity: h, parts: make([][]timeline.Handover, len(t.Requests))}
	if calls || answers || told || left {
		h.byCallsAndAnswers()
		h.eachJob(parts.addParts)
		parts.addTakings()
		(&loopTasks{partList: &parts}).find(in.Requests)
	}
	(&taskFinder{&parts}).find()
	for i := range t.Calls {
		exchange.WarmedBefore(t, &t.Calls[i], &in.Calls[i].Bounds)
	}
	return parts.settle()
}

// byCallsAndAnswers finds the requests of workers' calls, and of what workers answered.
func (h *activity) byCallsAndAnswers() {
	(&idlePlaces{h}).find()
	(&responders{h}).find()
	takers := queueTakers{h}
	takers.find()
	(&carriers{h}).byAnswers()
	(&jobFinder{activity: h}).find()
	rules := decisions{activity: h}
	rules.decideAll()
	takers.byTakings()
	(&queues{&rules}).byOrder()
}

// listCalls lists the calls that may have been handed over, by the strands that sent them, except carried ones; false
// if there are none.
func (h *activity) listCalls(calls []exchange.Call) (any bool) {
	for i := range h.t.Calls {
		any = any || h.mayBeHanded(&h.t.Calls[i])
	}
	if !any {
		return false
	}
	(&carriers{h}).find(calls)
	for i := range h.t.Calls {
		if c := &h.t.Calls[i]; !h.ways[i].carried && h.mayBeHanded(c) {
			h.strands[c.Strand].calls = append(h.strands[c.Strand].calls, timeline.CallID(i))
		}
	}
	h.sort()
	return true
}

// listAnswers lists the responses to requests that another strand had read; false if there are none.
func (h *activity) listAnswers(requests []exchange.Request) (any bool) {
	for i := range requests {
		if w := &requests[i]; w.Left != recording.NoTime {
			s := &h.strands[w.Writer]
			s.answers, any = append(s.answers, result{at: h.t.Requests[i].End, request: timeline.RequestID(i), place: place{timeline.None, 0}, answer: true}), true
		}
	}
	h.sort()
	return any
}
