package timeline

import (
	"cmp"
	"slices"
)

// phaseOf lists the wakes in the phase of one that are of no nap yet, and the naps that may
// have ended in it.
func (m *matching) phaseOf(i int32) (wakes []int32, naps []napPair) {
	from := i
	for from > 0 && m.wakes[from-1].phase == m.wakes[i].phase {
		from--
	}
	for k := from; int(k) < len(m.wakes) && m.wakes[k].phase == m.wakes[i].phase; k++ {
		if m.wakes[k].nap != None {
			continue
		}
		wakes = append(wakes, k)
		for _, p := range m.left(k) {
			at := slices.IndexFunc(naps, func(q napPair) bool { return q.nap == p.nap })
			switch {
			case at < 0:
				naps = append(naps, p)
			case naps[at].length != p.length:
				naps[at].length = 0
			}
		}
	}
	return wakes, naps
}

// several reports whether more was done in the phase of a wake than naps can have ended in it.
func (m *matching) several(i int32) bool {
	wakes, naps := m.phaseOf(i)
	return len(wakes) > len(naps)
}

// inOrder joins the wakes of a phase with naps where there is one for each: Node runs the
// timers of one length after the other, that length first of which one fell due first.
func (m *matching) inOrder(i int32) bool {
	wakes, naps := m.phaseOf(i)
	if len(wakes) < 2 || len(wakes) != len(naps) || wakes[0] != i {
		return false
	}
	first := map[int32]naplen{} // by length: between which ms the first of that length fell due
	for _, p := range naps {
		if p.length == 0 {
			return false
		}
		n := &m.naps[p.nap]
		due := naplen{int64(n.from)/msec + int64(p.length), int64(n.to)/msec + int64(p.length)}
		if f, ok := first[p.length]; !ok || due.from < f.from {
			first[p.length] = due
		}
	}
	slices.SortFunc(naps, func(a, b napPair) int {
		return cmp.Or(cmp.Compare(first[a.length].from, first[b.length].from), cmp.Compare(a.length, b.length), cmp.Compare(a.nap, b.nap))
	})
	for k, p := range naps {
		if k > 0 && p.length != naps[k-1].length && first[naps[k-1].length].to >= first[p.length].from {
			return false
		}
		if !m.fits(&m.naps[p.nap], &m.wakes[wakes[k]]) {
			return false
		}
	}
	for k, p := range naps {
		m.join(p.nap, wakes[k])
	}
	return true
}
