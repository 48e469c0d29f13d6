package handoffs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// manyHops bounds through how many strands a delivery is followed back: the one that
// read, those that parse and complete, the one that lets the request's own go on.
const manyHops = 5

// readAt is when a strand read some of a call's answer.
type readAt struct {
	at   recording.Time
	call timeline.CallID
}

// delivery is how the answer of a carried call got to who had asked: by a wake-up, or as
// the response to a request, from a strand that had just read that answer, or that such a
// one had woken.
type delivery struct {
	at      recording.Time
	call    timeline.CallID
	request timeline.RequestID // that the one who asked served; None: of a strand that serves none of its own
	to      timeline.StrandID  // who had asked
	hops    int
	woken   bool // by a wake-up
	odd     bool // it cannot be right, or another one cannot
}

// byAnswers associates carried calls with the requests that their answers were delivered
// to. That a strand was woken because of what was read last is true where each answer is
// handed on by itself. Workers that take from a queue what there is may be woken for one
// and take another: then some calls seem to be of two requests, or older than theirs, and
// nothing that went the same way is believed. What was delivered to a worker counts as
// that worker's call.
func (h *carriers) byAnswers() {
	if !slices.ContainsFunc(h.ways, func(w callWay) bool { return w.carried }) {
		return
	}
	all := h.believed()
	if h.listAsked(all) {
		(&restPlaces{h.scene}).find() // where a worker waits for an answer it does not wait for work
		all = h.believed()
		h.listAsked(all)
	}
	for _, d := range all {
		c := &h.t.Calls[d.call]
		if d.woken {
			c.Strand, c.Carried = d.to, true
		}
		if h.ways[d.call].delivered = true; d.request != timeline.None && c.Request == timeline.None {
			h.t.Assign(c, d.request, timeline.WhyHandOffAnswer)
		}
	}
	h.byAsks()
	h.byLoneRequest()
}

// believed lists the deliveries to believe, of each call the first.
func (h *carriers) believed() []delivery {
	all := h.deliveries()
	right := h.judge(all)
	seen := map[timeline.CallID]bool{}
	return slices.DeleteFunc(all, func(d delivery) bool {
		if d.odd || seen[d.call] || !right(&d) && !h.alone(&d) {
			return true
		}
		seen[d.call] = true
		return false
	})
}

// listAsked lists the carried calls whose answers were delivered to workers as theirs;
// false if there are none.
func (h *carriers) listAsked(all []delivery) bool {
	any := false
	for s := range h.strands {
		list := h.strands[s].calls
		h.strands[s].calls = slices.DeleteFunc(list, func(id timeline.CallID) bool { return h.ways[id].carried })
	}
	for _, d := range all {
		if d.request == timeline.None && h.t.Calls[d.call].Request == timeline.None {
			h.strands[d.to].calls = append(h.strands[d.to].calls, d.call)
			any = true
		}
	}
	h.sort()
	return any
}

// alone reports that the request of a delivery was the only one open when the call was
// sent and when it was answered.
func (h *carriers) alone(d *delivery) bool {
	c := &h.t.Calls[d.call]
	open := h.open[c.Process]
	return d.request != timeline.None && open.At(h.sent(d.call)) == d.request && open.At(c.FirstRead) == d.request
}

// listReads lists what each strand read of answers, in order of time.
func (h *carriers) listReads(calls []exchange.Call) {
	for i := range calls {
		m := &calls[i].Exchange.Replied
		if m.None() {
			continue
		}
		for _, c := range h.f.Conns[calls[i].Conn].Chunks[recording.Read][m.First : m.First+m.N] {
			s := h.f.Strand(c.Thread)
			if s == timeline.None {
				continue
			}
			h.strands[s].reads = append(h.strands[s].reads, readAt{c.First(), timeline.CallID(i)})
			if c.First() < c.At {
				h.strands[s].reads = append(h.strands[s].reads, readAt{c.At, timeline.CallID(i)})
			}
		}
	}
	for s := range h.strands {
		h.strands[s].reads = lists.ByTime(h.strands[s].reads, func(r *readAt) recording.Time { return r.at })
	}
}

// deliveries lists all, in order of time. Those that cannot all be right are marked.
func (h *carriers) deliveries() []delivery {
	for s := range h.strands {
		h.strands[s].handsOn = 0
	}
	all := h.responses()
	for s := range h.strands {
		for _, w := range h.strands[s].woke {
			if d, ok := h.delivered(w); ok {
				all = append(all, d)
			}
		}
	}
	all = h.ofThoseWhoAsk(all)
	slices.SortFunc(all, func(a, b delivery) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.call, b.call)) })
	h.markOdd(all)
	return all
}

