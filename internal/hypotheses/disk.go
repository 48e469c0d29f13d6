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
		Doc: "They depend on a block device or on a sync.\n\n" +
			"Support: the time in which a strand that a request depends on slept without interruption for a block device, or was in fsync and the like. Within a sync all its time counts: asleep, on a CPU in the kernel, or waiting for one. The " +
			"place in code is known if stacks are recorded, and the file if the wait was in a system call on it. What the service read from storage, and how long its syncs took, is measured whether or not a request waited.\n\n" +
			"It says where the time goes, not why.\n\n" +
			"Saving: that time is taken out of each request.",
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
	syncs := []string{"fsync", "fdatasync", "sync_file_range", "sync", "syncfs", "msync"}
	res.Candidates = []diagnosis.Candidate{{
		Place: s.place(c),
		Title: "Requests wait for a disk: " + meanWords(c, spansOf(s.stays)) + s.forFile() + s.from(),
		Fix: fixFor(s.in, []advice{
			{syncs, "sync less often: group the writes of several requests into one sync, or sync outside of the request; or use a device with a power-safe cache"},
			{[]string{"write", "pwrite64", "writev", "pwritev", "pwritev2"}, "write from another thread through a bounded queue, or raise vm.dirty_background_bytes so that writers are not throttled"},
			{nil, "keep the data in memory (page cache, a cache in the process), read ahead, or read from another thread"},
		}),
		Next: fixFor(s.in, []advice{
			{syncs, "see whether each request has to sync for itself: one sync can serve all requests that arrive meanwhile; iostat -x 1 under the same load shows whether the device is busy"},
			{nil, "iostat -x 1 and /proc/pressure/io under the same load show whether the device is busy"},
		}),
		Spans:    s.spans(c),
		Evidence: ev,
	}}
	return res
}

// spentOnDisks is what requests spent within syncs, and asleep for disks outside of them.
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
			return y.Syscall, c.Files[y.File].Named(), true
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
		diagnosis.Part("of the syncs' time is sleep; the rest is the kernel's work and waiting for a processor", diagnosis.ShareOf(int64(y.asleep), int64(y.total))),
	}
}

// syncing is the part of requests' time within syncs.
type syncing struct {
	stays  []stay // the pieces of their time within a sync, whatever its thread did meanwhile
	syncs  int    // syncs that they depended on
	total  Duration
	asleep Duration // of total
}

// syncingOf returns the syncing of a case; its callers share it.
func syncingOf(c *diagnosis.Case) *syncing {
	return c.Once("syncs of requests", func() any {
		y := &syncing{}
		if len(c.Syncs) == 0 {
			return y
		}
		seen := map[timeline.SyncID]bool{}
		for _, id := range c.Measured() {
			for s := c.Requests[id].Segments(); s.Next(); {
				y.within(c, id, &s.Segment, seen)
			}
		}
		y.syncs = len(seen)
		return y
	}).(*syncing)
}

// within adds the part of a segment that is within syncs of its strand: there the strand computes, waits for a
// processor or sleeps. In a phase that is not the request's own it may do so for another request.
func (y *syncing) within(c *diagnosis.Case, id diagnosis.RequestID, s *timeline.Segment, seen map[timeline.SyncID]bool) {
	if s.Strand == timeline.None || s.Cause != timeline.CauseDisk && !ofOwnWork(s) {
		return
	}
	list := c.SyncsOf[s.Strand]
	i, _ := slices.BinarySearchFunc(list, s.From+1, func(k timeline.SyncID, t diagnosis.Time) int { return cmp.Compare(c.Syncs[k].To, t) })
	for ; i < len(list) && c.Syncs[list[i]].From < s.To; i++ {
		sync := &c.Syncs[list[i]]
		piece := *s
		piece.From, piece.To = max(s.From, sync.From), min(s.To, sync.To)
		from := len(y.stays)
		staysIn(c, &piece, id, func(s stay) { y.stays = append(y.stays, s) })
		for k := range y.stays[from:] {
			w := &y.stays[from+k]
			if w.wait == timeline.None {
				w.wait = sleepIn(c, s.Strand, sync)
			}
		}
		if y.total += piece.To.Sub(piece.From); s.Cause == timeline.CauseDisk {
			y.asleep += piece.To.Sub(piece.From)
		}
		seen[list[i]] = true
	}
}

// ofOwnWork reports whether a request's own work goes on in a segment, or could.
func ofOwnWork(s *timeline.Segment) bool {
	switch s.Cause {
	case timeline.CauseOnCPU, timeline.CauseRunnable, timeline.CausePageFault, timeline.CauseUnknown:
		return s.Phase != timeline.PhaseUnread && s.Phase != timeline.PhasePickUp
	}
	return false
}

// sleepIn returns the first sleep for a disk within a sync of a strand, which shows where in the code the sync was
// called; None if it did not sleep.
func sleepIn(c *diagnosis.Case, strand timeline.StrandID, y *timeline.Sync) timeline.WaitID {
	waits := c.Sleeps(strand)
	i, _ := slices.BinarySearchFunc(waits, y.From+1, func(w timeline.WaitID, t diagnosis.Time) int { return cmp.Compare(c.Waits[w].Back, t) })
	for ; i < len(waits) && c.Waits[waits[i]].From < y.To; i++ {
		if c.Waits[waits[i]].Cause == timeline.CauseDisk {
			return waits[i]
		}
	}
	return timeline.None
}

// syncAt returns the sync of a strand at a time; nil if there is none.
func syncAt(c *diagnosis.Case, strand timeline.StrandID, at diagnosis.Time) *timeline.Sync {
	list := c.SyncsOf[strand]
	i, _ := slices.BinarySearchFunc(list, at+1, func(k timeline.SyncID, t diagnosis.Time) int { return cmp.Compare(c.Syncs[k].To, t) })
	if i < len(list) && c.Syncs[list[i]].From <= at {
		return &c.Syncs[list[i]]
	}
	return nil
}
