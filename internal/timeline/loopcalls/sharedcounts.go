package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// share is how many calls somebody sends on shared connections, and on others.
type share struct{ on, off int }

// parcel is how many calls are to be shared out, on shared connections and on others.
type parcel struct {
	on, off int
	others  bool // some may be of those who are away
	asker   bool // the first asked for the callback that sent them
}

// counts are how many calls of a batch each of those who may have sent it did: of so many
// on shared connections, and so many on others; and how many more were sent by those who
// are away, if others may be. Not ok if that cannot be told.
func (w *sharing) counts(list []int, p parcel) (counts []share, more int, ok bool) {
	counts = make([]share, len(list))
	on, off, others := p.on, p.off, p.others
	var open []int // of whose calls at that point nothing is known
	for k, i := range list {
		h := w.ready[i].habit
		n, known := w.habits.At(h)
		if k == 0 && p.asker && n == 0 {
			known, h.over = false, false
		}
		switch {
		case known:
			counts[k].on, on = n, on-n
		case !h.over:
			open = append(open, k)
		}
	}
	switch {
	case len(list) == 1 && (on <= 0 || !others || len(open) == 1):
		return w.toOne(list, counts[0].on+on, off), 0, true
	case on < 0:
		return nil, 0, false
	case len(open) == 0 && others:
		on, more = 0, on
	case len(open) == 1 && off == 0:
		counts[open[0]].on = on
	case on != 0 && (off > 0 || !w.even(list, counts, open, on)):
		return nil, 0, false
	}
	return counts, more, off == 0 || w.others(list, counts, off)
}

// one reports whether some of those who are ready are all the same.
func (w *sharing) one(list []int) bool {
	for _, i := range list {
		if who := w.ready[i].who; who != w.ready[list[0]].who || who == loops.Nobody && len(list) > 1 {
			return false
		}
	}
	return len(list) > 0
}

// toOne gives so many calls to the first of some who are the same.
func (w *sharing) toOne(list []int, on, off int) []share {
	counts := make([]share, len(list))
	counts[0] = share{on, off}
	return counts
}

// others gives those who are known to send calls on other connections so many; else each who sent
// nothing on a shared connection one.
func (w *sharing) others(list []int, counts []share, off int) bool {
	all, known := 0, true
	for k, i := range list {
		n, ok := w.offs.At(w.ready[i].habit)
		counts[k].off, all, known = n, all+n, known && (ok || w.ready[i].habit.over)
	}
	if known && all == off {
		return true
	}
	for k := range counts {
		counts[k].off = 0
	}
	var idle []int
	for k, i := range list {
		if counts[k].on == 0 && !w.ready[i].habit.over && !w.ready[i].habit.some {
			idle = append(idle, k)
		}
	}
	if len(idle) != off {
		return false
	}
	for _, k := range idle {
		counts[k].off = 1
	}
	return true
}

// aside gives calls on other connections to who sends none on shared ones; the others may
// send theirs later.
func (w *sharing) aside(list []int, off int) ([]share, bool) {
	if w.one(list) {
		return w.toOne(list, 0, off), true
	}
	counts := make([]share, len(list))
	for k, i := range list {
		counts[k].on, _ = w.habits.At(w.ready[i].habit)
	}
	ok := w.others(list, counts, off)
	for k := range counts {
		counts[k].on = 0
	}
	return counts, ok
}

// even gives those of whose calls at that point nothing is known the same number of calls each.
func (w *sharing) even(list []int, counts []share, open []int, on int) bool {
	if len(open) == 0 || on%len(open) != 0 || len(w.lost) > 0 && len(open) != len(list) {
		return false
	}
	each := on / len(open)
	for _, k := range open {
		if a := &w.ready[list[k]]; (each > 1 || a.habit.some) && a.habit != w.ready[list[open[0]]].habit || a.habit.endpoint == "" {
			return false
		}
		counts[k].on = each
	}
	return true
}

// ends gives the calls at the beginning of a batch, and at its end, to those of whom it is
// known how many they send, as far as no others come before, or after; first: others came
// before all.
func (w *sharing) ends(list []int, on []timeline.CallID, first bool) {
	all := 0
	counts := make([]share, len(list))
	for k, i := range list {
		counts[k].on, _ = w.habits.At(w.ready[i].habit)
		all += counts[k].on
	}
	if all > len(on) {
		w.unknown(list, on)
		return
	}
	known := func(k int) bool {
		_, known := w.habits.At(w.ready[list[k]].habit)
		return known || w.ready[list[k]].habit.over
	}
	i, j, from, to := 0, len(list), 0, len(on)
	for i < j && known(i) && !first {
		from += counts[i].on
		i++
	}
	for i < j && known(j-1) {
		j--
		to -= counts[j].on
	}
	if i == j { // all are known, and send less than was sent
		w.unknown(list, on)
		return
	}
	w.deal(list[:i], counts[:i], on[:from])
	w.deal(list[j:], counts[j:], on[to:])
	w.unknown(list[i:j], on[from:to])
}

// deal gives the calls of a batch, those on shared connections first, in order to those who
// sent it, and returns their places.
func (w *sharing) deal(list []int, counts []share, calls []timeline.CallID) (went []int) {
	shared := 0
	for _, c := range counts {
		shared += c.on
	}
	on, off := calls[:shared], calls[shared:]
	for k, i := range list {
		c, a := counts[k], w.ready[i]
		if c.on+c.off == 0 {
			continue
		}
		went, w.ready[i].went = append(went, i), sentAside
		if c.on > 0 {
			w.ready[i].went = sentShared
		}
		next := a.habit
		next.again = nothingSent
		if next.some || a.revived {
			next = w.did[w.who(a.who)]
		} else {
			next.steps, next.answers = min(next.steps+1, 100), 0
		}
		for _, part := range [][]timeline.CallID{on[:c.on], off[:c.off]} {
			for _, id := range part {
				w.asked[id] = a.at
				w.gets(id, a.who)
				w.did[w.who(loops.OfCall(id))] = next
			}
		}
		on, off = on[c.on:], off[c.off:]
	}
	return went
}
