package timeline

import (
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// SiteOf returns the frame that best names the place of a wait. It prefers the innermost frame of the application, then
// that of a library that came with the application, then the innermost frame outside the code that implements locks. It
// returns false if the stack has no frame.
func (t *Timeline) SiteOf(id StackID) (recording.Frame, bool) {
	f := t.FrameOf(id, symbol.IsApplication)
	if f == None {
		f = t.SiteFrame(id)
	}
	return frameIn(t, f)
}

func frameIn(t *Timeline, f FrameID) (recording.Frame, bool) {
	if f == None {
		return recording.Frame{}, false
	}
	return t.Frames[f], true
}

// SiteFrame returns the innermost frame beyond the runtime, libraries included. It tells one pool or queue from
// another, no matter which part of the application uses it.
func (t *Timeline) SiteFrame(id StackID) FrameID {
	if f := t.FrameOf(id, symbol.IsOwnCode); f != None {
		return f
	}
	return t.FrameOf(id, symbol.IsBeyondLocks)
}

// NativeSite returns the innermost frame outside the C library.
func (t *Timeline) NativeSite(id StackID) FrameID {
	for ; id >= 0 && int(id) < len(t.Stacks); id = t.Stacks[id].Caller {
		f := t.Stacks[id].Frame
		x := &t.Frames[f]
		if x.Type == recording.FrameKernel || symbol.NativeLock(*x) {
			continue
		}
		return f
	}
	return None
}

// LockSite returns the frame that takes the lock a stack waits for: the innermost frame outside the code that
// implements locks, which may belong to the runtime's own library. It returns false if the stack has none.
func (t *Timeline) LockSite(id StackID) (recording.Frame, bool) {
	return frameIn(t, t.FrameOf(id, symbol.IsBeyondLocks))
}

// is reports whether a frame is of a kind. The kinds are computed beforehand only if the timeline was built from a
// recording (SetStacks), not if it was put together by hand.
func (t *Timeline) is(f FrameID, of symbol.Kind) bool {
	if int(f) < len(t.frameKinds) {
		return t.frameKinds[f]&of != 0
	}
	return symbol.KindOf(t.Frames[f])&of != 0
}

// FrameOf returns the innermost frame of a kind. It prefers frames of a managed runtime, if the stack has any. It
// returns None if there is none.
func (t *Timeline) FrameOf(id StackID, of symbol.Kind) FrameID {
	best := FrameID(None)
	for ; id >= 0 && int(id) < len(t.Stacks); id = t.Stacks[id].Caller {
		f := t.Stacks[id].Frame
		if !t.is(f, of) {
			continue
		}
		if t.is(f, symbol.IsManaged) {
			return f
		}
		if best == None {
			best = f
		}
	}
	return best
}
