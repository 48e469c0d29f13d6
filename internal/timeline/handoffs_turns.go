package timeline

import (
	"cmp"
	"slices"
)

// turnOf is a call that a strand sent right after it had read the answer to another one,
// which it delivered to nobody: what was to be done with that answer was to send this.
type turnOf struct {
	answered, next CallID
	request        RequestID // of next, if it is known
	odd            bool      // answered cannot be that request's
}

// byTurns associates the carried calls of chains, of which only the last is delivered:
// each with the request of the next. Where what follows an answer often cannot be of the
// same request, strands send what others put in meanwhile, and nothing is believed.
func (h *handOffs) byTurns() {
	all := h.turns()
	requests := map[CallID]RequestID{}
	counts := map[StrandID]wayCount{}
	for i := len(all) - 1; i >= 0; i-- { // against the order of time: the next call's request is known
		x := &all[i]
		x.request = h.t.Calls[x.next].Request
		if r, ok := requests[x.next]; ok {
			x.request = r
		}
		if x.request == None {
			continue
		}
		requests[x.answered] = x.request
		x.odd = h.sent(x.answered) < h.t.Requests[x.request].FirstRead
		n := counts[h.readBy[x.answered]]
		n.add(x.odd)
		counts[h.readBy[x.answered]] = n
	}
	for i := len(all) - 1; i >= 0; i-- {
		x := &all[i]
		if x.request != None && !x.odd && counts[h.readBy[x.answered]].believed() {
			c, next := &h.t.Calls[x.answered], &h.t.Calls[x.next]
			h.t.assign(c, x.request, WhyHandOffTurn)
			c.Strand, c.Carried = next.Strand, next.Carried
		}
	}
}

// turns lists all, in order of time.
func (h *handOffs) turns() []turnOf {
	var ids []CallID
	for i := range h.carried {
		if h.carried[i] && h.readBy[i] != None && h.ownWriter[i] {
			ids = append(ids, CallID(i))
		}
	}
	slices.SortFunc(ids, func(a, b CallID) int { return cmp.Or(cmp.Compare(h.sent(a), h.sent(b)), cmp.Compare(a, b)) })
	var all []turnOf
	taken := map[CallID]bool{}
	for _, id := range ids {
		s, at := h.readBy[id], h.sent(id)
		answered, hops := h.answerBehind(s, at-1)
		if hops != 1 || taken[answered] {
			continue
		}
		taken[answered] = true
		if h.carried[answered] && !h.got[answered] && h.t.Calls[answered].Request == None {
			all = append(all, turnOf{answered: answered, next: id, request: None})
		}
	}
	return all
}

// byLoneRequest associates carried calls that nothing else tells of with the only request
// that was open, if whoever had them sent worked for that.
func (h *handOffs) byLoneRequest() {
	for i := range h.carried {
		c := &h.t.Calls[i]
		if !h.carried[i] || c.Request != None || h.got[i] || !h.mayBeHanded(c) {
			continue
		}
		at := h.sent(CallID(i))
		if r := h.open[c.Process].at(at); r != None && c.End <= h.t.Requests[r].End && h.workedFor(c.Strand, at-1) == r {
			h.t.assign(c, r, WhyHandOffOnly)
		}
	}
}

// workedFor returns the request that a strand did something for at a time, as far as
// wake-ups tell: whoever had woken it served that, or read an answer for it. If others
// were open it may have been for another.
func (h *handOffs) workedFor(s StrandID, at Time) RequestID {
	for hops := 0; hops <= 2*manyHops && s != None; hops++ {
		if r := h.o.at(s, at); r != None {
			return r
		}
		off := h.turnBefore(s, at)
		if i := h.readsUpTo(s, at); i > 0 && (off == nil || h.reads[s][i-1].at >= off.Woken) {
			return h.t.Calls[h.reads[s][i-1].call].Request
		}
		s, at = h.startedBy(s, off)
	}
	return None
}
