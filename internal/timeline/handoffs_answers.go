package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

const (
	// manyHops bounds through how many strands a delivery is followed back: the one that
	// read, those that parse and complete, the one that lets the request's own go on.
	manyHops = 5

	// fewDeliveries is from how many on they are judged by themselves.
	fewDeliveries = 8
)

// readAt is when a strand read some of a call's answer.
type readAt struct {
	at   Time
	call CallID
}

// delivery is a wake-up of a strand that served a request, by one that had just read the
// answer of a carried call, or that such a one had woken.
type delivery struct {
	at      Time
	call    CallID
	request RequestID
	hops    int
	odd     bool // it cannot be right, or another one cannot
}

// byAnswers associates carried calls with the requests that their answers were delivered
// to. That a strand was woken because of what was read last is true where each answer is
// handed on by itself. Workers that take from a queue what there is may be woken for one
// and take another: then some calls seem to be of two requests, or older than theirs, and
// nothing that went the same way is believed.
func (h *handOffs) byAnswers() {
	if !slices.Contains(h.carried, true) {
		return
	}
	all := h.deliveries()
	believed := h.judge(all)
	for i := range all {
		d := &all[i]
		if c := &h.t.Calls[d.call]; c.Request == None && !d.odd && (believed(d) || h.alone(d)) {
			c.Request, c.Why = d.request, WhyHandOffAnswer
		}
	}
}

// alone reports that the request of a delivery was the only one open when the call was
// sent and when it was answered.
func (h *handOffs) alone(d *delivery) bool {
	c := &h.t.Calls[d.call]
	open := h.open[c.Process]
	return open.at(h.sent(d.call)) == d.request && open.at(c.FirstRead) == d.request
}

// listReads lists what each strand read of answers, in order of time.
func (h *handOffs) listReads(calls []made) {
	h.reads = make([][]readAt, len(h.t.Strands))
	for i := range calls {
		m := &calls[i].x.replied
		if m.none() {
			continue
		}
		for _, c := range h.f.conns[calls[i].conn].chunks[recording.Read][m.first : m.first+m.n] {
			s := h.f.strand(c.Thread)
			if s == None {
				continue
			}
			h.reads[s] = append(h.reads[s], readAt{c.first(), CallID(i)})
			if c.first() < c.at {
				h.reads[s] = append(h.reads[s], readAt{c.at, CallID(i)})
			}
		}
	}
	for s, list := range h.reads {
		h.reads[s] = byTime(list, func(r *readAt) Time { return r.at })
	}
}

// deliveries lists, in order of time, the wake-ups that ended waits of requests which had
// begun before the answer was read. Those that cannot all be right are marked.
func (h *handOffs) deliveries() []delivery {
	var all []delivery
	for _, list := range h.wakes.by {
		for _, w := range list {
			if d, ok := h.delivered(w); ok {
				all = append(all, d)
			}
		}
	}
	slices.SortFunc(all, func(a, b delivery) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.call, b.call)) })
	first := map[CallID]*delivery{}
	for i := range all {
		d := &all[i]
		known := h.t.Calls[d.call].Request
		switch before := first[d.call]; {
		case known != None && known != d.request, h.sent(d.call) < h.t.Requests[d.request].FirstRead:
			d.odd = true
		case before == nil:
			first[d.call] = d
		case before.request != d.request:
			d.odd, before.odd = true, true
		}
	}
	return all
}

// delivered returns what a wake-up delivered, if it ended a wait of a request for an
// answer that was read meanwhile.
func (h *handOffs) delivered(w wake) (delivery, bool) {
	r := h.ownAt(w)
	if r == None {
		return delivery{}, false
	}
	if say := h.says(w.of, w.off); say == saysOther || say == saysIdle {
		return delivery{}, false
	}
	id, hops := h.answerBehind(w.by, w.at)
	if id == None || !h.carried[id] || h.t.Calls[id].FirstRead < w.off.Since {
		return delivery{}, false
	}
	return delivery{at: w.at, call: id, request: r, hops: hops}, true
}

// answerBehind returns the call whose answer led a strand to do what it did at a time,
// and through how many strands: it read that since it last waited for work, or whoever
// gave it its work had. None if there is no such call.
func (h *handOffs) answerBehind(s StrandID, at Time) (CallID, int) {
	for hops := 1; hops <= manyHops && s != None; hops++ {
		list, i := h.reads[s], h.readsUpTo(s, at)
		off := h.turnBefore(s, at)
		if i > 0 && (off == nil || list[i-1].at >= off.Woken) {
			return list[i-1].call, hops
		}
		switch th := &h.f.threads[s]; {
		case off == nil && th.born != recording.NoTime:
			s, at = h.f.strand(th.creator), th.born
		case off != nil && handedOn(off):
			s, at = h.f.strand(off.Waker), off.Woken
		default:
			return None, 0
		}
	}
	return None, 0
}

// readsUpTo counts what a strand had read of answers at a time.
func (h *handOffs) readsUpTo(s StrandID, at Time) int {
	return sort.Search(len(h.reads[s]), func(k int) bool { return h.reads[s][k].at > at })
}

// turnBefore returns the last wait for work of a strand that was over at a time, nil if
// none is known. What reads the answers of carried calls waits for work where it polls.
func (h *handOffs) turnBefore(s StrandID, at Time) *recording.Off {
	return h.lastSleep(s, at, func(off *recording.Off) bool {
		return polls(off) || len(h.reads[s]) == 0 && h.forWork(s, off)
	})
}

// lastSleep returns the last of some sleeps of a strand that was over at a time, nil if
// none of the last few is one.
func (h *handOffs) lastSleep(s StrandID, at Time, is func(*recording.Off) bool) *recording.Off {
	steps := h.f.threads[s].steps
	i := sort.Search(len(steps), func(k int) bool { return steps[k].at > at })
	for k := i - 1; k >= 0 && i-k <= manyPieces; k-- {
		if off := steps[k].off; off != nil && off.State == recording.OffSleep && is(off) {
			return off
		}
	}
	return nil
}

// way is how answers get to those who wait for them: read by a strand, and through so
// many in all.
type way struct {
	process recording.ProcessID
	reader  StrandID // None: of any by which few go
	hops    int
}

// wayCount is how many deliveries went one way, and how many of them cannot be right.
type wayCount struct{ all, odd int }

// judge tells which deliveries to believe, by those that went the same way.
func (h *handOffs) judge(all []delivery) func(*delivery) bool {
	wayOf := func(d *delivery) way {
		return way{h.t.Calls[d.call].Process, h.readBy[d.call], d.hops}
	}
	counts, few := map[way]wayCount{}, map[way]wayCount{}
	for i := range all {
		n := counts[wayOf(&all[i])]
		n.all++
		if all[i].odd {
			n.odd++
		}
		counts[wayOf(&all[i])] = n
	}
	for w, n := range counts {
		if n.all < fewDeliveries {
			w.reader = None
			sum := few[w]
			few[w] = wayCount{sum.all + n.all, sum.odd + n.odd}
		}
	}
	return func(d *delivery) bool {
		w := wayOf(d)
		n := counts[w]
		if n.all < fewDeliveries {
			w.reader = None
			n = few[w]
		}
		return n.all >= fewDeliveries && n.odd*exceptions <= n.all
	}
}
