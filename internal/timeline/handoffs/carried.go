package handoffs

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/recording"
)

// Calls are carried if the strand that writes them does not wait for their answers: a
// client with threads of its own for its connections carries the calls of all who ask it
// to. Who wrote such a call, and what else it did then, tells little of whose it is.

// carriers are strands that make calls for others, and deliver the answers.
type carriers struct{ *scene }

// find finds the carried calls: those whose answers another strand reads than
// wrote them, and those of strands that send while they have others open.
func (h *carriers) find(calls []exchange.Call) {
	h.listReads(calls)
	h.ways = make([]callWay, len(calls))
	by := make([][]timeline.CallID, len(h.t.Strands))
	for i := range calls {
		s := h.reader(&calls[i])
		h.ways[i].reader = s
		if w := h.t.Calls[i].Strand; s == timeline.None || w == timeline.None || int(w) >= len(h.f.Threads) || h.t.Strands[s].Loop {
			continue
		}
		h.ways[i].own = s == h.t.Calls[i].Strand
		h.ways[i].carried = !h.ways[i].own
		by[s] = append(by[s], timeline.CallID(i))
	}
	for s, list := range by {
		if !h.sendsOn(timeline.StrandID(s), list) {
			continue
		}
		for _, id := range list {
			h.ways[id].carried = true
		}
	}
}

// reader is the strand that read the first of a call's answer, or None.
func (h *carriers) reader(m *exchange.Call) timeline.StrandID {
	if m.Exchange.Replied.None() {
		return timeline.None
	}
	return h.f.Strand(h.f.Conns[m.Conn].Chunks[recording.Read][m.Exchange.Replied.First].Thread)
}

// sendsOn reports whether a strand sends calls after it has polled for the answers of
// others, or read one. One that sends several before it waits for all is not meant. A
// few exceptions are let pass.
func (h *carriers) sendsOn(s timeline.StrandID, list []timeline.CallID) bool {
	slices.SortFunc(list, func(a, b timeline.CallID) int { return cmp.Compare(h.sent(a), h.sent(b)) })
	open, n := timeline.CallID(timeline.None), 0 // the call that will be answered last of those sent so far
	for _, id := range list {
		at := h.sent(id)
		if open != timeline.None && at < h.t.Calls[open].FirstRead {
			if h.turned(s, at) > h.sent(open) {
				n++
			}
		}
		if open == timeline.None || h.t.Calls[id].FirstRead > h.t.Calls[open].FirstRead {
			open = id
		}
	}
	return n*causality.Exceptions > len(list)
}

// turned is when a strand last read of an answer before a time, or was woken from a poll.
func (h *carriers) turned(s timeline.StrandID, at recording.Time) recording.Time {
	since := recording.NoTime
	if off := h.lastSleep(s, at, polls); off != nil {
		since = off.Woken
	}
	if i := h.readsUpTo(s, at); i > 0 {
		since = max(since, h.strands[s].reads[i-1].at)
	}
	return since
}

// polls reports a sleep in which a thread waits for whichever of its sockets is ready.
func polls(off *timeline.Off) bool { return timeline.PollWait(off.Syscall) }
