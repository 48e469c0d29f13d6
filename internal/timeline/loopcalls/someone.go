package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// Of a turn that a message or a timer began, and of which nobody is known, it is known that one goes on in
// it, where promises have ids. So that one has a ref, a call's that is none: what becomes known of it, by what
// it asked for or does later, counts for all that was done in that turn, too.

// someone returns a ref for one of whom nothing is known.
func (c *chains) someone() loops.Owner {
	id := timeline.CallID(len(c.index))
	c.index = append(c.index, 0)
	c.add(id)
	return loops.OfCall(id)
}

// somebody reports a call that is none, but stands for one of whom nothing was known.
func (c *chains) somebody(id timeline.CallID) bool { return int(id) >= c.real }

// stranger reports the ref of one of whom nothing was known.
func (c *chains) stranger(a loops.Owner) bool {
	id, ok := a.Call()
	return ok && c.somebody(id)
}

// meet says that two are one, if nothing was known of either.
func (c *chains) meet(a, b loops.Owner) {
	switch {
	case a == loops.Nobody || b == loops.Nobody:
	case c.stranger(a):
		id, _ := a.Call()
		c.link(id, b)
	case c.stranger(b):
		id, _ := b.Call()
		c.link(id, a)
	}
}

// toldStrangers puts, for those of whom nothing was known, whom they turned out to be: a request, or that of a call
// which was sent before.
func (w *asyncWalk) toldStrangers(moves []loops.Move) {
	first := map[int]timeline.CallID{} // by root: the first call that was sent
	for i, id := range w.chains.calls {
		if root := w.chains.root(i); !w.chains.somebody(id) {
			if before, ok := first[root]; !ok || w.t.Calls[id].SendFrom < w.t.Calls[before].SendFrom {
				first[root] = id
			}
		}
	}
	who := func(a loops.Owner, at recording.Time) loops.Owner {
		if !w.chains.stranger(a) {
			return a
		}
		if r := w.chains.known(a); r != timeline.None {
			return loops.OfRequest(r)
		}
		id, _ := a.Call()
		i, _ := w.chains.find(id)
		if before, ok := first[w.chains.root(i)]; ok && w.t.Calls[before].SendFrom < at {
			return loops.OfCall(before)
		}
		return loops.Nobody
	}
	for i := range moves {
		moves[i].By = who(moves[i].By, moves[i].At)
	}
	for _, id := range w.chains.calls {
		if !w.chains.somebody(id) {
			at, h := w.t.Calls[id].SendFrom, &w.hands
			h.made[id], h.by[id] = who(h.made[id], at), who(h.by[id], at)
		}
	}
}
