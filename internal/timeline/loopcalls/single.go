package loopcalls

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// associateSingle assigns the calls of a loop for which no ids show the requests that it works for. A call belongs to
// a request only if no other was open on the loop when the call began, and if the request is still open when the call
// is sent. If requests move between the loops of a process, no other may be open on any of these loops. The same
// holds for a thread of Go whose goroutines are not known yet: it looks like a loop, and works for requests that
// other threads have read.
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
		if r != timeline.None && c.SendFrom > t.Requests[r].End { // the request that connected has not used the connection
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
