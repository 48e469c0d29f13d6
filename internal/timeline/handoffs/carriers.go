package handoffs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// carriers find strands that make calls for other strands and deliver the answers. A call is carried if the strand
// that writes it does not wait for its answer: a client with threads of its own for its connections carries the calls
// of all threads that ask it to. Which strand wrote such a call, and what else it did then, says little about the
// call's request.
type carriers struct{ *activity }

// readAt is when a strand read some of a call's answer.
type readAt struct {
	at   recording.Time
	call timeline.CallID
}

// find finds the carried calls: those whose answers are read by another strand than the one that wrote them, and
// those of strands that send while they have other calls open.
func (h *carriers) find(calls []exchange.Call) {
	h.ways = make([]callWay, len(calls))
	by := make([][]timeline.CallID, len(h.strands))
	for i := range calls {
		way, sender := &h.ways[i], h.t.Calls[i].Strand
		way.reader = timeline.None
		if m := &calls[i].Exchange.Replied; !m.None() {
			chunks := h.f.Conns[calls[i].Conn].Chunks[recording.Read][m.First : m.First+m.N]
			way.reader = h.f.Strand(chunks[0].Thread)
			h.addReads(timeline.CallID(i), chunks)
		}
		if way.reader == timeline.None || sender == timeline.None || int(sender) >= len(h.f.Threads) || h.t.Strands[way.reader].Loop {
			continue
		}
		way.own = way.reader == sender
		way.carried = !way.own
		by[way.reader] = append(by[way.reader], timeline.CallID(i))
	}
	for s := range h.strands {
		h.strands[s].reads = lists.ByTime(h.strands[s].reads, func(r *readAt) recording.Time { return r.at })
	}
	for s, list := range by {
		if h.sendsOn(timeline.StrandID(s), list) {
			for _, id := range list {
				h.ways[id].carried = true
			}
		}
	}
}

// addReads notes which strand read an answer, and when.
func (h *carriers) addReads(id timeline.CallID, chunks []facts.Chunk) {
	for _, c := range chunks {
		i := h.f.Strand(c.Thread)
		if i == timeline.None {
			continue
		}
		s := &h.strands[i]
		s.reads = append(s.reads, readAt{c.First(), id})
		if c.First() < c.At {
			s.reads = append(s.reads, readAt{c.At, id})
		}
	}
}

// sendsOn reports whether a strand sends calls after it polled for the answers of other calls, or read one. A strand
// that sends several calls before it waits for all of them does not count. A few exceptions are tolerated.
func (h *carriers) sendsOn(s timeline.StrandID, list []timeline.CallID) bool {
	slices.SortFunc(list, func(a, b timeline.CallID) int { return cmp.Compare(h.sent(a), h.sent(b)) })
	open, n := timeline.CallID(timeline.None), 0 // of the calls sent so far, the one that will be answered last
	for _, id := range list {
		at := h.sent(id)
		if open != timeline.None && at < h.t.Calls[open].FirstRead && h.turned(s, at) > h.sent(open) {
			n++
		}
		if open == timeline.None || h.t.Calls[id].FirstRead > h.t.Calls[open].FirstRead {
			open = id
		}
	}
	return n*causality.Exceptions > len(list)
}

// turned is when a strand last read part of an answer before a time, or was woken from a poll.
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

// polls reports a sleep in which a thread waits until any of its sockets is ready.
func polls(off *timeline.Off) bool { return timeline.PollWait(off.Syscall) }

// readsUpTo counts the reads of answers that a strand had made by a time.
func (h *carriers) readsUpTo(s timeline.StrandID, at recording.Time) int {
	list := h.strands[s].reads
	return sort.Search(len(list), func(k int) bool { return list[k].at > at })
}

// lastSleep returns the last sleep of a strand that was over at a time and for which is is true; nil if none of the
// last few qualifies.
func (h *carriers) lastSleep(s timeline.StrandID, at recording.Time, is func(*timeline.Off) bool) *timeline.Off {
	steps := h.f.Threads[s].Steps
	i := sort.Search(len(steps), func(k int) bool { return steps[k].At > at })
	for k := i - 1; k >= 0 && i-k <= manySteps; k-- {
		if off := steps[k].Off; off != nil && off.State == recording.OffSleep && is(off) {
			return off
		}
	}
	return nil
}

// trigger is what caused a strand to do what it did at a time: an answer that it had read since it last waited for
// work; else the strand that had given it its work, or created it.
type trigger struct {
	read   timeline.CallID // None: it had read none
	polled bool            // it had waited until any of its sockets is ready
	by     timeline.StrandID
	at     recording.Time
}

// triggerOf finds the trigger. A strand that reads the answers of carried calls waits for work where it polls.
func (h *carriers) triggerOf(s timeline.StrandID, at recording.Time) trigger {
	reads := h.strands[s].reads
	off := h.lastSleep(s, at, func(off *timeline.Off) bool { return polls(off) || len(reads) == 0 && h.rests(s, off) })
	x := trigger{read: timeline.None, by: timeline.None, polled: off != nil && polls(off)}
	if i := h.readsUpTo(s, at); i > 0 && (off == nil || reads[i-1].at >= off.Woken) {
		x.read = reads[i-1].call
		return x
	}
	switch th := &h.f.Threads[s]; {
	case off == nil && th.Born != recording.NoTime:
		x.by, x.at = h.f.Strand(th.Creator), th.Born
	case off != nil && off.WakerKind == recording.WakerThread && (off.Release == 1 || x.polled):
		x.by, x.at = h.f.Strand(off.Waker), off.Woken
	}
	return x
}

// manyHops bounds through how many strands a delivery is followed back: the one that read, those that parse and
// complete, and the one that wakes the request's own strand.
const manyHops = 5

// answerBehind returns the call whose answer caused a strand to do what it did at a time, and through how many
// strands. The strand had read that answer since it last waited for work, or the strand that gave it its work had.
// None if there is no such call.
func (h *carriers) answerBehind(s timeline.StrandID, at recording.Time) (timeline.CallID, int) {
	var way [manyHops]timeline.StrandID
	for hops := 1; hops <= manyHops && s != timeline.None; hops++ {
		x := h.triggerOf(s, at)
		if x.read != timeline.None {
			for _, by := range way[:hops-1] {
				h.strands[by].handsOn++
			}
			return x.read, hops
		}
		if x.polled {
			break
		}
		way[hops-1], s, at = s, x.by, x.at
	}
	return timeline.None, 0
}
