package timeline

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Mapping is a part of an address space that a thread asked for.
type Mapping struct {
	At      Time
	Strand  StrandID
	Syscall string
	Bytes   int64
	Before  int64 // the largest size of the file that the process had mapped before, or mremap's old size; 0 none
	File    recording.FileID
}

// MemoryWait is a wait for the lock of the process's own address space.
type MemoryWait struct {
	Strand   StrandID
	From, To Time
	Write    bool     // to change the address space
	Owner    StrandID // the strand that was changing it when the wait began, or None
}

// BlockIO is what a block device did in a span, for any process.
type BlockIO struct {
	To Time
	recording.BlockIO
}

// MemorySample is a process's address space at a time.
type MemorySample struct {
	At Time
	recording.Memory
}

// MemoryWaitIn returns the first wait of a strand for the lock of its address space that
// overlaps a span; nil if there is none.
func (t *Timeline) MemoryWaitIn(strand StrandID, from, to Time) *MemoryWait {
	return t.memoryByStrand.In(strand, from, to)
}

// SetMemoryWaits sets the waits for address spaces, in order of their strands.
func (t *Timeline) SetMemoryWaits(of MemoryWaitsByStrand) {
	t.memoryByStrand = of
	t.MemoryWaits = lists.ByTime(of, func(w *MemoryWait) Time { return w.From })
}

// MemoryWaitsByStrand is ordered by strand, and for each strand by end.
type MemoryWaitsByStrand []MemoryWait

// In implements MemoryWaitIn.
func (l MemoryWaitsByStrand) In(strand StrandID, from, to Time) *MemoryWait {
	i, _ := slices.BinarySearchFunc(l, from+1, func(w MemoryWait, at Time) int {
		return cmp.Or(cmp.Compare(w.Strand, strand), cmp.Compare(w.To, at))
	})
	if i < len(l) && l[i].Strand == strand && l[i].From < to {
		return &l[i]
	}
	return nil
}
