// Package handoffs decides to which requests the calls of threads belong that work for others (Associate). The Why of a
// call names the rule that decided, and dwell show REC --whose CALL prints it: a call of a wrong request is mended in that
// rule's files. There are six ways in which work gets from a request's thread to another; each is a type:
//
//	Why                   type         files                  how the work is handed over
//	WhyContext,           contexts     contexts               it is done in the request's context of Python, or in a
//	WhyNoContext                                              copy; in one that is no request's
//	WhyHandOffAnswer      carriers     carriers, deliveries,  a client's own threads send all calls, and wake who asked
//	                                   callers                as the answer comes (deliveries); or one that polls for
//	                                                          all its answers is asked in turns (callers)
//	WhyHandOffEnd         responders   responders             one thread reads a request, another does what is left of
//	                                                          it, and answers it
//	WhyHandOffTaken       queueTakers  queuetakers            a thread takes from a queue what another was seen to put in
//	WhyHandOff            decisions    decisions, bursts,     a thread is woken for work, by a request's thread, or in
//	                                   jobcontexts            its context of Python (jobcontexts); bursts tells when
//	                                                          others, too, can have put work in
//	WhyHandOffEnd         decisions    decisions, loopends    it then wakes a request's thread, which waits for the result,
//	                                                          or the loop that answers the request next (loopends)
//	WhyHandOffOnly        decisions    decisions              neither tells, but one request was open
//	WhyHandOffOrder       queues       queue, shares,         the FIFO order of the queue that workers share, how many
//	                                   awaited                tasks each request puts in, and which results it waits for
//	WhyHandOffAmbiguous                                       a thread works for several, and none of them tells
//
// All go by an activity: what each strand did, and for whom, as far as found yet. What a sleep was for (work, a result,
// a lock, the next request) is told in sleeps.go and lingers.go, and jobs.go cuts the lives of workers by that: where calls
// go to the request whose task a worker did before or after, or several rules are wrong at once, look there first.
// What is true of most programs, and not of all, is believed of a process only where what is known otherwise hardly
// ever contradicts it (causality.Tally).
//
// In the end parts.go lists what each thread did for which request (Handover); tasks of Python that make no call are found
// for that by tasks.go and silence.go.
package handoffs

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// Input is what rules for whose a call is go by, besides the Timeline and the facts so far.
type Input struct {
	Requests []exchange.Request
	Calls    []exchange.Call
	Owners   timeline.Stints
	Contexts *contexts
}

// Associate gives calls that were made on strands without a request of their
// own to the requests that they were handed over by, where that is certain. It returns the
// parts of requests that tells, and notes the sleeps in which strands lingered.
func Associate(t *timeline.Timeline, f *facts.Facts, in Input) [][]timeline.Handover {
	h := newActivity(t, f, in)
	calls, answers, told := h.listCalls(in.Calls), h.listAnswers(in.Requests), f.TookWork() || in.Contexts != nil
	if !calls && !answers && !told && !awaitsTasks(h) {
		(&jobFinder{activity: h}).findLingering()
		return nil
	}
	h.open = timeline.OpenIn(t)
	h.listWakes()
	parts := partList{activity: h, parts: make([][]timeline.Handover, len(t.Requests))}
	if calls || answers || told {
		h.byCallsAndAnswers()
		h.eachJob(parts.addParts)
		parts.addTakings()
	}
	(&taskFinder{&parts}).find()
	for i := range t.Calls {
		exchange.WarmedBefore(t, &t.Calls[i], &in.Calls[i].Bounds)
	}
	return parts.settle()
}

// byCallsAndAnswers finds whose the calls of workers are, and what they answered.
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

// listCalls lists the calls that may have been handed over by the strands that sent them, but for those that
// are carried; false if there are none.
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

// listAnswers lists the responses to requests that another strand had read; false if
// there are none.
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
