package timeline

import (
	"cmp"
	"slices"
)

// In a turn in which several requests may go on, each where a promise with an id of its own is
// resolved, ids are given out to one after the other. What is sent in it has ids of which the
// trigger names a promise that was made before: so it is known of some of the ids whose they are,
// and of those between two of one request too.

// idPoint is an id of which it is known who was worked for when it was given out, or that the
// same was as when another was.
type idPoint struct {
	id, trigger int64
	owner       ref // nobody: who had the trigger
}

// idsToWrite is how many ids a callback gives out at most that does nothing but write what was asked
// for before: of a tick, and of the write.
const idsToWrite = 4

// giveBefore notes whose ids are that were given out before such a callback ran, on a connection that
// several requests share, or one of which it is known how many it gives out; by is whose all are up to
// its write, and the rest.
func (w *asyncWalk) giveBefore(m *move, by giver) giver {
	few := w.few
	if w.named[m.conn] {
		few = idsToWrite
	}
	if before := by.either[0]; before != nobody && m.kind == moveSend && few >= 0 {
		w.ids.give(m.counter-few, giver{before, [2]ref{nobody, nobody}}, m.at)
	}
	return by
}

// notePoint notes what a move in such a turn tells, or that it ends one.
func (w *asyncWalk) notePoint(m *move) {
	if !m.callback() {
		w.tellBetween()
		return
	}
	if w.turn.conn == noConn || !w.named[w.turn.conn] || m.trigger == 0 || !w.fresh(m.exec) {
		return
	}
	p := idPoint{m.exec, m.trigger, nobody}
	if !w.fresh(m.trigger) {
		p.owner = w.ids.find(m.trigger)
	}
	w.points = append(w.points, p)
}

// tellBetween ends such a turn.
func (w *asyncWalk) tellBetween() {
	if len(w.points) == 0 {
		return
	}
	slices.SortFunc(w.points, func(a, b idPoint) int { return cmp.Compare(a.id, b.id) })
	for i := range w.points {
		if p := &w.points[i]; p.owner == nobody {
			p.owner = w.between(p.trigger)
		}
	}
	for i := 1; i < len(w.points); i++ {
		if a, b := &w.points[i-1], &w.points[i]; a.owner != nobody && w.chains.same(a.owner, b.owner) {
			w.ids.tell(a.id, b.id, a.owner)
		}
	}
	w.points = w.points[:0]
}

// between is whose an id is that stands between two of one.
func (w *asyncWalk) between(id int64) ref {
	k, found := slices.BinarySearchFunc(w.points, id, func(p idPoint, id int64) int { return cmp.Compare(p.id, id) })
	switch {
	case found:
		return w.points[k].owner
	case k > 0 && k < len(w.points) && w.points[k].owner != nobody && w.chains.same(w.points[k-1].owner, w.points[k].owner):
		return w.points[k].owner
	}
	return nobody
}

// trustNames notes of calls that ids tell whose they are, where what is sent names a promise of its request:
// unless several were written together, what the first asked for.
func (in *asyncInput) trustNames(t *Timeline, conns map[int32]*sharedConn) {
	if in.named == nil {
		return
	}
	for _, c := range conns {
		for k, id := range c.calls {
			call := &t.Calls[id]
			together := k > 0 && t.Calls[c.calls[k-1]].SendFrom == call.SendFrom ||
				k+1 < len(c.calls) && t.Calls[c.calls[k+1]].SendFrom == call.SendFrom
			if call.Why == WhyAsync && call.Request != None && !(c.shared && together) {
				in.sure[id] = true
			}
		}
	}
}
