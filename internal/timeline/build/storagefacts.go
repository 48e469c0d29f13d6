package build

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// storageFacts are the facts about storage that are no thread's own.
type storageFacts struct {
	files    map[recording.FileID]*timeline.File
	mappings []timeline.Mapping
	waits    timeline.MemoryWaitsByStrand // in their order once byStrand was called
	blocks   []timeline.BlockIO
	memory   []timeline.MemorySample
}

// storageFact takes them.
func (f *facts) storageFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.File:
		if f.storage.files == nil {
			f.storage.files = map[recording.FileID]*timeline.File{}
		}
		if was := f.storage.files[x.ID]; was != nil {
			was.Size = max(was.Size, x.Size)
		} else {
			f.storage.files[x.ID] = &timeline.File{Name: x.Name, First: x.Size, Size: x.Size}
		}
	default:
		return f.memoryFact(at, fact)
	}
	return true
}

// buildStorage lists the files, the syncs, and where goroutines slept.
func buildStorage(t *timeline.Timeline, f *facts) {
	t.Files = f.storage.files
	buildMemory(t, f)
	for i := range f.threads {
		t.Syncs = appendSyncs(t.Syncs, timeline.StrandID(i), f.threads[i].steps)
	}
	t.Syncs = lists.ByTime(t.Syncs, func(s *timeline.Sync) recording.Time { return s.From })
	goroutines := indexGoroutines(t)
	if len(goroutines) == 0 {
		return
	}
	of := map[timeline.StrandID][]timeline.WaitID{}
	for i := range t.Waits {
		w := &t.Waits[i]
		if w.Off == nil || w.Off.Goroutine == recording.NoGoroutine || w.Cause != timeline.CauseDisk && w.Cause != timeline.CausePageFault && w.Cause != timeline.CauseIPC {
			continue
		}
		if s := goroutines.of(timeline.GoroutineKey{Process: t.Strands[w.Strand].Process, Goroutine: w.Off.Goroutine}); s != timeline.None {
			of[s] = append(of[s], timeline.WaitID(i))
		}
	}
	t.AddSleeps(of)
}

// syncCall reports system calls that wait until data is on a device.
func syncCall(name string) bool {
	switch name {
	case "fsync", "fdatasync", "msync", "sync_file_range", "sync", "syncfs":
		return true
	}
	return false
}

// appendSyncs finds the syncs of a thread. One sync may sleep several times: those sleeps
// are of one call between which nothing was read or written. A call that never sleeps is
// not seen.
func appendSyncs(list []timeline.Sync, s timeline.StrandID, steps []step) []timeline.Sync {
	var last *timeline.Off
	for i := range steps {
		off := steps[i].off
		if off == nil {
			continue
		}
		if !syncCall(off.Syscall) {
			if off.State != recording.OffPreempted || off.In+off.Out > 0 {
				last = nil
			}
			continue
		}
		if last != nil && off.Syscall == last.Syscall && off.Arg == last.Arg && off.In+off.Out == 0 {
			y := &list[len(list)-1]
			y.To, y.File = steps[i].at, max(y.File, off.File) // one that was preempted names none
		} else {
			list = append(list, timeline.Sync{Strand: s, Goroutine: off.Goroutine, File: off.File, From: off.Since, To: steps[i].at})
		}
		last = off
	}
	return list
}

// memoryFact takes facts about address spaces and devices.
func (f *facts) memoryFact(at recording.Time, fact recording.Fact) bool {
	s := &f.storage
	switch x := fact.(type) {
	case *recording.Mapping:
		f.see(x.Thread, at)
		s.mappings = append(s.mappings, timeline.Mapping{At: at, Strand: f.strand(x.Thread), Syscall: x.Syscall, Bytes: x.Bytes, Before: x.Before, File: x.File})
	case *recording.MemoryWait:
		w := timeline.MemoryWait{Strand: f.strand(x.Thread), From: x.Since, To: at, Write: x.Write == 1, Owner: timeline.None}
		if x.Owner != recording.NoThread {
			f.thread(x.Owner)
			w.Owner = f.strand(x.Owner)
		}
		if w.Strand != timeline.None {
			s.waits = append(s.waits, w)
		}
	case *recording.BlockIO:
		s.blocks = append(s.blocks, timeline.BlockIO{To: at, BlockIO: *x})
	case *recording.Memory:
		s.memory = append(s.memory, timeline.MemorySample{At: at, Memory: *x})
	default:
		return false
	}
	return true
}

// buildMemory copies them, with the sizes that files had been mapped with before.
func buildMemory(t *timeline.Timeline, f *facts) {
	t.Mappings, t.Blocks, t.Memory = f.storage.mappings, f.storage.blocks, f.storage.memory
	t.SetMemoryWaits(f.storage.waits)
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

// byStrand sorts the waits for address spaces so that they can be found by thread.
func (s *storageFacts) byStrand() {
	slices.SortStableFunc(s.waits, func(a, b timeline.MemoryWait) int {
		return cmp.Or(cmp.Compare(a.Strand, b.Strand), cmp.Compare(a.To, b.To))
	})
}

// forMemory reports whether a thread's sleep was for the lock of its address space.
func (s *storageFacts) forMemory(strand timeline.StrandID, from, to recording.Time) bool {
	return s.waits.In(strand, from, to) != nil
}
