package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func pageFault() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "page-fault",
		Title: "Requests sleep in page faults",
		Doc: "Supported by the time in which a strand that a request depends on slept outside of any system call and was not preempted: for a page of a file or of swap to come in, " +
			"or for the lock of its address space. Faults that are served without sleeping are CPU time.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Explains: []string{"accept-queue", "load"},
		Test:     testPageFault,
	}
}

func testPageFault(c *diagnosis.Case) diagnosis.Result {
	s, all := spentOn(c, timeline.CausePageFault), storageOf(c)
	ev := append(s.evidence(c, "asleep in page faults"), all.faultEvidence()...)
	res := diagnosis.Result{Evidence: ev, Hidden: blank(c), Lead: s.lead(c, "sleeping in page faults")}
	if s.total == 0 {
		if all.known {
			res.Lead = all.faultWords()
		}
		return res
	}
	res.Candidates = []diagnosis.Candidate{{
		Place: s.place(c),
		Title: "Requests sleep in page faults: " + meanWords(c, s.total) + s.forFile() + s.from(),
		Fix: "have the pages in memory before requests need them: read the mapped file once (MAP_POPULATE, madvise WILLNEED), touch the heap at start " +
			"(-XX:+AlwaysPreTouch), more memory or less swapping (vm.swappiness), mlock",
		Next:     "vmstat 1 (si, so) and the process's majflt (ps -o majflt) during the same load tell swap from files",
		Spans:    s.spans(c),
		Evidence: ev,
	}}
	return res
}
