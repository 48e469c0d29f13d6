package timeline

import "github.com/getdwell/dwell/recording"

// Off is a span off the CPU, as in recording.Off, in less memory: of most recordings these are
// most of all.
type Off struct {
	Since, Woken Time
	Arg          int64
	Counter      int64
	SP           int64
	Ran          int64
	In, Out      int64
	*OffBy
	*OffFaults
}

// offKey is which span off the CPU one is.
type offKey struct {
	thread recording.ThreadID
	since  Time
}

// key is that of a span; that of none is none's.
func (o *Off) key() offKey {
	if o == nil {
		return offKey{}
	}
	return offKey{o.Thread, o.Since}
}

// OffBy is what many spans off the CPU have in common.
type OffBy struct {
	Thread    recording.ThreadID
	State     recording.OffState
	WakerKind recording.WakerKind
	Waker     recording.ThreadID
	Release   int64
	Syscall   string
	Timed     int64
	Goroutine recording.GoroutineID
	Owner     recording.ThreadID
	File      recording.FileID
	Context   recording.ContextID
}

// OffFaults are the page faults before a span off the CPU.
type OffFaults struct{ Minor, Major, Fetched int64 }

// offs makes them, many at a time.
type offs struct {
	room   []Off
	by     shared[OffBy]
	faults shared[OffFaults]
}

// offsAtOnce is how many share one piece of memory.
const offsAtOnce = 256

func (o *offs) of(x *recording.Off) *Off {
	if len(o.room) == 0 {
		o.room = make([]Off, offsAtOnce)
	}
	next := &o.room[0]
	o.room = o.room[1:]
	by, faults := partsOf(x)
	*next = Off{x.Since, x.Woken, x.Arg, x.Counter, x.SP, x.Ran, x.In, x.Out, o.by.of(by), o.faults.of(faults)}
	return next
}

func partsOf(x *recording.Off) (OffBy, OffFaults) {
	return OffBy{x.Thread, x.State, x.WakerKind, x.Waker, x.Release, x.Syscall, x.Timed, x.Goroutine, x.Owner, x.File, x.Context},
		OffFaults{x.Minor, x.Major, x.Fetched}
}

// newOff makes one that shares nothing with others.
func newOff(x *recording.Off) *Off {
	by, faults := partsOf(x)
	return &Off{x.Since, x.Woken, x.Arg, x.Counter, x.SP, x.Ran, x.In, x.Out, &by, &faults}
}
