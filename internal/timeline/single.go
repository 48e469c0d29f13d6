package timeline

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// associateSingle associates the calls of a loop that tells nothing about whom it
// works for: a call belongs to a request only if no other was open there when the
// call was begun, and it is still open when that is sent; where requests wander between loops, none on any of them. A thread of Go
// whose goroutines are not known yet looks like a loop, and works for requests that other
// threads have read.
func associateSingle(t *Timeline, loop loopMoves) {
	var starts, ends []RequestID
	moves, process := loop.moves, t.Strands[loop.strand].Process
	wander := loop.wander || slices.ContainsFunc(t.Processes, func(p Process) bool { return p.ID == process && p.Runtime == recording.RuntimeGo })
	for i := range t.Requests {
		if r := &t.Requests[i]; r.Strand == loop.strand || wander && r.Process == process {
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
		c := &t.Calls[m.call]
		if open == 1 && c.SendFrom > t.Requests[sum].End { // who connected has not used it
			continue
		}
		begun[m.call] = true
		switch {
		case open == 0:
			t.assign(c, None, WhyNoOwner)
		case open == 1 && c.Start >= t.Requests[sum].FirstRead:
			t.assign(c, sum, WhyLoopSingle)
		default:
			t.assign(c, None, WhyAmbiguous)
		}
	}
}

// wandering finds the processes whose loops answer what others have read: threads that
// carry virtual ones, of which each goes on wherever there is room. A few exceptions are
// let pass.
func wandering(t *Timeline, requests []served) map[recording.ProcessID]bool {
	all, odd := map[recording.ProcessID]int{}, map[recording.ProcessID]int{}
	for i := range requests {
		s := &requests[i]
		if s.reader == None || s.writer == None || !t.Strands[s.reader].Loop {
			continue
		}
		p := t.Requests[i].Process
		all[p]++
		if s.writer != s.reader && t.Strands[s.writer].Loop {
			odd[p]++
		}
	}
	wander := map[recording.ProcessID]bool{}
	for p, n := range odd {
		wander[p] = n*exceptions > all[p]
	}
	return wander
}

// openCount tells how many requests of some set are open.
type openCount struct{ starts, ends []Time }

// at returns how many are open at a time.
func (o *openCount) at(t Time) int { return o.during(t, t) }

// during returns how many are open at some time between from and to.
func (o *openCount) during(from, to Time) int {
	return countUpTo(o.starts, to) - countUpTo(o.ends, from-1)
}

func (o *openCount) add(r *Request) {
	o.starts, o.ends = append(o.starts, r.FirstRead), append(o.ends, r.End)
}

func (o *openCount) sort() {
	slices.Sort(o.starts)
	slices.Sort(o.ends)
}

// openOn counts the requests of a loop.
func openOn(t *Timeline, strand StrandID) *openCount {
	o := &openCount{}
	for i := range t.Requests {
		if r := &t.Requests[i]; r.Strand == strand {
			o.add(r)
		}
	}
	o.sort()
	return o
}

// openIn counts the requests of each process.
func openIn(t *Timeline) map[recording.ProcessID]*openCount {
	all := map[recording.ProcessID]*openCount{}
	for i := range t.Requests {
		r := &t.Requests[i]
		if all[r.Process] == nil {
			all[r.Process] = &openCount{}
		}
		all[r.Process].add(r)
	}
	for _, o := range all {
		o.sort()
	}
	return all
}

// countUpTo counts the times that are at most t.
func countUpTo(times []Time, t Time) int {
	n, _ := slices.BinarySearch(times, t+1)
	return n
}
