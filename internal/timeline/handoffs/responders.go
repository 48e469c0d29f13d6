package handoffs

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/recording"
)

// A server may read requests on one thread, and have each worked on and answered by a thread of a pool. What such a
// thread does between two answers belongs to the request that it answers second. This is believed of threads that
// read no requests themselves, if what they do fits: their calls, and the calls that other threads made and whose
// results they got, lie within the span of one request. A few exceptions are tolerated.

// responders are threads that answer requests which other threads read.
type responders struct{ *activity }

// find determines for which requests the threads worked that answer what other threads read. If threads of the
// process also read requests themselves, they handle one after the other, and less evidence is needed.
func (h *responders) find() {
	counts, read, open := causality.Tallies[recording.ProcessID]{}, map[recording.ProcessID]bool{}, h.unanswered()
	for s := range h.strands {
		list := h.strands[s].answers
		if len(list) == 0 || h.t.Strands[s].Loop {
			continue
		}
		p := h.t.Strands[s].Process
		read[p] = read[p] || len(h.o[s]) > 0
		h.serving[s] = h.served(list)
		until := h.f.End
		if from, ok := open[p]; ok {
			until = max(from, list[len(list)-1].at)
		}
		h.nested(timeline.StrandID(s), until, func(odd bool) { counts.Add(p, odd) })
	}
	for s := range h.serving {
		p := h.t.Strands[s].Process
		if n := counts[p]; !n.Rule(enoughTasks) && !(read[p] && n.Holds(0, causality.Usually)) {
			h.serving[s] = nil
		}
	}
}

// unanswered returns, for each process, when the first of the requests was read that had no answer when the
// recording ended. What a strand does from then on, after its last answer, may be for that request.
func (h *responders) unanswered() map[recording.ProcessID]recording.Time {
	since := map[recording.ProcessID]recording.Time{}
	for i := range h.t.Requests {
		r := &h.t.Requests[i]
		if !r.Cut || r.FirstWrite != recording.NoTime {
			continue
		}
		if at, ok := since[r.Process]; !ok || r.FirstRead < at {
			since[r.Process] = r.FirstRead
		}
	}
	return since
}

// served lists the spans in which a strand served requests, by its answers. A span begins at the previous answer,
// or when the request was read if that is later.
func (h *responders) served(answers []result) []timeline.Stint {
	var list []timeline.Stint
	last := h.f.Start
	for _, a := range answers {
		from := max(last, h.t.Requests[a.request].FirstRead)
		if from < a.at {
			list = append(list, timeline.Stint{From: from, To: a.at, Request: a.request})
		}
		last = max(last, a.at)
	}
	return list
}

// nested checks the calls of a strand, and the results that it got, up to a time. A call or result is odd if it
// does not lie within one of the strand's stints.
func (h *responders) nested(s timeline.StrandID, until recording.Time, tell func(odd bool)) {
	for _, id := range h.strands[s].calls {
		c := &h.t.Calls[id]
		if h.sent(id) > until {
			break
		}
		r := h.serving.At(s, h.sent(id))
		tell(r == timeline.None || c.End > h.t.Requests[r].End)
	}
	for _, st := range h.f.Threads[s].Steps {
		if !timeline.HandedOn(st.Off) || st.Off.Since > until {
			continue
		}
		by := h.f.Strand(st.Off.Waker)
		if by == timeline.None || by == s || !h.mayDeliver(wake{of: s, off: st.Off}) {
			continue
		}
		calls := h.strands[by].calls
		k := sort.Search(len(calls), func(k int) bool { return h.t.Calls[calls[k]].End > st.Off.Woken })
		if k == 0 || h.t.Calls[calls[k-1]].End < st.Off.Since {
			continue // the waker got no answer while the strand waited
		}
		r := h.serving.At(s, st.Off.Since)
		tell(r == timeline.None || h.sent(calls[k-1]) < h.t.Requests[r].FirstRead)
	}
}
