package facts

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// storageFacts are the facts about storage that belong to no thread's state.
type storageFacts struct {
	Files    map[recording.FileID]*timeline.File
	Mappings []timeline.Mapping
	Waits    timeline.MemoryWaitsByStrand // sorted once ByStrand was called
	Syncs    []timeline.Sync
	Blocks   []timeline.BlockIO
	Memory   []timeline.MemorySample
}

// storageFact takes facts about files, and passes on the rest.
func (f *Facts) storageFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.File:
		if f.Storage.Files == nil {
			f.Storage.Files = map[recording.FileID]*timeline.File{}
		}
		if was := f.Storage.Files[x.ID]; was != nil {
			was.Size = max(was.Size, x.Size)
		} else {
			f.Storage.Files[x.ID] = &timeline.File{Name: x.Name, First: x.Size, Size: x.Size}
		}
	default:
		return f.memoryFact(at, fact)
	}
	return true
}

// memoryFact takes facts about address spaces and devices.
func (f *Facts) memoryFact(at recording.Time, fact recording.Fact) bool {
	s := &f.Storage
	switch x := fact.(type) {
	case *recording.Mapping:
		f.see(x.Thread, at)
		s.Mappings = append(s.Mappings, timeline.Mapping{At: at, Strand: f.Strand(x.Thread), Syscall: x.Syscall, Bytes: x.Bytes, Before: x.Before, File: x.File})
	case *recording.MemoryWait:
		w := timeline.MemoryWait{Strand: f.Strand(x.Thread), From: x.Since, To: at, Write: x.Write == 1, Owner: timeline.None}
		if x.Owner != recording.NoThread {
			f.thread(x.Owner)
			w.Owner = f.Strand(x.Owner)
		}
		if w.Strand != timeline.None {
			s.Waits = append(s.Waits, w)
		}
	case *recording.Sync:
		f.see(x.Thread, at)
		if strand := f.Strand(x.Thread); strand != timeline.None {
			s.Syncs = append(s.Syncs, timeline.Sync{Strand: strand, Goroutine: x.Goroutine, Syscall: x.Syscall, File: x.File, From: x.Since, To: at})
		}
	case *recording.BlockIO:
		s.Blocks = append(s.Blocks, timeline.BlockIO{To: at, BlockIO: *x})
	case *recording.Memory:
		s.Memory = append(s.Memory, timeline.MemorySample{At: at, Memory: *x})
	default:
		return false
	}
	return true
}

// ByStrand sorts the waits for address spaces so that they can be found by thread.
func (s *storageFacts) ByStrand() {
	slices.SortStableFunc(s.Waits, func(a, b timeline.MemoryWait) int {
		return cmp.Or(cmp.Compare(a.Strand, b.Strand), cmp.Compare(a.To, b.To))
	})
}

// ForMemory reports whether a thread's sleep was for the lock of its address space.
func (s *storageFacts) ForMemory(strand timeline.StrandID, from, to recording.Time) bool {
	return s.Waits.In(strand, from, to) != nil
}
