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
			"The interpreter is a server with a queue, however busy it is: the arrivals that were recorded are replayed with half of its largest piece of work, and with one more process as far as idle processors go. " +
			"Taken out of each request: what it waits less with the one that saves more; of waits behind threads that serve no request at least the part that idle processors could take over if the threads were processes. " +
			"The work itself stays. Where programs beside the service have the processors, or several processes serve, the replay is that of an interpreter that need not wait for one: what is more is the neighbours', or the processors'. Where the replay does not reproduce the waits that were recorded, only the latter counts. " +
			"A lead at most, told after cpu-bound, where those waits follow from what requests compute: with half of that they would compute less by more than they would wait less.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"accept-queue", "load"},
		Family:   familyInterpreters,
		Test:     testInterpreterLock,
	}
}

func testInterpreterLock(c *diagnosis.Case) diagnosis.Result {
	var total, following Duration
	res := diagnosis.Result{Lead: none(c)}
	for _, k := range contentions(c, timeline.CauseInterpreterLock) {
		if total += k.total; k.total > 0 {
			res.Candidates = append(res.Candidates, interpreterAt(c, k))
			if res.Candidates[len(res.Candidates)-1].Decide != "" {
				following += k.total
			}
		}
	}
	if 2*following >= total {
		res.After = "cpu-bound"
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

// behindOthers returns what of the waits behind threads that never work for a request
// would go, of each stay from its beginning. What one that does has to do before and
// after a request belongs to it.
func (k *contention) behindOthers(c *diagnosis.Case) (out []stay) {
	strands := map[timeline.StrandID]bool{}
	for i := range k.did {
		strands[k.did[i].strand] = k.did[i].strand != timeline.None
	}
	by, spared := servedBy(c, strands), idleProcessor(c)
	for _, s := range waitsWhile(k, func(d *deed) bool { return d.strand != timeline.None && len(by[d.strand]) == 0 }) {
		if s.To = s.From + diagnosis.Time(spared.Of(s.To.Sub(s.From))); s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// idleProcessor returns how much of the time one was: what waits for an interpreter that
// others use could have run there instead.
func idleProcessor(c *diagnosis.Case) diagnosis.Share {
	h := hostLoad(c)
	if !h.known {
		return diagnosis.Whole
	}
	return min(diagnosis.Whole, (diagnosis.Whole-h.busy)*diagnosis.Share(max(1, c.Manifest.CPUs)))
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
	rt := recording.RuntimeNative
	if s := k.waiter(); s != timeline.None {
		rt = runtimeOf(c, c.Strands[s].Process)
	}
	name, doing := "the interpreter's lock", ""
	if rt == recording.RuntimePython {
		name = "Python's global interpreter lock"
	}
	if at := k.doing(c, deedCPU); at != "" && k.chiefly(deedCPU) {
		doing = " while computing in " + at
	}
	gone, fix, decide := k.behindOthers(c), interpreterFix(rt), ""
	st := interpreterOf(c, k)
	if st.follows() {
		decide = "see whether load will grow (dwell why REC --load x1.5): so far, with half of what requests compute, that itself would save more than the waits that go with it"
	}
	m := st.mend(c)
	if m != nil && diagnosis.Total(spansOf(m.gone)) > diagnosis.Total(spansOf(gone)) {
		gone = m.gone
		doing += "; " + m.busyWith(c)
		fix = "do less there; or " + fix
	}
	ev := append(k.evidence(c), diagnosis.Part("of that time would go", diagnosis.ShareOf(int64(diagnosis.Total(spansOf(gone))), int64(k.total))))
	return diagnosis.Candidate{
		Place:    name,
		Decide:   decide,
		Title:    "Requests wait " + meanWords(c, spansOf(k.stays)) + " for " + name + k.heldBy(c) + doing,
		Fix:      fix,
		Next:     "dwell show REC --slowest 3 shows the waits of single requests",
		Spans:    append(spansOf(gone), k.queues(c, gone)...),
		Seen:     spansOf(k.stays),
		Evidence: append(ev, st.evidence(c)...),
		WhatIf:   st.whatIfs(c),
	}
}

// chiefly reports whether the holders did that for at least half of the time they had it:
// what little is known of the rest does not tell why they had it.
func (k *contention) chiefly(kind deedKind) bool {
	var of, all Duration
	for i, d := range k.weights {
		all += d
		if k.did[i].kind == kind {
			of += d
		}
	}
	return 2*of >= all
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
