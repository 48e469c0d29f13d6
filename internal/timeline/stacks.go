package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// WaitStacks says how much of the time in Waits of a millisecond or more has a stack.
type WaitStacks struct {
	Own      Duration // a stack was taken in that very Wait
	Borrowed Duration // the stacks taken at that place in the code agree
	None     Duration
}

// SetStacks sets the timeline's frames and stacks.
func (t *Timeline) SetStacks(frames []recording.Frame, stacks []Stack) {
	t.Frames, t.Stacks, t.frameKinds = frames, stacks, make([]symbol.Kind, len(frames))
	for i := range frames {
		t.frameKinds[i] = symbol.KindOf(frames[i])
	}
}

// StackFrames returns the frames of a stack, the innermost first; nil for None.
func (t *Timeline) StackFrames(id StackID) []recording.Frame {
	var frames []recording.Frame
	for ; id >= 0 && int(id) < len(t.Stacks); id = t.Stacks[id].Caller {
		frames = append(frames, t.Frames[t.Stacks[id].Frame])
	}
	return frames
}

// StacksIn returns the stacks taken of a strand in [from, to).
func (t *Timeline) StacksIn(s StrandID, from, to Time) []StackAt {
	list := t.Strands[s].Stacks
	before := func(a StackAt, at Time) int { return cmp.Compare(a.Time, at) }
	i, _ := slices.BinarySearchFunc(list, from, before)
	k := lists.Near(len(list), i, func(k int) bool { return list[k].Time >= to })
	return list[i:max(i, k)]
}

// WaitAt returns the Wait a strand was in at a time: asleep, not yet made runnable. It returns None if the strand was
// in none.
func (t *Timeline) WaitAt(s StrandID, at Time) WaitID {
	return t.waitAmong(t.Strands[s].Waits, at)
}

// SleepAt is WaitAt for a strand's Sleeps.
func (t *Timeline) SleepAt(s StrandID, at Time) WaitID {
	return t.waitAmong(t.Sleeps(s), at)
}

func (t *Timeline) waitAmong(list []WaitID, at Time) WaitID {
	i := sort.Search(len(list), func(k int) bool { return t.Waits[list[k]].From >= at })
	if i == len(list) || t.Waits[list[i]].From > at {
		i--
	}
	if i < 0 || at >= t.Waits[list[i]].To {
		return None
	}
	return list[i]
}

// OnStack reports whether a function is on a stack.
func (t *Timeline) OnStack(stack int, function string) bool {
	for id := StackID(stack); id >= 0 && int(id) < len(t.Stacks); id = t.Stacks[id].Caller {
		if t.Frames[t.Stacks[id].Frame].Function == function {
			return true
		}
	}
	return false
}
