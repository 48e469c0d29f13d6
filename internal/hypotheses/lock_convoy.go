package hypotheses

import (
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

func lockConvoy() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "lock-convoy",
		Title: "Requests queue for a lock",
		Doc: "Supported by the time in which a strand that a request depends on waits for a lock. Who held it is known from the chain of those who released it, or from the lock itself; " +
			"what the holder did meanwhile is read from its own states, and through the holder of another lock where it waited for that, or through what its request waited for where another strand works for it. Taken out of each request: its waits for the lock. " +
			"Behind holders that compute the lock is a server with a queue: those who came for it are replayed with half of its largest piece of work, and with one more lock, each for a part of the data, " +
			"as far as idle processors go, and what requests wait less with the one that saves more is taken out; where the replay does not reproduce the recording, the part of each wait that idle processors could take over. " +
			"Where the holder waits for something itself, refresh-under-lock or entropy-wait say why. Waits without a stack may be waits for a lock: they leave it undecided.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"pool-exhausted", "accept-queue", "load"},
		Family:   familyLocks,
		Test:     testLockConvoy,
	}
}

func testLockConvoy(c *diagnosis.Case) diagnosis.Result {
	var total Duration
	var res diagnosis.Result
	for _, k := range contentions(c, timeline.CauseLock) {
		total += k.total
	}
	for _, k := range convoys(c) {
		if k.total > 0 {
			res.Candidates = append(res.Candidates, convoyAt(c, k))
		}
	}
	res.Hidden, res.Lead, res.Evidence = hiddenLocks(c), lockLead(c, total), lockEvidence(c, total)
	return res
}

func convoyAt(c *diagnosis.Case, k *contention) diagnosis.Candidate {
	gone := k.without(c)
	doing := ""
	if at := k.computing(c); at != "" && k.mostly(deedCPU) {
		doing = " while computing in " + at
	} else if k.mostly(deedCPU) {
		doing = " while computing"
	} else if k.mostly(deedIO) {
		doing = " while waiting for " + k.behind(c)
	} else if at := k.calledFrom(c, deedAsleep); at != "" && k.mostly(deedAsleep) {
		doing = " while asleep, it is not known what for; it lets go in " + at
	}
	held := k.heldBy(c) + doing
	if 2*k.known() < k.total {
		held = "; what its holder does is known for " + diagnosis.Percent(diagnosis.ShareOf(int64(k.known()), int64(k.total))) + " of that time only"
	}
	st := stationAt(c, kindLock, func(s *station) bool { return s.lock == k.lock })
	ev := k.evidence(c)
	if m := st.mend(c); m != nil && k.mostly(deedCPU) && k.through == "" {
		gone = m.gone
		held += "; " + m.busyWith(c) + ", as far as others wait"
	} else {
		ev = append(ev, diagnosis.Part("of a wait behind a computing holder would go: idle processors can take over as much", k.spared(c)))
	}
	_, share := perMean(c, k.total)
	return diagnosis.Candidate{
		Place:    k.place(c),
		Title:    "Requests wait " + meanWords(c, spansOf(k.stays)) + " for " + k.named(c) + k.taken(c) + held,
		Fix:      k.fix(c),
		Next:     "dwell threads REC shows who waits for whom at any time",
		Lead:     "waiting for " + k.named(c) + " takes " + diagnosis.Percent(share) + " of all request time",
		Spans:    append(spansOf(gone), k.queues(c, gone)...),
		Seen:     spansOf(k.stays),
		Evidence: append(ev, st.evidence(c)...),
		WhatIf:   st.whatIfs(c),
	}
}

func (k *contention) fix(c *diagnosis.Case) string {
	if k.shared(c) {
		return "do what all wait for ahead of time, beside the requests, or make it cheaper"
	}
	if startsThreads(c, k.stays) {
		return "start threads once, in one executor for the life of the process, and not for each request or task"
	}
	return convoyFix(runtimeOf(c, k.process(c)))
}

// startsThreads reports that requests of a JVM wait for a lock of the runtime, most of that time, as they start threads.
func startsThreads(c *diagnosis.Case, waits []stay) bool {
	var all, starts Duration
	for i := range waits {
		w := &waits[i]
		if all += w.To.Sub(w.From); w.wait == timeline.None {
			continue
		}
		if slices.ContainsFunc(c.StackFrames(c.Waits[w.wait].Stack), func(f recording.Frame) bool { return symbol.Name(f) == "Thread.start0" }) {
			starts += w.To.Sub(w.From)
		}
	}
	return starts > 0 && 2*starts >= all
}

// process is the one whose lock it is; of one that processes share, that of one who waits.
func (k *contention) process(c *diagnosis.Case) recording.ProcessID {
	if k.lock == timeline.None {
		return recording.NoProcess
	}
	if p := c.Locks[k.lock].Process; p != recording.NoProcess || k.waiter() == timeline.None {
		return p
	}
	return c.Strands[k.waiter()].Process
}

func lockLead(c *diagnosis.Case, total Duration) string {
	if total == 0 {
		return none(c)
	}
	_, share := perMean(c, total)
	return "waiting for locks takes " + diagnosis.Percent(share) + " of all request time"
}

func lockEvidence(c *diagnosis.Case, total Duration) []diagnosis.Evidence {
	_, share := perMean(c, total)
	return []diagnosis.Evidence{
		diagnosis.Part("of all request time waits for locks", share),
		diagnosis.Count("locks known", len(c.Locks)),
	}
}

// unnamedWaits returns the time of requests that may be waits for a lock: of unknown
// cause, or in a futex without a stack that tells what for.
func unnamedWaits(c *diagnosis.Case) []diagnosis.Span {
	out := c.Gaps()
	for _, s := range stays(c, timeline.CauseCondition, whole) {
		if s.wait == timeline.None || c.Waits[s.wait].Stack == timeline.None {
			out = append(out, s.Span)
		}
	}
	return out
}

func convoyFix(rt recording.Runtime) string {
	switch rt {
	case recording.RuntimeJVM:
		return "do less while holding it, or hold it for a part of the data: ConcurrentHashMap, LongAdder, a StampedLock, a lock per key; or switch off what takes it"
	case recording.RuntimeGo:
		return "do less while holding it, or hold it for a part of the data: shards with a mutex each, sync.Map, atomic values, sync.RWMutex where most only read"
	case recording.RuntimePython:
		return "do less while holding it: compute before, store after; a lock per key; or a queue to the one thread that writes"
	}
	return "do less while holding it, or hold it for a part of the data only: a lock per key or shard, or none (atomic values, copies)"
}
