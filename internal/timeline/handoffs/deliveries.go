package handoffs

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/recording"
)

// delivery is how the answer of a carried call reached the strand that had asked for it: by a wake-up, or as the
// response to a request. It came from a strand that had just read that answer, or that such a strand had woken.
type delivery struct {
	at      recording.Time
	call    timeline.CallID
	request timeline.RequestID // the request that the asking strand served; None: it serves none of its own
	to      timeline.StrandID  // the strand that had asked
	hops    int
	woken   bool // by a wake-up
	odd     bool // it cannot be right, or another delivery cannot
}

// byAnswers assigns carried calls to the requests that their answers were delivered to. A strand is woken because of
// what was read last only if each answer is passed on separately. Workers that take from a queue whatever is there
// may be woken for one answer and take another. Then some calls seem to belong to two requests, or to be older than
// their request, and no delivery that went the same way is believed. A call whose answer was delivered to a worker
// counts as that worker's call.
func (h *carriers) byAnswers() {
	if !slices.ContainsFunc(h.ways, func(w callWay) bool { return w.carried }) {
		return
	}
	all := h.believed()
	if h.listAsked(all) {
		(&idlePlaces{h.activity}).find() // a place where a worker waits for an answer is not one where it waits for work
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
}

// believed lists the deliveries to believe, for each call the first.
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

// way is the path on which answers reach waiting strands: the strand that read them, and the number of strands in
// all.
type way struct {
	process recording.ProcessID
	reader  timeline.StrandID // None: any reader that delivers only a few
	hops    int
}

// fewDeliveries is how many deliveries a way needs to be judged by itself.
const fewDeliveries = 8

// judge decides which deliveries to believe, by all that went the same way.
func (h *carriers) judge(all []delivery) func(*delivery) bool {
	wayOf := func(d *delivery) way { return way{h.t.Calls[d.call].Process, h.ways[d.call].reader, d.hops} }
	counts := causality.Tallies[way]{}
	for i := range all {
		counts.Add(wayOf(&all[i]), all[i].odd)
	}
	judged := counts.Judged(fewDeliveries, func(w way) way { return way{w.process, timeline.None, w.hops} })
	return func(d *delivery) bool { return judged(wayOf(d)).Rule(fewDeliveries) }
}

// alone reports that the request of a delivery was the only one open when the call was sent and when it was answered.
func (h *carriers) alone(d *delivery) bool {
	c := &h.t.Calls[d.call]
	open := h.open[c.Process]
	return d.request != timeline.None && open.At(h.sent(d.call)) == d.request && open.At(c.FirstRead) == d.request
}

// listAsked lists, for each worker, the carried calls whose answers were delivered to it as its own; false if there
// are none.
func (h *carriers) listAsked(all []delivery) (any bool) {
	for i := range h.strands {
		s := &h.strands[i]
		s.calls = slices.DeleteFunc(s.calls, func(id timeline.CallID) bool { return h.ways[id].carried })
	}
	for _, d := range all {
		if d.request == timeline.None && h.t.Calls[d.call].Request == timeline.None {
			to := &h.strands[d.to]
			to.calls, any = append(to.calls, d.call), true
		}
	}
	h.sort()
	return any
}

// deliveries lists all deliveries in order of time, and marks those that cannot all be right.
func (h *carriers) deliveries() (all []delivery) {
	for i := range h.strands {
		h.strands[i].handsOn = 0
	}
	for s := range h.strands {
		for _, a := range h.strands[s].answers { // behind the responses to requests that another strand had read
			if id, hops := h.answerBehind(timeline.StrandID(s), a.at); id != timeline.None && h.ways[id].carried {
				all = append(all, delivery{at: a.at, call: id, request: a.request, to: timeline.StrandID(s), hops: hops})
			}
		}
		for _, w := range h.strands[s].woke {
			if d, ok := h.delivered(w); ok {
				all = append(all, d)
			}
		}
	}
	all = h.ofThoseWhoAsk(all)
	slices.SortStableFunc(all, func(a, b delivery) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.call, b.call))
	})
	h.markOdd(all)
	return all
}

// delivered returns what a wake-up delivered, if it ended a wait during which the answer was read.
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

// ofThoseWhoAsk drops deliveries to strands that pass on answers at least as often as they ask, and deliveries to
// other strands if a request's own strand was woken for the same answer.
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

// markOdd marks deliveries that cannot be right: those for a request that was read after the call had been sent,
// those of a call that is known to belong to another request, and all deliveries of one call that disagree.
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
