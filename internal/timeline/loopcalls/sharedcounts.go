package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// turnActivity is what an owner was seen to send in a turn; it may have asked for more.
type turnActivity int8

const (
	nothingSent turnActivity = iota
	sentAside                // calls on connections of its own
	sentShared               // calls on shared connections
	sentLater                // calls, in a later turn
)

// progress is the point that a request has come to in its work. Requests of one kind mostly go on in the same way
// from the same point.
type progress struct {
	endpoint string
	steps    int8         // how often it went on
	last     string       // the operation that was answered last
	woke     bool         // a timer that it waited for has fired since
	answers  int8         // calls answered since it last went on with none under way
	some     bool         // other calls are still under way
	over     bool         // its response is written in the same turn
	again    turnActivity // what it was seen to do in the turn
}

// after is the progress of a request after one of its calls was answered, with so many still under way.
func (h progress) after(c *timeline.Call, left int) progress {
	h.last, h.woke, h.some, h.again = c.Operation, false, left > 0, nothingSent
	return h
}

// usual is how many calls a request is assumed to send if nothing is known about that.
func (h progress) usual() int {
	if h.over || h.some {
		return 0
	}
	return 1
}

// saw notes how many calls requests at some points sent together; loose: other requests may have sent some of them.
func saw(counts *causality.Counts[progress], points []progress, calls int, loose bool) {
	if !slices.ContainsFunc(points, func(h progress) bool { return h.endpoint == "" }) {
		counts.Saw(points, calls, loose)
	}
}

// others stands, in a list of possible senders, for the owners that are away.
const others = -1

// shares holds the calls of a batch by the index of their sender: those on shared connections, and the others.
type shares struct{ on, off map[int][]timeline.CallID }

// shareOut assigns the calls of a batch, on shared connections (on) and others (off), to the owners that may have
// sent them, by how many calls each sends at its point.
func (w *sharing) shareOut(b *batch, list []int, on, off []timeline.CallID) {
	b.earlier = b.late && b.exec > 0 && b.exec <= w.ready[list[0]].counter
	s, sure, senders := shares{map[int][]timeline.CallID{}, map[int][]timeline.CallID{}}, true, list
	switch {
	case len(on) == 0:
	case b.asker && len(on) == 1:
		w.saw(list[:1], 1, false)
		w.saw(list[1:], 0, false)
		s.on[list[0]] = on
	default:
		if !b.earlier {
			w.saw(list, len(on), b.late || !w.all)
		}
		var portions []causality.Portion
		senders, portions = w.onShared(b, list, len(on))
		sure = w.deal(senders, on, causality.Deal(len(on), portions), s.on)
	}
	switch {
	case len(off) > 0 && !sure:
		w.unknown(list, off)
	case len(off) > 0 && len(on) == 0 && w.one(list):
		s.off[list[0]] = off
	case len(off) > 0:
		if len(s.on[others]) == 0 {
			senders = list
		}
		sure = w.deal(senders, off, w.onOthers(senders, len(off), s.on), s.off)
	}
	went := w.take(list, s)
	switch {
	case len(on) == 0 && sure:
		w.spend(w.doneWith(went))
	case sure:
		w.spend(went)
	case len(on) > 0:
		w.spend(list)
	}
}

// deal assigns each call to its only possible sender, by index, and reports whether there is one for every call.
// Without makers, any of the senders may have sent it.
func (w *sharing) deal(senders []int, calls []timeline.CallID, makers []causality.Makers, given map[int][]timeline.CallID) (sure bool) {
	sure = true
	for n, id := range calls {
		switch {
		case len(senders) == 1:
			given[senders[0]] = calls
		case makers != nil && makers[n].First == makers[n].Last:
			i := senders[makers[n].First]
			given[i] = append(given[i], id)
		default:
			w.unknown(senders, calls[n:n+1])
			sure = false
		}
	}
	return sure
}

// one reports whether some of the ready owners are all the same.
func (w *sharing) one(list []int) bool {
	for _, i := range list[1:] {
		if who := w.ready[i].who; who != w.ready[list[0]].who || who == loops.Nobody {
			return false
		}
	}
	return true
}

