package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// calledIn says where in the service's own code calls are made, with the line, to go after
// what is said of them: by the stacks with which their strands waited for the answers. ""
// if too few have one. That a loop waits says nothing of who made the call.
func calledIn(c *diagnosis.Case, calls []timeline.CallID) string {
	if len(c.Stacks) == 0 {
		return ""
	}
	at, seen := lined{}, 0
	step := max(1, len(calls)/lookedAt)
	for i := 0; i < len(calls); i += step {
		k := &c.Calls[calls[i]]
		if k.Strand == timeline.None || c.Strands[k.Strand].Loop {
			continue
		}
		found := false
		for _, a := range c.Doing(k.Strand, k.Start, k.End) {
			if a.Syscall == "" || a.Call != k.ID || a.Later {
				continue
			}
			for _, f := range c.StackFrames(a.Stack) {
				if timeline.Application(f) {
					at.add(c, f, a.To.Sub(a.From))
					found = true
					break
				}
			}
		}
		if found {
			seen++
		}
	}
	f, found := at.most()
	if !found || seen < fewStacks {
		return ""
	}
	return ", called in " + c.PlaceName(f)
}

// fewStacks is how many calls with a stack have to be there to say where they are made.
const fewStacks = 3
