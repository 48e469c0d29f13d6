package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// If promises have ids, a turn that a message or a timer began belongs to one request, even if it is not known yet to
// which. The turn then gets a placeholder as its owner: the number of a call that does not exist. What becomes known
// of the placeholder, by what it asked for or does later, holds for the whole turn.

// newPlaceholder returns an owner about which nothing is known yet.
func (c *chains) newPlaceholder() loops.Owner {
	id := c.Make()
	c.add(id)
	return loops.OfCall(id)
}

// isPlaceholder reports whether an owner is a placeholder.
func (c *chains) isPlaceholder(a loops.Owner) bool {
	id, ok := a.Call()
	return ok && c.Made(id)
}

// meet says which owner a placeholder turned out to be.
func (c *chains) meet(placeholder, owner loops.Owner) {
	id, _ := placeholder.Call()
	c.link(id, owner)
}

// resolvePlaceholders replaces each placeholder by the owner that it turned out to be: a request, or the request of a
// call that was sent before.
func (w *asyncWalk) resolvePlaceholders(moves []loops.Move) {
	first := map[int]timeline.CallID{} // by root: the first call that was sent
	for i, id := range w.chains.Work {
		if root := w.chains.Root(i); !w.chains.Made(id) {
			if before, ok := first[root]; !ok || w.t.Calls[id].SendFrom < w.t.Calls[before].SendFrom {
				first[root] = id
			}
		}
	}
	who := func(a loops.Owner, at recording.Time) loops.Owner {
		if !w.chains.isPlaceholder(a) {
			return a
		}
		if r := w.chains.known(a); r != timeline.None {
			return loops.OfRequest(r)
		}
		id, _ := a.Call()
		i, _ := w.chains.Find(id)
		if before, ok := first[w.chains.Root(i)]; ok && w.t.Calls[before].SendFrom < at {
			return loops.OfCall(before)
		}
		return loops.Nobody
	}
	for i := range moves {
		moves[i].By = who(moves[i].By, moves[i].At)
	}
	for _, id := range w.chains.Work {
		if !w.chains.Made(id) {
			at, h := w.t.Calls[id].SendFrom, &w.hands
			h.made[id], h.by[id] = who(h.made[id], at), who(h.by[id], at)
		}
	}
}