// onShared lists the owners that may have sent so many calls on shared connections, in order, and how many each of
// them sent: as many as usual, if that is known.
func (w *sharing) onShared(b *batch, list []int, calls int) (senders []int, portions []causality.Portion) {
	var open []int // owners whose number of calls at that point is not known
	left := calls
	for k, i := range list {
		at := w.ready[i].isAt()
		n, known := w.counts.At(at)
		if k == 0 && b.asker && n == 0 {
			portions, open = append(portions, causality.AtLeast(1)), append(open, k)
		} else if known || at.over {
			portions, left = append(portions, causality.Exactly(n)), left-n
		} else {
			portions, open = append(portions, causality.AtLeast(0)), append(open, k)
		}
	}
	switch {
	case b.earlier:
		for k := range portions { // their usual numbers do not apply
			if len(open) == 0 && left <= 0 && w.stillAway() > 0 {
				portions[k] = causality.AtLeast(0)
			}
		}
		return append([]int{others}, list...), append([]causality.Portion{causality.AtLeast(1)}, portions...)
	case left > 0 && len(open) == 0 && (b.late || !w.all) && w.stillAway() > 0:
		if b.late {
			left = 0 // it is not known either when they were asked for
		}
		return append(list[:len(list):len(list)], others), append(portions, causality.Exactly(left))
	case w.even(list, open, left):
		for _, k := range open {
			portions[k] = causality.Exactly(left / len(open))
		}
	}
	return list, portions
}

// even reports whether the owners whose numbers are not known are assumed to have sent the same number each: they are
// at the same point, or each sent one call.
func (w *sharing) even(senders, open []int, left int) bool {
	if len(open) == 0 || left <= 0 || left%len(open) != 0 || len(w.lost) > 0 && len(open) != len(senders) {
		return false
	}
	for _, k := range open {
		if h := w.ready[senders[k]].isAt(); (left > len(open) || h.some) && h != w.ready[senders[open[0]]].isAt() || h.endpoint == "" {
			return false
		}
	}
	return true
}

// onOthers finds which owners may have sent each of so many calls on connections of their own: those that usually do.
// If no numbers fit, it is one call for each owner that sent nothing on a shared connection, or usually sends nothing
// there if no owner did.
func (w *sharing) onOthers(senders []int, calls int, on map[int][]timeline.CallID) []causality.Makers {
	usual, idle := make([]causality.Portion, len(senders)), make([]causality.Portion, len(senders))
	known := true
	for k, i := range senders {
		if i == others {
			continue
		}
		h := w.ready[i].isAt()
		n, ok := w.asides.At(h)
		usual[k], known = causality.Exactly(n), known && (ok || h.over)
		sent := len(on[i])
		if len(on) == 0 {
			sent, _ = w.counts.At(h)
		}
		if sent == 0 && !h.over && !h.some {
			idle[k] = causality.Exactly(1)
		}
	}
	if makers := causality.Deal(calls, usual); known && makers != nil {
		return makers
	}
	return causality.Deal(calls, idle)
}

// take assigns a batch to its senders, and returns their indexes.
func (w *sharing) take(list []int, s shares) (went []int) {
	w.unseen(append(s.on[others], s.off[others]...))
	for _, i := range list {
		calls := append(s.on[i], s.off[i]...)
		if len(calls) == 0 {
			continue
		}
		a := &w.ready[i]
		if went = append(went, i); !a.spent {
			a.went = sentAside
		}
		if len(s.on[i]) > 0 && !a.spent {
			a.went = sentShared
		}
		next := a.point
		next.again = nothingSent
		if next.some || a.spent {
			next = w.did[w.who(a.who)]
		} else {
			next.steps, next.answers = min(next.steps+1, 100), 0
		}
		for _, id := range calls {
			w.asked[id] = a.at
			w.gets(id, a.who)
			w.did[w.who(loops.OfCall(id))] = next
		}
	}
	return went
}
