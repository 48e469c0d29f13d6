package timeline

import "slices"

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
