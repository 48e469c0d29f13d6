package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// associateSingle associates the calls of a loop that tells nothing about whom it
// works for: a call belongs to a request only if no other was open there when the
// call was begun, and it is still open when that is sent; where requests wander between loops, none on any of them. A thread of Go
// whose goroutines are not known yet looks like a loop, and works for requests that other
// threads have read.
func associateSingle(t *timeline.Timeline, loop loops.Loop) {
	moves, process := loop.Moves, t.Strands[loop.Strand].Process
	wander := loop.Wander || slices.ContainsFunc(t.Processes, func(p timeline.Process) bool { return p.ID == process && p.Runtime == recording.RuntimeGo })
	requests := timeline.OpenAmong(t, func(r *timeline.Request) bool { return r.Strand == loop.Strand || wander && r.Process == process })
	begun := map[timeline.CallID]bool{}
	for i := range moves {
		m := &moves[i]
		if m.Call == timeline.None || begun[m.Call] || t.Calls[m.Call].Why != "" {
			continue
		}
		c, r := &t.Calls[m.Call], requests.At(m.At)
		if r != timeline.None && c.SendFrom > t.Requests[r].End { // who connected has not used it
			continue
		}
		begun[m.Call] = true
		switch {
		case requests.During(m.At, m.At) == 0:
			t.Assign(c, timeline.None, timeline.WhyNoOwner)
		case r != timeline.None && c.Start >= t.Requests[r].FirstRead:
			t.Assign(c, r, timeline.WhyLoopSingle)
		default:
			t.Assign(c, timeline.None, timeline.WhyAmbiguous)
		}
	}
}
