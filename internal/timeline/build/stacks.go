package build

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
)

// buildStacks sets the timeline's frames and stacks, and the stacks of each strand.
func buildStacks(t *timeline.Timeline, f *facts.Facts) {
	t.SetStacks(f.Stacks.Frames, f.Stacks.Stacks)
	for i := range f.Threads {
		list := f.Threads[i].Stacks
		byStackTime := func(a, b timeline.StackAt) int { return cmp.Compare(a.Time, b.Time) }
		if !slices.IsSortedFunc(list, byStackTime) {
			slices.SortStableFunc(list, byStackTime)
		}
		t.Strands[i].Stacks = list
	}
}