// markOdd marks those that cannot be right: for a request that was read after the call had
// been sent, or of a call that is known to be another's; and all of one call that do not
// agree.
func (h *carriers) markOdd(all []delivery) {
	first := map[timeline.CallID]*delivery{}
	for i := range all {
		d := &all[i]
		known := h.t.Calls[d.call].Request
		switch before := first[d.call]; {
		case known != timeline.None && known != d.request, d.request != timeline.None && h.sent(d.call) < h.t.Requests[d.request].FirstRead:
			d.odd = true
		case before == nil:
			first[d.call] = d
		case before.request != d.request, d.request == timeline.None && before.to != d.to:
			d.odd, before.odd = true, true
		}
	}
}

// ofThoseWhoAsk leaves out what was delivered to strands that take part in handing on
// answers more than they ask, and to any other if a request's own was woken for the same answer.
func (h *carriers) ofThoseWhoAsk(all []delivery) []delivery {
	direct, asks := map[timeline.CallID]bool{}, make([]int32, len(h.strands))
	for i := range all {
		if all[i].request != timeline.None {
			direct[all[i].call] = true
		} else {
			asks[all[i].to]++
		}
	}
	return slices.DeleteFunc(all, func(d delivery) bool {
		return d.request == timeline.None && (h.strands[d.to].handsOn >= asks[d.to] || direct[d.call])
	})
}

// responses lists the answers behind the responses to requests that another strand had
// read.
func (h *carriers) responses() []delivery {
	var all []delivery
	for s := range h.strands {
		for _, a := range h.strands[s].answers {
			if id, hops := h.answerBehind(timeline.StrandID(s), a.at); id != timeline.None && h.ways[id].carried {
				all = append(all, delivery{at: a.at, call: id, request: a.request, to: timeline.StrandID(s), hops: hops})
			}
		}
	}
	return all
}

// delivered returns what a wake-up delivered, if it ended a wait for an answer that was
// read meanwhile.
func (h *carriers) delivered(w wake) (delivery, bool) {
	r := h.ownAt(w)
	if !h.mayDeliver(w) || r == timeline.None && (h.o.At(w.of, w.at) != timeline.None || len(h.strands[w.of].reads) > 0 || h.rests(w.of, w.off)) {
		return delivery{}, false
	}
	id, hops := h.answerBehind(w.by, w.at)
	if id == timeline.None || !h.ways[id].carried || h.t.Calls[id].FirstRead < w.off.Since {
		return delivery{}, false
	}
	return delivery{at: w.at, call: id, request: r, to: w.of, hops: hops, woken: true}, true
}

// answerBehind returns the call whose answer led a strand to do what it did at a time,
// and through how many strands: it read that since it last waited for work, or whoever
// gave it its work had. None if there is no such call.
func (h *carriers) answerBehind(s timeline.StrandID, at recording.Time) (timeline.CallID, int) {
	var way [manyHops]timeline.StrandID
	for hops := 1; hops <= manyHops && s != timeline.None; hops++ {
		list, i := h.strands[s].reads, h.readsUpTo(s, at)
		off := h.turnBefore(s, at)
		if i > 0 && (off == nil || list[i-1].at >= off.Woken) {
			for _, by := range way[:hops-1] {
				h.strands[by].handsOn++
			}
			return list[i-1].call, hops
		}
		way[hops-1] = s
		if off != nil && polls(off) {
			return timeline.None, 0
		}
		s, at = h.startedBy(s, off)
	}
	return timeline.None, 0
}

// readsUpTo counts what a strand had read of answers at a time.
func (h *carriers) readsUpTo(s timeline.StrandID, at recording.Time) int {
	return sort.Search(len(h.strands[s].reads), func(k int) bool { return h.strands[s].reads[k].at > at })
}

// startedBy returns who ended a strand's wait for work, and when; or, if it has waited for
// none, who made it.
func (h *carriers) startedBy(s timeline.StrandID, off *timeline.Off) (timeline.StrandID, recording.Time) {
	switch th := &h.f.Threads[s]; {
	case off == nil && th.Born != recording.NoTime:
		return h.f.Strand(th.Creator), th.Born
	case off != nil && off.WakerKind == recording.WakerThread && (off.Release == 1 || polls(off)):
		return h.f.Strand(off.Waker), off.Woken
	}
	return timeline.None, 0
}

// turnBefore returns the last wait for work of a strand that was over at a time, nil if
// none is known. What reads the answers of carried calls waits for work where it polls.
func (h *carriers) turnBefore(s timeline.StrandID, at recording.Time) *timeline.Off {
	return h.lastSleep(s, at, func(off *timeline.Off) bool {
		return polls(off) || len(h.strands[s].reads) == 0 && h.rests(s, off)
	})
}

// lastSleep returns the last of some sleeps of a strand that was over at a time, nil if
// none of the last few is one.
func (h *scene) lastSleep(s timeline.StrandID, at recording.Time, is func(*timeline.Off) bool) *timeline.Off {
	steps := h.f.Threads[s].Steps
	i := sort.Search(len(steps), func(k int) bool { return steps[k].At > at })
	for k := i - 1; k >= 0 && i-k <= manySteps; k-- {
		if off := steps[k].Off; off != nil && off.State == recording.OffSleep && is(off) {
			return off
		}
	}
	return nil
}
