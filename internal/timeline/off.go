package timeline

import "github.com/getdwell/dwell/recording"

// Off is a span off the CPU, as in recording.Off, in less memory: most recordings contain more of these than of
// anything else.
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

// offKey identifies a span off the CPU.
type offKey struct {
	thread recording.ThreadID
	since  Time
}

// Linger notes that, in this sleep, a strand waited for more on a connection whose request it had answered.
func (t *Timeline) Linger(o *Off) {
	if t.lingering == nil {
		t.lingering = map[offKey]bool{}
	}
	t.lingering[offKey{o.Thread, o.Since}] = true
}

// Lingers reports whether Linger noted the sleep.
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
	Ahead     recording.Ahead
	Program   string // for AheadOther
}

// OffFaults counts the page faults before a span off the CPU.
type OffFaults struct{ Minor, Major, Fetched int64 }
