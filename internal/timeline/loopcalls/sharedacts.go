package loopcalls

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// batch holds calls that one callback sent, or several callbacks in one turn.
type batch struct {
	late  bool  // sent by a callback that was asked for in another turn, or unseen
	exec  int64 // the callback's id, if late
	calls []timeline.CallID

	blurred bool // an unknown number of other calls was sent with them
	asker   bool // the first candidate for the sender asked for the callback
	earlier bool // an owner that was away asked for it
}

// end decides the owners of what was sent in the turn that ends.
func (w *sharing) end() {
	under := w.beside > 0
	if len(w.acts) == 0 {
		w.chance(under, false)
		return
	}
	defer func() { w.chance(under, w.turn.sent) }()
	var responses []timeline.RequestID
	var sent []batch
	for _, m := range w.acts {
		if m.Kind == loops.MoveRespond {
			if w.t.Requests[m.Request].FirstWrite == m.At {
				responses = append(responses, m.Request)
			}
			continue
		}
		calls, blurred, late, exec := w.newly(m), w.blurred(m), w.late(m), int64(0)
		if late {
			exec = m.Exec
		}
		if len(calls) == 0 && !blurred {
			continue
		}
		if n := len(sent); n == 0 || sent[n-1].late != late || sent[n-1].exec != exec {
			sent = append(sent, batch{late: late, exec: exec})
		}
		b := &sent[len(sent)-1]
		b.calls, b.blurred = append(b.calls, calls...), b.blurred || blurred
	}
	w.acts = w.acts[:0]
	w.respond(responses)
	for i := range sent {
		w.tellApart(&sent[i])
	}
}

// newly returns the calls whose first bytes a move sends, or for which it connects.
func (w *sharing) newly(m *loops.Move) []timeline.CallID {
	c := w.conns[m.Conn]
	if c == nil {
		return nil
	}
	from := c.sent
	for c.sent < len(c.calls) && (w.t.Calls[c.calls[c.sent]].SendFrom <= m.At || m.Kind == loops.MoveConnect && c.calls[c.sent] == m.Call) {
		c.sent++
	}
	if c.shared {
		w.beside += c.sent - from
	}
	return c.calls[from:c.sent]
}

// blurred reports a write on a shared connection in which not all commands could be separated.
func (w *sharing) blurred(m *loops.Move) bool {
	c := w.conns[m.Conn]
	if c == nil || !c.shared || m.Kind == loops.MoveConnect {
		return false
	}
	facts := &w.f.Conns[m.Conn]
	if len(facts.Commands) == 0 {
		return false
	}
	writes := facts.Chunks[recording.Write]
	k := sort.Search(len(writes), func(k int) bool { return writes[k].At >= m.At })
	if k == len(writes) || writes[k].At != m.At {
		return false
	}
	end := writes[k].End()
	k = sort.Search(len(facts.Commands), func(k int) bool { return facts.Commands[k].Offset >= end }) - 1
	return k < 0 || facts.Commands[k].Offset+facts.Commands[k].Length < end
}

// late reports a write by a callback that was asked for in an earlier turn, by an owner that is ready since then, or
// in no known turn.
func (w *sharing) late(m *loops.Move) bool {
	if w.holds {
		return false
	}
	if !w.turn.runs {
		return true
	}
	if m.Exec == 0 || m.Exec > w.turn.counter || w.lasts.has(m.Exec) {
		return false
	}
	if w.turn.tick > 0 && m.Exec > w.turn.tick && m.Exec != m.Trigger+1 { // except by a connection's parser
		return true
	}
	return slices.ContainsFunc(w.ready, func(a actor) bool {
		return a.turn < w.turn.n && a.counter < m.Exec && (!a.spent || a.asked(m.Exec))
	})
}

// senders lists the indexes in ready of the owners that may have sent a batch, in order. Within a turn, those come
// first that were not seen to send anything yet.
func (w *sharing) senders(b *batch) (list []int) {
	if w.holds {
		return w.waiting()
	}
	var more []int
	for i := range w.ready {
		a := &w.ready[i]
		if len(more) > 0 && a.turn > w.ready[more[0]].turn {
			list, more = append(list, more...), nil
		}
		switch may := b.late && (a.until == 0 || a.until >= b.exec) || !b.late && a.turn == w.turn.n; {
		case may && !a.spent:
			list = append(list, i)
		case may && b.late && b.exec > 0 && w.askedMore(a, b.exec):
			more = append(more, i)
		}
	}
	return append(list, more...)
}

// askedMore reports whether an owner that sent something may have asked for more in the same turn, which a callback
// then sends that was asked for in that turn or later.
func (w *sharing) askedMore(a *actor, exec int64) bool {
	n, known := w.counts.At(a.isAt())
	return !known || n > 0 || a.asked(exec)
}

