package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func interpreterLock() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "interpreter-lock",
		Title: "Threads wait for the interpreter's lock",
		Doc: "Supported by the time in which a strand that a request depends on waits for the lock of its interpreter (CPython's GIL, Ruby's GVL), which another thread holds that computes. " +
			"Taken out of each request: the part of those waits that idle processors could take over if the threads were processes; the work itself stays.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"accept-queue", "load"},
		Test:     testInterpreterLock,
	}
}

func testInterpreterLock(c *diagnosis.Case) diagnosis.Result {
	var total Duration
	res := diagnosis.Result{Lead: none(c)}
	for _, k := range contentions(c, timeline.CauseInterpreterLock) {
		if total += k.total; k.total > 0 {
			res.Candidates = append(res.Candidates, interpreterAt(c, k))
		}
	}
	if interpreted(c) {
		res.Hidden = unnamedWaits(c)
	}
	_, share := perMean(c, total)
	if total > 0 {
		res.Lead = "waiting for the interpreter's lock takes " + diagnosis.Percent(share) + " of all request time"
	}
	res.Evidence = []diagnosis.Evidence{diagnosis.Part("of all request time waits for the interpreter's lock", share)}
	return res
}

// interpreted reports whether a watched process has an interpreter lock.
func interpreted(c *diagnosis.Case) bool {
	for i := range c.Processes {
		if rt := c.Processes[i].Runtime; rt == recording.RuntimePython || rt == recording.RuntimeRuby {
			return true
		}
	}
	return false
}

func interpreterAt(c *diagnosis.Case, k *contention) diagnosis.Candidate {
	gone := k.without(c)
	rt := recording.RuntimeNative
	if s := k.waiter(); s != timeline.None {
		rt = runtimeOf(c, c.Strands[s].Process)
	}
	name, doing := "the interpreter's lock", ""
	if rt == recording.RuntimePython {
		name = "Python's global interpreter lock"
	}
	if at := k.doing(c, deedCPU); at != "" {
		doing = " while computing in " + at
	}
	ev := append(k.evidence(c), diagnosis.Part("of a wait behind a computing holder would go: idle processors can take over as much", k.spared(c)))
	return diagnosis.Candidate{
		Place:    name,
		Title:    "Requests wait " + meanWords(c, k.total) + " for " + name + ", held by " + k.holder(c) + doing,
		Fix:      interpreterFix(rt),
		Next:     "dwell show REC --slowest 3 shows the waits of single requests",
		Spans:    append(spansOf(gone), k.queues(c, gone)...),
		Evidence: ev,
	}
}

func interpreterFix(rt recording.Runtime) string {
	switch rt {
	case recording.RuntimePython:
		return "serve from more processes with fewer threads each (gunicorn --workers), or move the computation to a ProcessPoolExecutor or to code that releases the lock (numpy, hashlib)"
	case recording.RuntimeRuby:
		return "serve from more processes with fewer threads each (puma --workers), or move the computation out of the request's process"
	}
	return "serve from more processes with fewer threads each"
}
