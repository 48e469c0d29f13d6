package facts

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// GoroutineIndex maps goroutines to their strands.
type GoroutineIndex map[timeline.GoroutineKey]timeline.StrandID

// IndexGoroutines indexes the goroutines of a Timeline.
func IndexGoroutines(t *timeline.Timeline) GoroutineIndex {
	index := GoroutineIndex{}
	for i := range t.Strands {
		if g := t.Strands[i].Goroutine; g != recording.NoGoroutine {
			index[timeline.GoroutineKey{Process: t.Strands[i].Process, Goroutine: g}] = timeline.StrandID(i)
		}
	}
	return index
}

// Add returns the strand of a goroutine. It adds a strand to the Timeline if there is none; None for no goroutine.
func (x GoroutineIndex) Add(t *timeline.Timeline, k timeline.GoroutineKey) timeline.StrandID {
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

// Of returns the strand of a goroutine, or None.
func (x GoroutineIndex) Of(k timeline.GoroutineKey) timeline.StrandID {
	if s, ok := x[k]; ok {
		return s
	}
	return timeline.None
}
