package build

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// buildStorage lists the files, the syncs, and the sleeps of threads that delayed goroutines.
func buildStorage(t *timeline.Timeline, f *facts.Facts) {
	t.Files = f.Storage.Files
	buildMemory(t, f)
	goroutines := facts.IndexGoroutines(t)
	t.Syncs = syncs(f)
	t.SyncsOf = syncsByStrand(t, goroutines.Of)
	if len(goroutines) == 0 {
		return
	}
	of := map[timeline.StrandID][]timeline.WaitID{}
	for i := range t.Waits {
		w := &t.Waits[i]
		if w.Off == nil || w.Off.Goroutine == recording.NoGoroutine || w.Cause != timeline.CauseDisk && w.Cause != timeline.CausePageFault && w.Cause != timeline.CauseIPC {
			continue
		}
		if s := goroutines.Of(timeline.GoroutineKey{Process: t.Strands[w.Strand].Process, Goroutine: w.Off.Goroutine}); s != timeline.None {
			of[s] = append(of[s], timeline.WaitID(i))
		}
	}
	t.AddSleeps(of)
}

// syncsByStrand lists the syncs by thread and by goroutine. The function goroutine finds the strand of a goroutine, or
// None.
func syncsByStrand(t *timeline.Timeline, goroutine func(timeline.GoroutineKey) timeline.StrandID) map[timeline.StrandID][]timeline.SyncID {
	of := map[timeline.StrandID][]timeline.SyncID{}
	for i := range t.Syncs {
		y := &t.Syncs[i]
		of[y.Strand] = append(of[y.Strand], timeline.SyncID(i))
		if y.Goroutine == recording.NoGoroutine {
			continue
		}
		if s := goroutine(timeline.GoroutineKey{Process: t.Strands[y.Strand].Process, Goroutine: y.Goroutine}); s != timeline.None {
			of[s] = append(of[s], timeline.SyncID(i))
		}
	}
	return of
}

// syncs returns the recorded syncs, and those that are known only by their sleeps.
func syncs(f *facts.Facts) []timeline.Sync {
	of := make([][]timeline.Sync, len(f.Threads))
	for _, y := range f.Storage.Syncs {
		of[y.Strand] = append(of[y.Strand], y)
	}
	var all []timeline.Sync
	for i, whole := range of {
		all = append(all, whole...)
		for _, y := range appendSyncs(nil, timeline.StrandID(i), f.Threads[i].Steps) {
			k := sort.Search(len(whole), func(k int) bool { return whole[k].To > y.From })
			if k == len(whole) || whole[k].From >= y.To {
				all = append(all, y)
			}
		}
	}
	return lists.ByTime(all, func(s *timeline.Sync) recording.Time { return s.From })
}

// appendSyncs finds the syncs of a thread by their sleeps. One sync may sleep several times: consecutive sleeps belong
// to one call if nothing was read or written between them. A call that never sleeps is not seen.
func appendSyncs(list []timeline.Sync, s timeline.StrandID, steps []facts.Step) []timeline.Sync {
	var last *timeline.Off
	for i := range steps {
		off := steps[i].Off
		if off == nil {
			continue
		}
		if !slices.Contains(timeline.SyncCalls, off.Syscall) {
			if off.State != recording.OffPreempted || off.In+off.Out > 0 {
				last = nil
			}
			continue
		}
		if last != nil && off.Syscall == last.Syscall && off.Arg == last.Arg && off.In+off.Out == 0 {
			y := &list[len(list)-1]
			y.To, y.File = steps[i].At, max(y.File, off.File) // a preempted one names no file
		} else {
			list = append(list, timeline.Sync{Strand: s, Goroutine: off.Goroutine, Syscall: off.Syscall, File: off.File, From: off.Since, To: steps[i].At})
		}
		last = off
	}
	return list
}

// buildMemory copies the facts about memory, and adds the largest earlier size of each mapped file.
func buildMemory(t *timeline.Timeline, f *facts.Facts) {
	t.Mappings, t.Blocks, t.Memory = f.Storage.Mappings, f.Storage.Blocks, f.Storage.Memory
	t.SetMemoryWaits(f.Storage.Waits)
	type mapped struct {
		process recording.ProcessID
		file    recording.FileID
	}
	largest := map[mapped]int64{}
	for i := range t.Mappings {
		m := &t.Mappings[i]
		if m.File == recording.NoFile || m.Strand == timeline.None {
			continue
		}
		k := mapped{t.Strands[m.Strand].Process, m.File}
		m.Before = largest[k]
		largest[k] = max(largest[k], m.Bytes)
	}
}

// addParkStrands adds a Strand for each goroutine that waited for another one, or let one continue, and lists the
// pauses.
func addParkStrands(t *timeline.Timeline, f *facts.Facts) {
	if len(f.Parks.Parks)+len(f.Parks.Unparks) > 0 {
		index := facts.IndexGoroutines(t)
		for _, p := range f.Parks.Parks {
			index.Add(t, f.GoKeyOf(p.Left, p.Goroutine))
		}
		for _, u := range f.Parks.Unparks {
			index.Add(t, f.GoKeyOf(u.Thread, u.Goroutine))
			index.Add(t, f.GoKeyOf(u.Thread, u.Woken))
		}
	}
	for _, p := range f.Parks.Pauses {
		if k := f.GoKeyOf(p.Thread, 0); p.Since < p.At {
			t.Pauses = append(t.Pauses, timeline.Pause{Process: k.Process, From: p.Since, To: p.At})
		}
	}
}
