package handoffs

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// byLoneRequest associates carried calls that nothing else tells of with the only request
// that was open, if whoever had them sent worked for that.
func (h *carriers) byLoneRequest() {
	for i := range h.ways {
		c := &h.t.Calls[i]
		if !h.ways[i].carried || c.Request != timeline.None || h.ways[i].delivered || !h.mayBeHanded(c) {
			continue
		}
		at := h.sent(timeline.CallID(i))
		if r := h.open[c.Process].At(at); r != timeline.None && c.End <= h.t.Requests[r].End && h.workedFor(c.Strand, at-1) == r {
			h.t.Assign(c, r, timeline.WhyHandOffOnly)
		}
	}
}

// workedFor returns the request that a strand did something for at a time, as far as
// wake-ups tell: whoever had woken it served that, or read an answer for it. If others
// were open it may have been for another.
func (h *carriers) workedFor(s timeline.StrandID, at recording.Time) timeline.RequestID {
	for hops := 0; hops <= 2*manyHops && s != timeline.None; hops++ {
		if r := h.o.At(s, at); r != timeline.None {
			return r
		}
		off := h.turnBefore(s, at)
		if i := h.readsUpTo(s, at); i > 0 && (off == nil || h.strands[s].reads[i-1].at >= off.Woken) {
			return h.t.Calls[h.strands[s].reads[i-1].call].Request
		}
		s, at = h.startedBy(s, off)
	}
	return timeline.None
}
