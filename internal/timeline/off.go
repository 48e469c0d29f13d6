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

// Linger notes that a strand slept for more on a connection that it had answered.
func (t *Timeline) Linger(o *Off) {
	if t.lingering == nil {
		t.lingering = map[offKey]bool{}
	}
	t.lingering[offKey{o.Thread, o.Since}] = true
}

// Lingers reports such a sleep.
func (t *Timeline) Lingers(o *Off) bool { return o != nil && t.lingering[offKey{o.Thread, o.Since}] }

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
