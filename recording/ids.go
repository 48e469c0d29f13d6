package recording

// Time is a reading of CLOCK_MONOTONIC in nanoseconds. A Clock fact pairs such
// readings with wall time.
type Time int64

// NoTime marks a time that was not recorded.
const NoTime Time = 0

// Duration is a length of time in nanoseconds.
type Duration int64

// Sub returns t-u.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// ProcessID, ThreadID and ConnID are numbers local to one recording, given in
// order of first appearance and never reused. The Process, Thread and Conn facts
// that declare them carry what the kernel calls them (id plus start time, socket
// pair), so a pid, tid or port that is used again gets a new number.
type (
	ProcessID int64
	ThreadID  int64
	ConnID    int64
)

// The zero ids stand for "none" or "not watched".
const (
	NoProcess ProcessID = 0
	NoThread  ThreadID  = 0
	NoConn    ConnID    = 0
)

// GoroutineID is a Go runtime goid; NoGoroutine where the strand is a thread.
type GoroutineID int64

// NoGoroutine marks events of threads that run no Go code.
const NoGoroutine GoroutineID = 0

// ContextID names a context of Python (contextvars) within its process: each task of asyncio
// runs in one of its own. It is the number that the context got when it was copied from
// another, in order; or, of those that were there before, minus its address, which may be
// used again once it is gone.
type ContextID int64

// NoContext marks events of threads that run no Python in a context, as far as is known.
const NoContext ContextID = 0

// FrameID and StackID are numbers local to one recording, like ThreadID.
type (
	FrameID int64
	StackID int64
)

// FileID is a number local to one recording, like ThreadID; NoFile is none.
type FileID int64

// NoFile marks a sleep that was for no file, or for one that is not known.
const NoFile FileID = 0

// NoStack marks the outermost frame, and a stack that is not known.
const NoStack StackID = 0
