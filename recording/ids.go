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

// ProcessID, ThreadID and ConnID are numbers local to one recording, assigned in order of first appearance and never
// reused. The Process, Thread and Conn facts that declare them contain the kernel's identity (id plus start time,
// socket pair), so a reused pid, tid or port gets a new number.
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

// GoroutineID is a Go runtime goid, or NoGoroutine if the strand is a thread.
type GoroutineID int64

// NoGoroutine marks events of threads that run no Go code.
const NoGoroutine GoroutineID = 0

// ContextID names a context of Python (contextvars) within its process: each task of asyncio runs in its own context.
// Contexts are numbered in the order in which they are copied from others. A context that existed before recording
// began has minus its address instead, which may be reused after the context is gone.
type ContextID int64

// NoContext marks events of threads that run no Python in a context, as far as known.
const NoContext ContextID = 0

// FrameID and StackID are numbers local to one recording, like ThreadID.
type (
	FrameID int64
	StackID int64
)

// FileID is a number local to one recording, like ThreadID; NoFile is none.
type FileID int64

// NoFile marks a sleep that was not for a file, or for an unknown one.
const NoFile FileID = 0

// NoStack marks the outermost frame, and an unknown stack.
const NoStack StackID = 0
