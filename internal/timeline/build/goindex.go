package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// goKeyOf names a goroutine that was seen on a thread.
func (f *facts) goKeyOf(th recording.ThreadID, g recording.GoroutineID) timeline.GoroutineKey {
	if x := f.thread(th); x != nil {
		return timeline.GoroutineKey{Process: x.process, Goroutine: g}
	}
	return timeline.GoroutineKey{Process: recording.NoProcess, Goroutine: g}
}

// goIndex finds the strands of goroutines.
type goIndex map[timeline.GoroutineKey]timeline.StrandID

func indexGoroutines(t *timeline.Timeline) goIndex {
	index := goIndex{}
	for i := range t.Strands {
		if g := t.Strands[i].Goroutine; g != recording.NoGoroutine {
			index[timeline.GoroutineKey{Process: t.Strands[i].Process, Goroutine: g}] = timeline.StrandID(i)
		}
	}
	return index
}

// add returns the strand of a goroutine, which it adds to the Timeline if there is none;
// None for no goroutine.
func (x goIndex) add(t *timeline.Timeline, k timeline.GoroutineKey) timeline.StrandID {
	if k.Goroutine == recording.NoGoroutine {
		return timeline.None
	}
	s, ok := x[k]
	if !ok {
		s = timeline.StrandID(len(t.Strands))
		x[k] = s
		t.Strands = append(t.Strands, timeline.Strand{Goroutine: k.Goroutine, Process: k.Process})
	}
	return s
}

// of returns the strand of a goroutine, or None.
func (x goIndex) of(k timeline.GoroutineKey) timeline.StrandID {
	if s, ok := x[k]; ok {
		return s
	}
	return timeline.None
}
