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
		Doc: "One thread of the interpreter runs at a time, and the others queue.\n\n" +
			"Support: the time in which a strand that a request depends on waits for the lock of its interpreter (CPython's GIL, Ruby's GVL) while another thread holds it and computes.\n\n" +
			"Not this: waits that follow from what requests compute are a lead at most, reported after cpu-bound. They follow if, with half of that work, requests would compute less by more than they would wait less.\n\n" +
			"Saving: the interpreter is a server with a queue, however busy it is. The recorded arrivals are replayed with half of its largest piece of work, and with one more process as far as idle processors go. What a request waits less " +
			"with the better of the two is taken out; the work itself stays. Of waits behind threads that serve no request, at least the part goes that idle processors could take over if the threads were processes. If programs beside the " +
			"service have the processors, or several processes serve, the replay is that of an interpreter that need not wait for a processor. The rest of the waits belongs to the other programs, or to the processors. If the replay does not " +
			"reproduce the recorded waits, only the waits behind threads that serve no request count.",
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
	res.Evidence = []diagnosis.Evidence{diagnosis.Part("of all request time is spent waiting for the interpreter's lock", share)}
	return res
}

// behindOthers returns what would go of the waits behind threads that never work for a request, of each stay from its
// beginning. What a thread that does work for requests has to do before and after one belongs to that request.
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

// idleProcessor returns for how much of the time one was idle: what waits for an interpreter that others use could have
// run there.
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
		name = "Python's global interpreter lock (GIL)"
	}
	if at := k.doing(c, deedCPU); at != "" && k.chiefly(deedCPU) {
		doing = " while computing in " + at
	}
	gone, fix, decide := k.behindOthers(c), interpreterFix(rt), ""
	st := interpreterOf(c, k)
	if st.follows() {
		decide = "see whether the load will grow (dwell why REC --load x1.5): at this load, halving what requests compute saves more by the computation itself than by these waits"
	}
	m := st.mend(c)
	if m != nil && diagnosis.Total(spansOf(m.gone)) > diagnosis.Total(spansOf(gone)) {
		gone = m.gone
		doing += "; " + m.busyWith(c)
		fix = "do less there; or " + fix
	}
	ev := append(k.evidence(c), diagnosis.Part("of the waits would go", diagnosis.ShareOf(int64(diagnosis.Total(spansOf(gone))), int64(k.total))))
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

// chiefly reports whether the holders did things of a kind for at least half of the time that requests waited for what
// is known of them.
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
