package build

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Servers may read requests on one thread and have each worked on and answered by one of
// a pool: what such a thread does from its last answer to the next is for that. So it is
// with threads that read no requests themselves, if what they do lies so: their calls, and
// those that others made whose results they were given. A few exceptions are let pass.

// findServing finds whom the threads that answer requests others had read worked for.
func (h *handOffs) findServing() {
	h.serving = make(owners, len(h.o))
	counts := map[recording.ProcessID]*counted{}
	for s, list := range h.answers {
		if len(list) == 0 || len(h.o[s]) > 0 || h.t.Strands[s].Loop {
			continue
		}
		h.serving[s] = h.served(list)
		h.nested(timeline.StrandID(s), entry(counts, h.t.Strands[s].Process))
	}
	for s := range h.serving {
		if c := counts[h.t.Strands[s].Process]; c == nil || !c.rule(enoughTasks) {
			h.serving[s] = nil
		}
	}
}

// served lists what a strand served, by its answers: from the one before, or from when the
// request was read.
func (h *handOffs) served(answers []result) []stint {
	var list []stint
	last := h.f.start
	for _, a := range answers {
		from := max(last, h.t.Requests[a.request].FirstRead)
		if from < a.at {
			list = append(list, stint{from, a.at, a.request})
		}
		last = max(last, a.at)
	}
	return list
}

// nested counts the calls of a strand and the results it was given, and those that do not
// lie within one of its stints.
func (h *handOffs) nested(s timeline.StrandID, n *counted) {
	for _, id := range h.callsOf[s] {
		c := &h.t.Calls[id]
		r := h.serving.at(s, h.sent(id))
		n.add(r == timeline.None || c.End > h.t.Requests[r].End)
	}
	for _, st := range h.f.threads[s].steps {
		if !handedOn(st.off) {
			continue
		}
		by := h.f.strand(st.off.Waker)
		if by == timeline.None || by == s || h.says(s, st.off) == saysIdle || h.says(s, st.off) == saysOther || h.forLock(wake{of: s, off: st.off}) {
			continue
		}
		calls := h.callsOf[by]
		k := sort.Search(len(calls), func(k int) bool { return h.t.Calls[calls[k]].End > st.off.Woken })
		if k == 0 || h.t.Calls[calls[k-1]].End < st.off.Since {
			continue // nothing it waited for was answered meanwhile
		}
		r := h.serving.at(s, st.off.Since)
		n.add(r == timeline.None || h.sent(calls[k-1]) < h.t.Requests[r].FirstRead)
	}
}

// owner returns the request that a strand worked for at a time, as its own or as one that
// it answered for who had read it, or None.
func (h *handOffs) owner(s timeline.StrandID, at recording.Time) timeline.RequestID {
	if r := h.o.at(s, at); r != timeline.None {
		return r
	}
	return h.serving.at(s, at)
}
