package handoffs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// A Python thread that takes an item from a queue works on that item until it takes the next one, for the request
// that put it in. Executors keep their work in queues. The items of other queues need not be work: the connections of
// a pool, for example, are taken by the threads that put them in.

// taking is a span in which a strand worked on what it had taken from a queue.
type taking struct {
	strand   timeline.StrandID
	from, to recording.Time // to: when it took the next item, or items could be taken unseen
	by       timeline.StrandID
	fact     *recording.Taken
	request  timeline.RequestID // for which the item was put in; None: not known
}

// unseenQueues is the set of probes on Python's queues, as Unseen names it.
const unseenQueues = "queues"

// queueTakers finds what strands took from the watched queues, and so for which requests they worked.
type queueTakers struct{ *activity }

// find finds what strands worked on, and for which requests.
func (h *queueTakers) find() {
	work, lost := h.worksOn(), h.lost()
	var all []*taking
	for i := range h.f.Threads {
		s := timeline.StrandID(i)
		for _, x := range h.f.Threads[i].Taken {
			if h.o.At(s, x.At) == timeline.None && (x.Putter == recording.NoThread || x.Executor == 1 || work[s] == x.Queue) {
				h.strands[s].takings = append(h.strands[s].takings, taking{s, x.At, h.f.End, h.f.Strand(x.Putter), x.Taken, timeline.None})
			}
		}
		list := lists.ByTime(h.strands[s].takings, func(x *taking) recording.Time { return x.from })
		for k := range list {
			if k+1 < len(list) {
				list[k].to = list[k+1].from
			}
			list[k].to = h.restsFrom(s, list[k].from, h.seenUntil(s, list[k].from, list[k].to, lost))
			all = append(all, &list[k])
		}
		h.strands[s].takings = list
	}
	slices.SortStableFunc(all, func(a, b *taking) int { return cmp.Compare(a.from, b.from) })
	for _, x := range all { // the putter may itself have worked on an item that it took before
		x.request = h.putFor(x)
	}
}

// seenUntil is the time, within a span, up to which no item can have been taken unseen. Facts were lost in the spans
// lost.
func (h *queueTakers) seenUntil(s timeline.StrandID, from, to recording.Time, lost []timeline.Stint) recording.Time {
	for _, u := range h.t.UnseenIn(unseenQueues, h.t.Strands[s].Process, from, to) {
		to = min(to, max(from, u.From))
	}
	if i := sort.Search(len(lost), func(k int) bool { return lost[k].To >= from }); i < len(lost) {
		to = min(to, max(from, lost[i].From))
	}
	return to
}

// restsFrom is when, within a span, a strand first waits for work.
func (h *queueTakers) restsFrom(s timeline.StrandID, from, to recording.Time) recording.Time {
	steps := h.f.Threads[s].Steps
	for _, st := range steps[sort.Search(len(steps), func(k int) bool { return steps[k].At >= from }):] {
		switch {
		case st.Off == nil || st.Off.Since < from:
		case st.Off.Since >= to:
			return to
		case h.rests(s, st.Off):
			return st.Off.Since
		}
	}
	return to
}

// worksOn finds, for each strand that takes items of no executor, the queue whose items are work: its only queue, if
// hardly any strand that takes from it also puts in.
func (h *queueTakers) worksOn() map[timeline.StrandID]int64 {
	takers, puts := map[word]map[timeline.StrandID]bool{}, causality.Tallies[word]{} // odd: put in by a strand that takes
	h.eachTaken(func(s timeline.StrandID, q word, _ timeline.StrandID) {
		if takers[q] == nil {
			takers[q] = map[timeline.StrandID]bool{}
		}
		takers[q][s] = true
	})
	h.eachTaken(func(_ timeline.StrandID, q word, by timeline.StrandID) { puts.Add(q, takers[q][by]) })
	work := map[timeline.StrandID]int64{}
	for q, list := range takers {
		for s := range list {
			if _, two := work[s]; two || !puts[q].Rule(0) {
				work[s] = 0
			} else {
				work[s] = q.at
			}
		}
	}
	for i := range h.f.Threads {
		if slices.ContainsFunc(h.f.Threads[i].Taken, func(x facts.Taken) bool { return x.Executor == 1 }) {
			delete(work, timeline.StrandID(i))
		}
	}
	return work
}

