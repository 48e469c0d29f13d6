package hypotheses

import (
	"cmp"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func pageFault() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "page-fault",
		Title: "Requests sleep in page faults",
		Doc: "A page is not in memory, or the address space is locked.\n\n" +
			"Support: the time in which a strand that a request depends on slept outside of any system call and was not preempted. It waited for a page of a file or of swap, or for the lock of its address space, wherever it needed that. Waits " +
			"for a lock, or for the interpreter's lock, count too if the holder sleeps so. If it does for at least half of the time for which its activity is known, the whole queue at that lock is a consequence; otherwise only that part of the " +
			"waits is.\n\n" +
			"Not this: faults that are served without sleeping, which are CPU time. Faults, large mappings and waits for the lock of the address space are counted whether or not a request waited.\n\n" +
			"Saving: all of that is taken out of each request.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"interpreter-lock", "lock-convoy", "accept-queue", "load"},
		Family:   familyInterpreters,
		Test:     testPageFault,
	}
}

func testPageFault(c *diagnosis.Case) diagnosis.Result {
	s, all := spentOn(c, timeline.CausePageFault), storageOf(c)
	ev := append(s.evidence(c, "sleeping in page faults"), all.faultEvidence()...)
	res := diagnosis.Result{Evidence: ev, Hidden: blank(c), Lead: s.lead(c, "sleeping in page faults")}
	res.Undecided = waitsAway(c, timeline.CausePageFault, "slept in page faults")
	queued, queues := behindFaults(c, s.total > 0)
	if s.total == 0 && len(queued) == 0 {
		if all.known {
			res.Lead = all.faultWords()
		}
		return res
	}
	title := "Requests sleep in page faults: "
	fix := "have the pages in memory before requests need them: read the mapped file once at start (MAP_POPULATE, madvise WILLNEED)" + touchFix(c, s.stays) +
		", or mlock them; if the host swaps, give it more memory or lower vm.swappiness"
	behind, owner := behindMemoryLock(c, &s)
	if all.growth.known {
		ev = append(ev, diagnosis.Part("of it is spent waiting for the lock of the address space", behind))
	}
	if behind >= diagnosis.Whole/2 {
		title = "Requests wait for the lock of their process's address space: "
		fix = "map a growing file once, as large as it will become, instead of mapping it again as it grows; " +
			"return memory to the system less often (malloc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD)"
		if owner != "" {
			title = "Requests wait while " + owner + " changes the address space: "
		}
	}
	res.Candidates = []diagnosis.Candidate{{
		Place:    cmp.Or(s.place(c), "page faults"),
		Title:    title + meanWords(c, spansOf(s.stays)) + s.forFile() + s.from() + queues,
		Fix:      fix,
		Next:     "under the same load, vmstat 1 (si, so) shows swapping, and ps -o majflt the process's page faults that read from storage",
		Spans:    append(s.spans(c), queued...),
		Evidence: ev,
	}}
	return res
}

// touchFix adds the advice for the heap of a runtime that can have it in memory from the start.
func touchFix(c *diagnosis.Case, waits []stay) string {
	if len(waits) > 0 && runtimeOf(c, c.Requests[waits[0].Request].Process) == recording.RuntimeJVM {
		return ", touch the heap at start (-XX:+AlwaysPreTouch)"
	}
	return ""
}

// behindFaults returns what requests would wait less for locks and interpreters whose holders sleep in page faults
// while they have them, and names the one with most of that. Locks are looked at only if requests sleep so themselves.
func behindFaults(c *diagnosis.Case, locks bool) (out []diagnosis.Span, words string) {
	var most Duration
	causes := []timeline.Cause{timeline.CauseInterpreterLock}
	if locks {
		causes = append(causes, timeline.CauseLock)
	}
	for _, cause := range causes {
		for _, k := range contentions(c, cause) {
			if k.by[deedFault] == 0 {
				continue
			}
			gone := k.spareOf(c, deedFault)
			out = append(append(out, spansOf(gone)...), k.queues(c, gone)...)
			if waited := diagnosis.Total(spansOf(gone)); waited > most {
				lock := "the interpreter's lock"
				if cause == timeline.CauseLock {
					lock = k.named(c)
				}
				most, words = waited, "; the thread that faults holds "+lock+", and other requests wait "+meanWords(c, spansOf(gone))+" for it"
			}
		}
	}
	return out, words
}
