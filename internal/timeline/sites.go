package timeline

import (
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// SiteOf returns the frame that best names the place of a wait: the innermost one of
// the application; else of a library it brought along; else the innermost outside of
// what implements locks. False if the stack has no frame.
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

// SiteFrame returns the innermost frame beyond the runtime, libraries included: what
// tells a pool or a queue from others, whoever in the application turns to it.
func (t *Timeline) SiteFrame(id StackID) FrameID {
	if f := t.FrameOf(id, symbol.IsOwnCode); f != None {
		return f
	}
	return t.FrameOf(id, symbol.IsBeyondLocks)
}

// NativeSite returns the innermost frame that is not of the C library.
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

// LockSite returns the frame that takes the lock a stack waits for: the innermost
// outside of what implements locks, of the runtime's own library too. False if the
// stack has none.
func (t *Timeline) LockSite(id StackID) (recording.Frame, bool) {
	return frameIn(t, t.FrameOf(id, symbol.IsBeyondLocks))
}

// is reports whether a frame is of a kind. They are known beforehand in a timeline that
// was built, as opposed to one that was put together.
func (t *Timeline) is(f FrameID, of symbol.Kind) bool {
	if int(f) < len(t.frameKinds) {
		return t.frameKinds[f]&of != 0
	}
	return symbol.KindOf(t.Frames[f])&of != 0
}

// FrameOf returns the innermost frame of a kind, of those of a managed runtime if
// the stack has any; None if there is none.
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
