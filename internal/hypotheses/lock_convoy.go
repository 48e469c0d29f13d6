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
		Doc: "One thread has it, and the others wait in line.\n\n" +
			"Support: the time in which a strand that a request depends on waits for a lock. The holder is known from the chain of threads that released it, or from the lock itself. What the holder did meanwhile is read from its own states. If " +
			"it waited for another lock, it is read from that lock's holder. If another strand works for the holder's request, it is read from what that request waited for.\n\n" +
			"Not this: if the holder itself waits for something, refresh-under-lock or entropy-wait say why. Waits without a stack may be waits for a lock: they leave it undecided.\n\n" +
			"Saving: a request's waits for the lock are taken out. Behind holders that compute, the lock is a server with a queue. Those who came for it are replayed with half of its largest piece of work, and with one more lock, each for a " +
			"part of the data, as far as idle processors go. What requests wait less with the better of the two is taken out. If the replay does not reproduce the recording, it is the part of each wait that idle processors could take over.",
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
		doing = " while asleep for an unknown reason; it releases the lock in " + at
	}
	held := k.heldBy(c) + doing
	if 2*k.known() < k.total {
		held = "; what its holder does is known for only " + diagnosis.Percent(diagnosis.ShareOf(int64(k.known()), int64(k.total))) + " of that time"
	}
	st := stationAt(c, kindLock, func(s *station) bool { return s.lock == k.lock })
	ev := k.evidence(c)
	if m := st.mend(c); m != nil && k.mostly(deedCPU) && k.through == "" {
		gone = m.gone
		held += "; " + m.busyWith(c) + " (seen while others wait)"
	} else {
		ev = append(ev, diagnosis.Part("of a wait behind a computing holder would go, because idle processors can take over the work", k.spared(c)))
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
		return "do what all requests wait for ahead of time, in the background, or make it cheaper"
	}
	if startsThreads(c, k.stays) {
		return "start threads once, in one executor for the life of the process, not for each request or task"
	}
	return convoyFix(runtimeOf(c, k.process(c)))
}

// startsThreads reports whether requests of a JVM wait for a lock of the runtime, most of that time, because they start
// threads.
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

// process returns the process whose lock it is; for a lock that processes share, the process of a strand that waits.
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
		diagnosis.Part("of all request time is spent waiting for locks", share),
		diagnosis.Count("locks known", len(c.Locks)),
	}
}

// unnamedWaits returns the time of requests that may be waits for a lock: of unknown cause, or in a futex without a
// stack that shows what for.
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
		return "do less while holding the lock, or let it guard less data: ConcurrentHashMap, LongAdder, a StampedLock, a lock per key; or switch off the code that takes it"
	case recording.RuntimeGo:
		return "do less while holding the lock, or let it guard less data: shards with a mutex each, sync.Map, atomic values, sync.RWMutex if most only read"
	case recording.RuntimePython:
		return "do less while holding the lock: compute before, store after; use a lock per key, or a queue to the one thread that writes"
	}
	return "do less while holding the lock, or let it guard less data: a lock per key or shard, or no lock (atomic values, copies)"
}
