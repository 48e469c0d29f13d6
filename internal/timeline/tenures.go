package timeline

import "sort"

// Tenures returns which strands held a lock while others waited for it, in order and disjoint; unknown spans are
// missing. Overlapping waits report the same holders: each span is taken from the wait that began first. Tenures takes
// linear time.
func (t *Timeline) Tenures(id LockID) []Hold {
	if id < 0 || int(id) >= len(t.Locks) {
		return nil
	}
	var list []Hold
	told := Time(0) // covered up to here
	for _, w := range t.Locks[id].Waits {
		holds := t.Waits[w].Holds
		for _, h := range holds[sort.Search(len(holds), func(k int) bool { return holds[k].To > told }):] {
			h.From = max(h.From, told)
			told = h.To
			if n := len(list); n > 0 && list[n-1].To == h.From && list[n-1].Strand == h.Strand && list[n-1].Basis == h.Basis {
				list[n-1].To = h.To
				continue
			}
			list = append(list, h)
		}
	}
	return list
}
