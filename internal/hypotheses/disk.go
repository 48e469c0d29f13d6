package hypotheses

import (
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func disk() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "disk",
		Title: "Requests wait for a disk",
		Doc: "Supported by the time in which a strand that a request depends on slept without interruption for a block device, or in fsync and the like. " +
			"It says where the time goes; the place in code is known where stacks are recorded, and the file where the wait was in a system call on it. " +
			"What the service read from storage and how long its syncs took is measured whether or not a request waited.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Where:    true,
		Explains: []string{"accept-queue", "load"},
		Test:     testDisk,
	}
}

func testDisk(c *diagnosis.Case) diagnosis.Result {
	s, all := spentOn(c, timeline.CauseDisk), storageOf(c)
	ev := append(s.evidence(c, "waiting for a disk"), all.diskEvidence()...)
	res := diagnosis.Result{Evidence: ev, Hidden: blank(c), Lead: s.lead(c, "waiting for a disk")}
	res.Undecided = waitsAway(c, timeline.CauseDisk, "waited for the disk")
	if s.total == 0 {
		if all.known {
			res.Lead = all.diskWords()
		}
		return res
	}
	res.Candidates = []diagnosis.Candidate{{
		Place: s.place(c),
		Title: "Requests wait for a disk: " + meanWords(c, s.total) + s.forFile() + s.from(),
		Fix: fixFor(s.in, []advice{
			{[]string{"fsync", "fdatasync", "sync_file_range", "sync", "syncfs", "msync"}, "sync fewer times: group several requests' writes into one, or sync outside of the request; a device with a power-safe cache"},
			{[]string{"write", "pwrite64", "writev", "pwritev", "pwritev2"}, "write from another thread through a bounded queue, or raise vm.dirty_background_bytes so that writers are not throttled"},
			{nil, "keep what is read in memory (page cache, a cache in the process), read ahead, or read from another thread"},
		}),
		Next:     "iostat -x 1 and /proc/pressure/io during the same load show whether the device is busy",
		Spans:    s.spans(c),
		Evidence: ev,
	}}
	return res
}
