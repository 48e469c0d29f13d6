// Package handoffs decides to which requests the calls of threads belong that work for others. It
// knows five ways in which a request's work gets to another thread, each by a type of its own:
//
//   - An answer is handed back: client libraries have threads of their own that carry the calls of
//     all. Whoever is woken by what read an answer had asked for that (carriers, asking).
//   - A request is handed over whole: one thread reads it, another answers it, and does nothing
//     else meanwhile (answerers).
//   - An item is taken from a queue that is watched (takers), or a thread is woken in the context
//     of a request (contexts).
//   - A worker is woken for work, and wakes who waits for the result: jobFinder cuts its life into
//     jobs, rulings decide each by who woke it and to whom it delivers.
//   - What neither tells of follows from the order of the queue that workers share (queues).
//
// All go by a scene: what each strand did, and who worked for whom. What a sleep was for is told in
// one place (sleeps.go), and much rests on it: a wrong owner is most often mended there, else by the
// rule that the call's Why names. Rules that are true of most programs and not of all are believed
// of a process only where what is known otherwise hardly ever contradicts them (causality.Tally).
// Then partList tells what each thread did for which request (Handover). Associate is all this;
// PythonContexts goes before.
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
	h := newScene(t, f, in)
	calls, answers, taken := h.listCalls(in.Calls), h.listAnswers(in.Requests), f.TookWork()
	if !calls && !answers && !taken && !awaitsTasks(h) {
		(&jobFinder{scene: h}).findLingering()
		return nil
	}
	h.listWakes()
	parts := partList{scene: h, parts: make([][]timeline.Handover, len(t.Requests))}
	if calls || answers || taken {
		h.byCallsAndAnswers()
		h.eachJob(parts.addParts)
		parts.addTakings()
	}
	parts.addTasks()
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead {
			exchange.Warmed(c, &in.Calls[i].Bounds)
		}
	}
	return parts.settle()
}

// byCallsAndAnswers finds whose the calls of workers are, and what they answered.
func (h *scene) byCallsAndAnswers() {
	(&restPlaces{h}).find()
	(&answerers{h}).find()
	takers := takers{h}
	takers.find()
	(&carriers{h}).byAnswers()
	(&jobFinder{scene: h}).find()
	rules := rulings{scene: h}
	rules.decideAll()
	takers.byTakings()
	(&queues{&rules}).byOrder()
}

// listCalls lists the calls that may have been handed over by the strands that sent them, but for those that
// are carried; false if there are none.
func (h *scene) listCalls(calls []exchange.Call) (any bool) {
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
func (h *scene) listAnswers(requests []exchange.Request) (any bool) {
	for i := range requests {
		if w := &requests[i]; w.Left != recording.NoTime {
			s := &h.strands[w.Writer]
			s.answers, any = append(s.answers, result{at: h.t.Requests[i].End, request: timeline.RequestID(i), place: place{timeline.None, 0}, answer: true}), true
		}
	}
	h.sort()
	return any
}
