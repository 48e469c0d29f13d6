package timeline

import (
	"cmp"
	"slices"
)

// associateSingle associates the calls of a loop that tells nothing about whom it
// works for: a call belongs to a request only if no other was open there when the
// call was begun.
func associateSingle(t *Timeline, strand StrandID, moves []move) {
	var starts, ends []RequestID
	for i := range t.Requests {
		if t.Requests[i].Strand == strand {
			starts = append(starts, RequestID(i))
		}
	}
	ends = slices.Clone(starts)
	slices.SortFunc(starts, func(a, b RequestID) int { return cmp.Compare(t.Requests[a].FirstRead, t.Requests[b].FirstRead) })
	slices.SortFunc(ends, func(a, b RequestID) int { return cmp.Compare(t.Requests[a].End, t.Requests[b].End) })
	open, sum := 0, RequestID(0) // how many requests are open, and the sum of their numbers
	begun := map[CallID]bool{}
	for i := range moves {
		m := &moves[i]
		for ; len(starts) > 0 && t.Requests[starts[0]].FirstRead <= m.at; starts = starts[1:] {
			open, sum = open+1, sum+starts[0]
		}
		for ; len(ends) > 0 && t.Requests[ends[0]].End < m.at; ends = ends[1:] {
			open, sum = open-1, sum-ends[0]
		}
		if m.call == None || begun[m.call] || t.Calls[m.call].Why != "" {
			continue
		}
		begun[m.call] = true
		c := &t.Calls[m.call]
		switch {
		case open == 0:
			c.Why = WhyNoOwner
		case open == 1 && c.Start >= t.Requests[sum].FirstRead:
			c.Request, c.Why = sum, WhyLoopSingle
		default:
			c.Why = WhyAmbiguous
		}
	}
}

// openOn returns how many requests are open on a loop, for any time.
func openOn(t *Timeline, strand StrandID) *openCount {
	o := &openCount{}
	for i := range t.Requests {
		if r := &t.Requests[i]; r.Strand == strand {
			o.starts, o.ends = append(o.starts, r.FirstRead), append(o.ends, r.End)
		}
	}
	slices.Sort(o.starts)
	slices.Sort(o.ends)
	return o
}

// countUpTo counts the times that are at most t.
func countUpTo(times []Time, t Time) int {
	n, _ := slices.BinarySearch(times, t+1)
	return n
}