// eachTaken visits the takings that are no executor's work.
func (h *queueTakers) eachTaken(visit func(s timeline.StrandID, q word, by timeline.StrandID)) {
	for i := range h.f.Threads {
		for _, x := range h.f.Threads[i].Taken {
			if x.Putter != recording.NoThread && x.Executor == 0 {
				visit(timeline.StrandID(i), word{h.t.Strands[i].Process, x.Queue}, h.f.Strand(x.Putter))
			}
		}
	}
}

// putFor is the request for which an item was put in, or None.
func (h *queueTakers) putFor(x *taking) timeline.RequestID {
	if x.by == timeline.None || len(h.t.UnseenIn(unseenQueues, h.t.Strands[x.strand].Process, x.fact.Put, x.from)) > 0 {
		return timeline.None
	}
	return h.handedFor(x.by, x.fact.Put, x.fact.Context)
}

// byTakings assigns the calls of strands that worked on taken items. What other rules decided before stays if it
// agrees.
func (h *queueTakers) byTakings() {
	for s := range h.strands {
		for _, id := range h.strands[s].calls {
			x := h.takingAt(timeline.StrandID(s), h.sent(id))
			c := &h.t.Calls[id]
			if x == nil || x.request == timeline.None || c.Why == timeline.WhyContext || c.Request == x.request || h.alsoFor(x, h.sent(id)) {
				continue
			}
			whose := timeline.RequestID(timeline.None)
			if h.t.Requests[x.request].OpenAt(h.sent(id)) {
				whose = x.request
			}
			h.t.Assign(c, whose, timeline.WhyHandOffTaken)
		}
	}
}

// takingFor is the request of the item that a call's strand had taken when it made the call, or None.
func (h *activity) takingFor(id timeline.CallID) timeline.RequestID {
	x := h.takingAt(h.t.Calls[id].Strand, h.sent(id))
	if x == nil {
		return timeline.None
	}
	return x.request
}

// alsoFor reports whether what a strand does at a time may be for several items: it had taken one for another request
// before, and did nothing for that item alone. Executors handle one item after the other.
func (h *queueTakers) alsoFor(x *taking, at recording.Time) bool {
	if x.fact.Executor == 1 {
		return false
	}
	list := h.strands[x.strand].takings
	i := sort.Search(len(list), func(k int) bool { return list[k].from >= x.from })
	if i == 0 || list[i-1].to != x.from || list[i-1].request == x.request {
		return false
	}
	calls := h.strands[x.strand].calls
	k := sort.Search(len(calls), func(k int) bool { return h.sent(calls[k]) >= list[i-1].from })
	if k < len(calls) && h.sent(calls[k]) < x.from {
		return false
	}
	j := h.jobAt(x.strand, at)
	return j == nil || j.from <= list[i-1].from
}

// addTakings lists the parts in which strands worked on taken items.
func (h *partList) addTakings() {
	for s := range h.strands {
		list := h.strands[s].takings
		for i := range list {
			x := &list[i]
			if x.request == timeline.None {
				continue
			}
			p := timeline.Handover{Part: timeline.Part{Strand: timeline.StrandID(s), From: x.from, To: x.to}, By: timeline.None, Put: x.fact.Put}
			if !h.t.Strands[x.by].Loop && h.worksFor(x.by, x.fact.Put) == x.request {
				p.By = x.by
			}
			if j := h.jobAt(p.Strand, x.from); j != nil {
				p.To = min(p.To, j.to)
				if j.by == x.by && j.from >= x.fact.Put && (i == 0 || list[i-1].from < j.from) { // the strand was woken for it
					p.From, p.Put = j.from, recording.NoTime
				}
			}
			h.parts[x.request] = append(h.parts[x.request], p)
		}
	}
}
