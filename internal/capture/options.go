package capture

import (
	"errors"
	"time"

	"github.com/getdwell/dwell/recording"
)

// Errors of Open. Test for them with errors.Is; their text names the remedy.
var (
	// ErrNotPermitted says that the kernel does not let this user load programs.
	ErrNotPermitted = errors.New("not permitted to load BPF programs")
	// ErrNoBTF says that the kernel does not describe its own types.
	ErrNoBTF = errors.New("the kernel has no type information in /sys/kernel/btf/vmlinux (use a kernel built with CONFIG_DEBUG_INFO_BTF)")
	// ErrOldKernel says that the kernel cannot keep what is noted of a thread.
	ErrOldKernel = errors.New("the kernel is too old (dwell needs Linux 5.14 or newer)")
	// ErrUnsupported says that dwell cannot record on this system at all.
	ErrUnsupported = errors.New("recording needs Linux on x86-64 or arm64 (recordings can be read anywhere)")
)

// ErrEnded says of a process that was to be watched that it has ended.
var ErrEnded = errors.New("the process has ended")

// ErrFull ends a recording as the cause of its context's end: there is no more room for it.
var ErrFull = errors.New("the recording has its size")

// Options of a Session.
type Options struct {
	Tool       string // version of dwell, for the Manifest
	Target     string // how the target was chosen, for the Manifest; no arguments
	RingBytes  int    // size of the buffer between kernel and recorder; 0: 16 MiB
	Boundaries bool   // probe where Node's loop starts immediates too, not only timers
	Stacks     Stacks
	TLSHeads   TLSHeads
	Everything bool                  // never pause, whatever it costs a service that needs all of its processors
	Launched   int                   // pid of a process that is dwell itself until it runs the service; 0: none
	Soon       bool                  // Watch returns when threads and connections are watched; what takes longer joins while Run records
	Begun      func()                // called by Run when it records, before anything joins, if that takes no more rights than DropRights leaves; may be nil
	Joined     func()                // called by Run when all is recorded that can be: at once, unless Soon; may be nil
	Refuse     []string              // groups of programs, or programs, that are treated as if the kernel refused them: for tests
	Version    string                // the variable of the service's environment that says its version; "" none is looked at
	Entered    func() ([]int, error) // who came that is to be watched as well, since it was last asked; nil: nobody does
	NoGoProbes bool                  // do not probe Go programs: whose call it is, and what goroutines wait for, is less well known
}

// TLSHeads says how much naming calls over TLS may cost: the heads of requests are seen
// where they are handed to a shared OpenSSL.
type TLSHeads struct {
	PerSecond time.Duration // of the time of each process; 0: calls over TLS are not named
}

// DefaultTLSHeads costs a process 1 % of one CPU at most.
func DefaultTLSHeads() TLSHeads { return TLSHeads{PerSecond: 10 * time.Millisecond} }

// Stacks says which stacks to take; none if On is false.
type Stacks struct {
	On     bool
	Gap    time.Duration // least time between two stacks of one thread that waits for one class of things
	Period time.Duration // between stacks of what runs, on each CPU; 0: none
}

// DefaultStacks are those that cost too little to be noticed.
func DefaultStacks() Stacks {
	// No multiple of what timers of others use.
	return Stacks{On: true, Gap: 20 * time.Millisecond, Period: 10_309 * time.Microsecond}
}

// Sink takes the events of a recording. A recording.Writer is one.
type Sink interface {
	Write(recording.Event) error
	// Flush makes what was written safe from a crash. It is called once a second.
	Flush() error
}

// Stats is a snapshot for a status line. Its latencies are estimates, as far as responses
// have been written, from the first byte of a request to the last of its response, which
// may have been kept in the socket; the diagnosis has exact ones.
type Stats struct {
	Elapsed  time.Duration
	Events   int64
	Requests int64 // inbound requests seen
	Rate     int64 // requests a second, of late
	P50, P99 time.Duration
	Lost     int64   // events that the kernel could not pass on
	Resting  bool    // between two windows of recording
	CPU      float64 // of one core, user space and programs in the kernel, last second
	NoStacks string  // why stacks that were asked for are not taken; "" if they are
}
