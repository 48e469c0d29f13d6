package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func interpreterLock() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "interpreter-lock",
		Title: "Threads wait for the interpreter's lock",
		Doc: "Supported by the time in which a strand that a request depends on waits for the lock of its interpreter (CPython's GIL, Ruby's GVL), which another thread holds that computes. " +
			"Waits behind threads that serve requests are the queue of one processor, which is load's; they count only where the interpreter is busy 90 % of the time. " +
			"Taken out of each request: the part of those waits that idle processors could take over if the threads were processes; the work itself stays.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"accept-queue", "load"},
		Family:   familyInterpreters,
		Test:     testInterpreterLock,
	}
}

func testInterpreterLock(c *diagnosis.Case) diagnosis.Result {
	var total Duration
	var busiest diagnosis.Share
	res := diagnosis.Result{Lead: none(c)}
	alone := 0 // interpreters whose waits would go in part
	for _, k := range contentions(c, timeline.CauseInterpreterLock) {
		total += k.total
		busy := k.busy(c)
		busiest = max(busiest, busy)
		gone := k.behindOthers(c)
		if all := k.without(c); busy >= interpreterFull && diagnosis.Total(spansOf(all)) > diagnosis.Total(spansOf(gone)) {
			gone = all
		}
		if len(gone) > 0 {
			alone++
		}
		if k.total > 0 {
			res.Candidates = append(res.Candidates, interpreterAt(c, k, gone))
		}
	}
	if interpreted(c) {
		res.Hidden = unnamedWaits(c)
	}
	_, share := perMean(c, total)
	if total > 0 {
		res.Lead = "waiting for the interpreter's lock takes " + diagnosis.Percent(share) + " of all request time"
	}
	if total > 0 && alone == 0 {
		res.Lead += ", none of it behind a thread known to serve no request, while it is busy " + diagnosis.Percent(busiest) + " of the time (bound " + diagnosis.Percent(interpreterFull) + ")"
	}
	res.Evidence = []diagnosis.Evidence{diagnosis.Part("of all request time waits for the interpreter's lock", share)}
	return res
}

// interpreterFull is from how busy on an interpreter has more to do for requests than
// it can, so that they queue however evenly they come.
const interpreterFull = diagnosis.Whole * 9 / 10

// busy returns how much of the time the threads of the lock's process ran: nearly all
// they run takes the interpreter.
func (k *contention) busy(c *diagnosis.Case) diagnosis.Share {
	from, to := c.Busy()
	var ran Duration
	for i := range c.Strands {
		if c.Strands[i].Process == k.process(c) {
			ran += c.Running(timeline.StrandID(i), from, to)
		}
	}
	return diagnosis.ShareOf(int64(ran), int64(c.BusyTime()))
}

// behindOthers returns what of the waits behind threads that never work for a request
// would go, of each stay from its beginning. What one that does has to do before and
// after a request belongs to it.
func (k *contention) behindOthers(c *diagnosis.Case) (out []stay) {
	strands := map[timeline.StrandID]bool{}
	for i := range k.did {
		strands[k.did[i].strand] = k.did[i].strand != timeline.None
	}
	by, others := servedBy(c, strands), make([]bool, len(k.did)) // same index as did
	for i := range k.did {
		others[i] = k.did[i].strand != timeline.None && len(by[k.did[i].strand]) == 0
	}
	spared := idleProcessor(c)
	for _, s := range k.stays {
		var behind Duration
		n, _ := slices.BinarySearchFunc(k.did, s.From+1, func(x deed, t diagnosis.Time) int { return cmp.Compare(x.to, t) })
		for ; n < len(k.did) && k.did[n].from < s.To; n++ {
			if d := &k.did[n]; others[n] {
				behind += min(s.To, d.to).Sub(max(s.From, d.from))
			}
		}
		if s.To = s.From + diagnosis.Time(spared.Of(behind)); s.From < s.To {
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

func interpreterAt(c *diagnosis.Case, k *contention, gone []stay) diagnosis.Candidate {
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
	ev := append(k.evidence(c), diagnosis.Part("of that time would go: idle processors can take over as much", diagnosis.ShareOf(int64(diagnosis.Total(spansOf(gone))), int64(k.total))))
	return diagnosis.Candidate{
		Place:    name,
		Title:    "Requests wait " + meanWords(c, k.total) + " for " + name + k.heldBy(c) + doing,
		Fix:      interpreterFix(rt),
		Next:     "dwell show REC --slowest 3 shows the waits of single requests",
		Spans:    append(spansOf(gone), k.queues(c, gone)...),
		Seen:     spansOf(k.stays),
		Evidence: ev,
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
