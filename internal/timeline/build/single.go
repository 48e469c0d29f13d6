package build

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/recording"
)

// associateSingle associates the calls of a loop that tells nothing about whom it
// works for: a call belongs to a request only if no other was open there when the
// call was begun, and it is still open when that is sent; where requests wander between loops, none on any of them. A thread of Go
// whose goroutines are not known yet looks like a loop, and works for requests that other
// threads have read.
func associateSingle(t *timeline.Timeline, loop loopMoves) {
	moves, process := loop.moves, t.Strands[loop.strand].Process
	wander := loop.wander || slices.ContainsFunc(t.Processes, func(p timeline.Process) bool { return p.ID == process && p.Runtime == recording.RuntimeGo })
	requests := openAmong(t, func(r *timeline.Request) bool { return r.Strand == loop.strand || wander && r.Process == process })
	begun := map[timeline.CallID]bool{}
	for i := range moves {
		m := &moves[i]
		if m.call == timeline.None || begun[m.call] || t.Calls[m.call].Why != "" {
			continue
		}
		c, r := &t.Calls[m.call], requests.at(m.at)
		if r != timeline.None && c.SendFrom > t.Requests[r].End { // who connected has not used it
			continue
		}
		begun[m.call] = true
		switch {
		case requests.during(m.at, m.at) == 0:
			t.Assign(c, timeline.None, timeline.WhyNoOwner)
		case r != timeline.None && c.Start >= t.Requests[r].FirstRead:
			t.Assign(c, r, timeline.WhyLoopSingle)
		default:
			t.Assign(c, timeline.None, timeline.WhyAmbiguous)
		}
	}
}

// wandering finds the processes whose loops answer what others have read: threads that
// carry virtual ones, of which each goes on wherever there is room. A few exceptions are
// let pass.
func wandering(t *timeline.Timeline, requests []exchange.Request) map[recording.ProcessID]bool {
	all, odd := map[recording.ProcessID]int{}, map[recording.ProcessID]int{}
	for i := range requests {
		s := &requests[i]
		if s.Reader == timeline.None || s.Writer == timeline.None || !t.Strands[s.Reader].Loop {
			continue
		}
		p := t.Requests[i].Process
		all[p]++
		if s.Writer != s.Reader && t.Strands[s.Writer].Loop {
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
func countUpTo(times []recording.Time, t recording.Time) int {
	n, _ := slices.BinarySearch(times, t+1)
	return n
}
