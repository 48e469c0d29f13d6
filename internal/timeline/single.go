package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

// associateSingle associates the calls of a loop that tells nothing about whom it
// works for: a call belongs to a request only if no other was open there when the
// call was begun, and it is still open when that is sent; where requests wander between loops, none on any of them. A thread of Go
// whose goroutines are not known yet looks like a loop, and works for requests that other
// threads have read.
func associateSingle(t *Timeline, loop loopMoves) {
	moves, process := loop.moves, t.Strands[loop.strand].Process
	wander := loop.wander || slices.ContainsFunc(t.Processes, func(p Process) bool { return p.ID == process && p.Runtime == recording.RuntimeGo })
	requests := openAmong(t, func(r *Request) bool { return r.Strand == loop.strand || wander && r.Process == process })
	begun := map[CallID]bool{}
	for i := range moves {
		m := &moves[i]
		if m.call == None || begun[m.call] || t.Calls[m.call].Why != "" {
			continue
		}
		c, r := &t.Calls[m.call], requests.at(m.at)
		if r != None && c.SendFrom > t.Requests[r].End { // who connected has not used it
			continue
		}
		begun[m.call] = true
		switch {
		case requests.during(m.at, m.at) == 0:
			t.assign(c, None, WhyNoOwner)
		case r != None && c.Start >= t.Requests[r].FirstRead:
			t.assign(c, r, WhyLoopSingle)
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

// countUpTo counts the times that are at most t.
func countUpTo(times []Time, t Time) int {
	n, _ := slices.BinarySearch(times, t+1)
	return n
}
