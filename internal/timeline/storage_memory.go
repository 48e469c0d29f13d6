package timeline

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// RuleMemoryLock is the rule of Waits for the lock of the process's own address space.
const RuleMemoryLock = "memory-lock"

// Mapping is a part of an address space that a thread asked for.
type Mapping struct {
	At      Time
	Strand  StrandID
	Syscall string
	Bytes   int64
	Before  int64 // the largest that the process had mapped of the file until then, or mremap's old size; 0 none
	File    recording.FileID
}

// MemoryWait is a wait for the lock of the process's own address space.
type MemoryWait struct {
	Strand   StrandID
	From, To Time
	Write    bool     // to change the address space
	Owner    StrandID // that changed it when the wait began, or None
}

// BlockIO is what a block device did for anybody in a span.
type BlockIO struct {
	To Time
	recording.BlockIO
}

// MemorySample is a process's address space at a time.
type MemorySample struct {
	At Time
	recording.Memory
}

// memoryFact takes facts about address spaces and devices.
func (f *facts) memoryFact(at Time, fact recording.Fact) bool {
	s := &f.storage
	switch x := fact.(type) {
	case *recording.Mapping:
		f.see(x.Thread, at)
		s.mappings = append(s.mappings, Mapping{At: at, Strand: f.strand(x.Thread), Syscall: x.Syscall, Bytes: x.Bytes, Before: x.Before, File: x.File})
	case *recording.MemoryWait:
		w := MemoryWait{Strand: f.strand(x.Thread), From: x.Since, To: at, Write: x.Write == 1, Owner: None}
		if x.Owner != recording.NoThread {
			f.thread(x.Owner)
			w.Owner = f.strand(x.Owner)
		}
		if w.Strand != None {
			s.waits = append(s.waits, w)
		}
	case *recording.BlockIO:
		s.blocks = append(s.blocks, BlockIO{at, *x})
	case *recording.Memory:
		s.memory = append(s.memory, MemorySample{at, *x})
	default:
		return false
	}
	return true
}

// buildMemory copies them, with the sizes that files had been mapped with before.
func buildMemory(t *Timeline, f *facts) {
	t.Mappings, t.Blocks, t.Memory = f.storage.mappings, f.storage.blocks, f.storage.memory
	t.memoryByStrand = f.storage.waits
	t.MemoryWaits = byTime(f.storage.waits, func(w *MemoryWait) Time { return w.From })
	type mapped struct {
		process recording.ProcessID
		file    recording.FileID
	}
	largest := map[mapped]int64{}
	for i := range t.Mappings {
		m := &t.Mappings[i]
		if m.File == recording.NoFile || m.Strand == None {
			continue
		}
		k := mapped{t.Strands[m.Strand].Process, m.File}
		m.Before = largest[k]
		largest[k] = max(largest[k], m.Bytes)
	}
}

// byStrand sorts the waits for address spaces so that they can be found by thread.
func (s *storageFacts) byStrand() {
	slices.SortStableFunc(s.waits, func(a, b MemoryWait) int {
		return cmp.Or(cmp.Compare(a.Strand, b.Strand), cmp.Compare(a.To, b.To))
	})
}

// forMemory reports whether a thread's sleep was for the lock of its address space.
func (s *storageFacts) forMemory(strand StrandID, from, to Time) bool {
	return s.waits.in(strand, from, to) != nil
}

// MemoryWaitIn returns the first wait of a strand for the lock of its address space that
// overlaps a span; nil if there is none.
func (t *Timeline) MemoryWaitIn(strand StrandID, from, to Time) *MemoryWait {
	return t.memoryByStrand.in(strand, from, to)
}

// memoryWaits are in order of their strands, those of one strand in order of their ends.
type memoryWaits []MemoryWait

// in is MemoryWaitIn.
func (l memoryWaits) in(strand StrandID, from, to Time) *MemoryWait {
	i, _ := slices.BinarySearchFunc(l, from+1, func(w MemoryWait, at Time) int {
		return cmp.Or(cmp.Compare(w.Strand, strand), cmp.Compare(w.To, at))
	})
	if i < len(l) && l[i].Strand == strand && l[i].From < to {
		return &l[i]
	}
	return nil
}
