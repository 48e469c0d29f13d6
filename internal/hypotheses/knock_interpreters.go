package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/queueing"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
)

// behindInterpreters returns what requests wait less for interpreters that no longer compute
// beneath some functions, by name: by replay, as what waits behind a server that has hardly
// any time to spare shrinks by more than its work. Where the replay of an interpreter does not
// reproduce what was recorded, or too few samples tell what it computes, nothing goes.
func behindInterpreters(c *diagnosis.Case, functions map[string]bool) (out []stay) {
	for _, k := range contentions(c, timeline.CauseInterpreterLock) {
		s := interpreterOf(c, k)
		if s == nil || len(s.did) < fewSamples || !s.fits() {
			continue
		}
		less := plan{Change: queueing.Change{Less: queueing.One, Of: s.sampled(onStack(c, functions))}}
		for _, span := range s.spared(less) {
			out = append(out, stay{span, timeline.None, timeline.None})
		}
	}
	return out
}

// interpreterOf is the interpreter that waits at a lock are for; nil if it has no model.
func interpreterOf(c *diagnosis.Case, k *contention) *station {
	return stationAt(c, kindInterpreter, func(s *station) bool { return s.lock == k.lock }).alone(c, k)
}

// onStack reports of stacks whether one of some functions is on them.
func onStack(c *diagnosis.Case, functions map[string]bool) func(timeline.StackID) bool {
	known := map[timeline.StackID]bool{}
	return func(id timeline.StackID) bool {
		is, ok := known[id]
		if ok {
			return is
		}
		for _, f := range c.StackFrames(id) {
			if functions[symbol.Name(f)] {
				is = true
				break
			}
		}
		known[id] = is
		return is
	}
}
