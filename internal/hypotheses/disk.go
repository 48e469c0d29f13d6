package hypotheses

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func disk() diagnosis.Hypothesis {
	return diagnosis.Hypothesis{
		ID:    "disk",
		Title: "Requests wait for a disk",
		Doc: "Supported by the time in which a strand that a request depends on slept without interruption for a block device, or was in fsync and the like: asleep, on a CPU in the kernel, or waiting for one meanwhile. " +
			"It says where the time goes; the place in code is known where stacks are recorded, and the file where the wait was in a system call on it. " +
			"What the service read from storage and how long its syncs took is measured whether or not a request waited.",
		Needs:    []string{recording.HookSched, recording.HookIO},
		Where:    true,
		Explains: []string{"accept-queue", "load"},
		Test:     testDisk,
	}
}

func testDisk(c *diagnosis.Case) diagnosis.Result {
	s, all := spentOnDisks(c), storageOf(c)
	ev := slices.Concat(s.evidence(c, "waiting for a disk"), syncingOf(c).evidence(), all.diskEvidence())
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
		Title: "Requests wait for a disk: " + meanWords(c, spansOf(s.stays)) + s.forFile() + s.from(),
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

// spentOnDisks is what requests spent within syncs, and asleep for disks besides.
func spentOnDisks(c *diagnosis.Case) spent {
	list := slices.Clone(syncingOf(c).stays)
	for _, w := range stays(c, timeline.CauseDisk, whole) {
		if syncAt(c, w.strand, w.From) == nil {
			list = append(list, w)
		}
	}
	slices.SortStableFunc(list, func(a, b stay) int {
		return cmp.Or(cmp.Compare(a.Request, b.Request), cmp.Compare(a.From, b.From))
	})
	return spentBy(c, timeline.CauseDisk, list, func(w *stay) (call, file string, known bool) {
		if y := syncAt(c, w.strand, w.From); y != nil {
			return y.Syscall, c.NameOf(y.File), true
		}
		return callOf(c, w)
	})
}

// evidence says how many syncs requests depended on, and how much of those was sleep.
func (y *syncing) evidence() []diagnosis.Evidence {
	if y.syncs == 0 {
		return nil
	}
	return []diagnosis.Evidence{
		diagnosis.Count("syncs that requests wait for", y.syncs),
		diagnosis.Part("of those is sleep; the rest is the kernel's work within them, and waiting for a processor", diagnosis.ShareOf(int64(y.asleep), int64(y.total))),
	}
}
