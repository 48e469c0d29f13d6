package timeline

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// WaitStacks says how much of the time in Waits of a millisecond or more has a stack.
type WaitStacks struct {
	Own      Duration // a stack was taken in that very Wait
	Borrowed Duration // the stacks taken at that place in the code agree
	None     Duration
}

// stackFacts are the stacks of a recording, and the way from its ids to them.
type stackFacts struct {
	frames     []recording.Frame
	stacks     []Stack
	frameIndex index[recording.FrameID]
	stackIndex index[recording.StackID]
}

// stackFact takes facts about code and stacks. A stack whose frame or caller was not
// declared before it is dropped: so callers always have lower ids, and no stack is
// without end.
func (f *facts) stackFact(at Time, fact recording.Fact) bool {
	s := &f.stacks
	switch x := fact.(type) {
	case *recording.StackAt:
		i := s.stackIndex.get(x.Stack)
		if th := f.thread(x.Thread); th != nil && i != None {
			th.stacks = append(th.stacks, StackAt{Time: at, Stack: StackID(i), Origin: x.Origin, Goroutine: x.Goroutine})
		}
	case *recording.Frame:
		if s.frameIndex.get(x.ID) == None {
			s.frameIndex.set(x.ID, len(s.frames))
			s.frames = append(s.frames, *x)
		}
	case *recording.Stack:
		frame, caller := s.frameIndex.get(x.Frame), None
		if x.Caller != recording.NoStack {
			caller = s.stackIndex.get(x.Caller)
		}
		if frame == None || caller == None && x.Caller != recording.NoStack || s.stackIndex.get(x.ID) != None {
			return true
		}
		s.stackIndex.set(x.ID, len(s.stacks))
		s.stacks = append(s.stacks, Stack{Caller: StackID(caller), Frame: FrameID(frame)})
	default:
		return f.parkFact(at, fact)
	}
	return true
}

// buildStacks gives the timeline its frames and stacks, and each strand its own.
func buildStacks(t *Timeline, f *facts) {
	t.Frames, t.Stacks = f.stacks.frames, f.stacks.stacks
	t.frameKinds = make([]frameKind, len(t.Frames))
	for i := range t.Frames {
		t.frameKinds[i] = kindOf(t.Frames[i])
	}
	for i := range f.threads {
		list := f.threads[i].stacks
		byStackTime := func(a, b StackAt) int { return cmp.Compare(a.Time, b.Time) }
		if !slices.IsSortedFunc(list, byStackTime) {
			slices.SortStableFunc(list, byStackTime)
		}
		t.Strands[i].Stacks = list
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
	k := near(len(list), i, func(k int) bool { return list[k].Time >= to })
	return list[i:max(i, k)]
}

// WaitAt returns the Wait a strand was in at a time: asleep, not yet made runnable.
// None if it was in none.
func (t *Timeline) WaitAt(s StrandID, at Time) WaitID {
	return t.waitAmong(t.Strands[s].Waits, at)
}

// SleepAt is the same of a strand's Sleeps.
func (t *Timeline) SleepAt(s StrandID, at Time) WaitID {
	return t.waitAmong(t.Sleeps(s), at)
}

func (t *Timeline) waitAmong(list []WaitID, at Time) WaitID {
	i, found := slices.BinarySearchFunc(list, at, func(w WaitID, at Time) int { return cmp.Compare(t.Waits[w].From, at) })
	if !found {
		i--
	}
	if i < 0 || at >= t.Waits[list[i]].To {
		return None
	}
	return list[i]
}
