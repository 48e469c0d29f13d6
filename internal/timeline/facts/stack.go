package facts

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// stackFacts are the stacks of a recording, and the index from its ids to them.
type stackFacts struct {
	Frames     []recording.Frame
	Stacks     []timeline.Stack
	frameIndex lists.Index[recording.FrameID]
	StackIndex lists.Index[recording.StackID]
}

// stackFact takes facts about code and stacks. A stack whose frame or caller was not declared before it is dropped. So
// callers always have lower ids, and no stack is infinite.
func (f *Facts) stackFact(at recording.Time, fact recording.Fact) bool {
	s := &f.Stacks
	switch x := fact.(type) {
	case *recording.StackAt:
		if th, i := f.thread(x.Thread), s.StackIndex.Get(x.Stack); i != timeline.None {
			th.Stacks = append(th.Stacks, timeline.StackAt{Time: at, Stack: timeline.StackID(i), Origin: x.Origin, Goroutine: x.Goroutine})
		}
	case *recording.Frame:
		if s.frameIndex.Get(x.ID) == timeline.None {
			s.frameIndex.Set(x.ID, len(s.Frames))
			s.Frames = append(s.Frames, *x)
		}
	case *recording.Stack:
		frame, caller := s.frameIndex.Get(x.Frame), timeline.None
		if x.Caller != recording.NoStack {
			caller = s.StackIndex.Get(x.Caller)
		}
		if frame == timeline.None || caller == timeline.None && x.Caller != recording.NoStack || s.StackIndex.Get(x.ID) != timeline.None {
			return true
		}
		if caller != timeline.None && symbol.Glue(s.Frames[frame]) { // its caller's stack says everything
			s.StackIndex.Set(x.ID, caller)
			return true
		}
		s.StackIndex.Set(x.ID, len(s.Stacks))
		s.Stacks = append(s.Stacks, timeline.Stack{Caller: timeline.StackID(caller), Frame: timeline.FrameID(frame)})
	default:
		return f.parkFact(at, fact)
	}
	return true
}
