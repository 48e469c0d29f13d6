package timeline

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
