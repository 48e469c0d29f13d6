package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// namedWorkers names those who do tasks of requests, by one of them, and says what a request
// waits for that none of them has begun with.
func namedWorkers(c *diagnosis.Case, one timeline.StrandID) (name, what string) {
	if one == timeline.None {
		return "an executor", "a thread of an executor"
	}
	if c.Strands[one].Goroutine == recording.NoGoroutine {
		return "executor of threads " + family(c.Strands[one].Name), "a thread of an executor"
	}
	if name = taskLoop(c, one); name == "" {
		name = "goroutines that take tasks"
	}
	return name, "a goroutine that takes its task"
}

// taskLoop names the function of the service's own code that a goroutine runs in the end,
// with the line in which it waits for others. "" if no stack tells.
func taskLoop(c *diagnosis.Case, goroutine timeline.StrandID) (name string) {
	for _, id := range c.Strands[goroutine].Waits {
		for _, f := range c.StackFrames(c.Waits[id].Stack) {
			if timeline.Application(f) {
				name = c.PlaceName(f)
			}
		}
		if name != "" {
			break
		}
	}
	return name
}

// workerNoun is what the workers of an executor are.
func workerNoun(rt recording.Runtime) string {
	if rt == recording.RuntimeGo {
		return "goroutines"
	}
	return "threads"
}
