// Package handoffs decides to which requests the calls of threads belong that work for others. There are
// six ways in which work gets from a request's thread to another; each is a type, and each says by the
// Why of a call that it decided it, so that a wrong owner is mended there:
//
//	contexts     in which context of Python a call was written            WhyContext, WhyNoContext
//	carriers     a client's own threads carry all calls, and wake who
//	             asked as the answer comes (deliveries), or are loops
//	             that are asked in turns (callers)                        WhyHandOffAnswer
//	responders   one thread reads a request, another does all that is
//	             left of it, and answers it                               WhyHandOffEnd
//	queueTakers  who put in what a thread took from a queue was seen      WhyHandOffTaken
//	decisions    a thread is woken for work, and wakes who waits for
//	             the result: by both ends of its jobs                     WhyHandOff, WhyHandOffEnd, WhyHandOffOnly
//	queues       what neither end tells of: by the FIFO order of the
//	             queue that workers share, and how much each puts in      WhyHandOffOrder
//
// All go by an activity: what each strand did, and for whom, as far as found yet. What a sleep was for is told
// in sleeps.go, and jobs.go cuts the lives of workers by that: where several rules are wrong at once, look
// there first. What is true of most programs, and not of all, is believed of a process only where what is
// known otherwise hardly ever contradicts it (causality.Tally). In the end partList tells what each thread did
// for which request (Handover), calls or none.
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
	calls, answers, taken := h.listCalls(in.Calls), h.listAnswers(in.Requests), f.TookWork()
	if !calls && !answers && !taken && !awaitsTasks(h) {
		(&jobFinder{activity: h}).findLingering()
		return nil
	}
	h.open = timeline.OpenIn(t)
	h.listWakes()
	parts := partList{activity: h, parts: make([][]timeline.Handover, len(t.Requests))}
	if calls || answers || taken {
		h.byCallsAndAnswers()
		h.eachJob(parts.addParts)
		parts.addTakings()
	}
	(&taskFinder{&parts}).find()
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead {
			exchange.Warmed(c, &in.Calls[i].Bounds)
		}
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
