package build

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// stackFacts are the stacks of a recording, and the way from its ids to them.
type stackFacts struct {
	frames     []recording.Frame
	stacks     []timeline.Stack
	frameIndex lists.Index[recording.FrameID]
	stackIndex lists.Index[recording.StackID]
}

// stackFact takes facts about code and stacks. A stack whose frame or caller was not
// declared before it is dropped: so callers always have lower ids, and no stack is
// without end.
func (f *facts) stackFact(at recording.Time, fact recording.Fact) bool {
	s := &f.stacks
	switch x := fact.(type) {
	case *recording.StackAt:
		i := s.stackIndex.Get(x.Stack)
		if th := f.thread(x.Thread); th != nil && i != timeline.None {
			th.stacks = append(th.stacks, timeline.StackAt{Time: at, Stack: timeline.StackID(i), Origin: x.Origin, Goroutine: x.Goroutine})
		}
	case *recording.Frame:
		if s.frameIndex.Get(x.ID) == timeline.None {
			s.frameIndex.Set(x.ID, len(s.frames))
			s.frames = append(s.frames, *x)
		}
	case *recording.Stack:
		frame, caller := s.frameIndex.Get(x.Frame), timeline.None
		if x.Caller != recording.NoStack {
			caller = s.stackIndex.Get(x.Caller)
		}
		if frame == timeline.None || caller == timeline.None && x.Caller != recording.NoStack || s.stackIndex.Get(x.ID) != timeline.None {
			return true
		}
		s.stackIndex.Set(x.ID, len(s.stacks))
		s.stacks = append(s.stacks, timeline.Stack{Caller: timeline.StackID(caller), Frame: timeline.FrameID(frame)})
	default:
		return f.parkFact(at, fact)
	}
	return true
}

// buildStacks gives the timeline its frames and stacks, and each strand its own.
func buildStacks(t *timeline.Timeline, f *facts) {
	t.SetStacks(f.stacks.frames, f.stacks.stacks)
	for i := range f.threads {
		list := f.threads[i].stacks
		byStackTime := func(a, b timeline.StackAt) int { return cmp.Compare(a.Time, b.Time) }
		if !slices.IsSortedFunc(list, byStackTime) {
			slices.SortStableFunc(list, byStackTime)
		}
		t.Strands[i].Stacks = list
	}
}