// asker reports whether the callback that sent a batch was asked for in the turn of the first candidate, and of no
// other.
func (w *sharing) asker(b *batch, list []int) bool {
	first := &w.ready[list[0]]
	return w.all && b.late && b.exec > 0 && first.asked(b.exec) && !slices.ContainsFunc(list, func(i int) bool {
		return w.ready[i].who != first.who && w.ready[i].asked(b.exec)
	})
}

// tellApart assigns the calls of a batch to the owners that may have sent them.
func (w *sharing) tellApart(b *batch) {
	list := w.senders(b)
	went := w.takeSure(b, list)
	on, off := w.split(b, list)
	w.turn.sent = w.turn.sent || len(on) > 0
	switch {
	case len(b.calls) == 0 && !b.blurred:
	case len(list) == 0, b.late && len(on) == 0:
		w.unseen(b.calls)
	case b.blurred:
		w.blurs += len(b.calls) + 1
		for _, i := range list {
			w.lose(w.ready[i].who)
		}
		w.unknown(list, b.calls)
		w.spend(list)
	default:
		b.asker = len(went) == 0 && w.asker(b, list)
		w.shareOut(b, list, on, off)
	}
	w.wentAside(went)
	w.settle(b)
}

// split separates a batch into calls on shared connections and others.
func (w *sharing) split(b *batch, list []int) (on, off []timeline.CallID) {
	for _, id := range b.calls {
		w.many[id] = w.many[id] || len(list) > 1
		if w.isShared(id) {
			on = append(on, id)
		} else {
			off = append(off, id)
		}
	}
	if len(b.calls) > 0 && !b.late && !b.blurred {
		saw(w.asides, w.points(list), len(off), false)
	}
	return on, off
}

// takeSure removes from a batch the calls whose requests are certain, and returns their owners.
func (w *sharing) takeSure(b *batch, list []int) (went []loops.Owner) {
	b.calls = slices.DeleteFunc(b.calls, func(id timeline.CallID) bool {
		if !w.sure[id] || w.holds && w.isShared(id) {
			return false
		}
		who := loops.OfRequest(w.t.Calls[id].Request)
		w.gets(id, who)
		w.told[id] = true
		delete(w.away, who)
		next := w.did[who]
		for _, i := range list {
			if w.ready[i].who == who {
				next = w.ready[i].isAt()
			}
		}
		next.steps = min(next.steps+1, 100)
		w.did[who], went = next, append(went, who)
		return true
	})
	return went
}

// wentAside notes which of the ready owners sent calls on connections of their own.
func (w *sharing) wentAside(went []loops.Owner) {
	var places []int
	for i := range w.ready {
		a := &w.ready[i]
		if a.spent || !slices.Contains(went, a.who) {
			continue
		}
		places, a.told, a.went = append(places, i), true, sentLater
		if a.turn == w.turn.n {
			a.went = sentAside
		}
	}
	w.spend(w.doneWith(places))
}

// doneWith returns those of the owners that sent calls on connections of their own and, as far as known, send none on
// a shared connection. The others do that in an immediate.
func (w *sharing) doneWith(went []int) []int {
	done := slices.DeleteFunc(went, func(i int) bool {
		n, known := w.counts.At(w.ready[i].point)
		return known && n > 0
	})
	if len(done) > 0 && !w.ready[done[0]].told {
		w.saw(done, 0, true)
	}
	return done
}

// unknown notes calls that any of several owners may have sent.
func (w *sharing) unknown(list []int, calls []timeline.CallID) {
	whose := make([]loops.Owner, len(list))
	for k, i := range list {
		if whose[k] = loops.Nobody; i != others {
			whose[k] = w.ready[i].who
		}
	}
	for _, id := range calls {
		w.gets(id, loops.Nobody)
		w.either[id] = whose
	}
}

// saw notes how many calls some ready owners sent together on shared connections; others: owners that are away may
// have sent some of them.
func (w *sharing) saw(list []int, calls int, others bool) {
	saw(w.counts, w.points(list), calls, others && w.stillAway() > 0)
}

// points are the points that some of the ready owners have come to.
func (w *sharing) points(list []int) []progress {
	points := make([]progress, len(list))
	for k, i := range list {
		points[k] = w.ready[i].isAt()
	}
	return points
}

func (w *sharing) isShared(id timeline.CallID) bool { return w.byConn[w.t.Calls[id].Conn].shared }

// gets assigns a call to an owner.
func (w *sharing) gets(id timeline.CallID, who loops.Owner) {
	if who == loops.Nobody {
		who = loops.OfCall(id)
	}
	w.owner[id] = who
	if w.t.Calls[id].Excluded == exchange.Unpaired {
		w.lose(who)
	}
	w.flying[who]++
	if r, ok := who.Request(); ok {
		w.of[r] = append(w.of[r], id)
	}
}

// lose notes that it is not known when a call of an owner is answered, and so what else the owner does.
func (w *sharing) lose(who loops.Owner) {
	if r, ok := who.Request(); ok {
		w.lost[r] = true
	}
}
