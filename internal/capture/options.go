package capture

import (
	"errors"
	"time"

	"github.com/getdwell/dwell/recording"
)

// Errors of Open. Test for them with errors.Is; their text contains the remedy.
var (
	// ErrNotPermitted means that the kernel does not let this user load programs.
	ErrNotPermitted = errors.New("not permitted to load BPF programs")
	// ErrNoBTF means that the kernel does not describe its own types.
	ErrNoBTF = errors.New("the kernel has no type information in /sys/kernel/btf/vmlinux (use a kernel built with CONFIG_DEBUG_INFO_BTF)")
	// ErrOldKernel means that the kernel cannot store data for each thread.
	ErrOldKernel = errors.New("the kernel is too old (dwell needs Linux 5.14 or newer)")
	// ErrUnsupported means that dwell cannot record on this system at all.
	ErrUnsupported = errors.New("recording needs Linux on x86-64 or arm64 (recordings can be read anywhere)")
)

// ErrEnded means that a process to be watched has ended.
var ErrEnded = errors.New("the process has ended")

// ErrFull, as the cause of a context's end, means that the recording has reached its maximum size.
var ErrFull = errors.New("the recording has its size")

// Options of a Session.
type Options struct {
	Tool       string // version of dwell, for the Manifest
	Target     string // how the target was chosen, for the Manifest; no arguments
	RingBytes  int    // size of the buffer between kernel and recorder; 0: 16 MiB
	Boundaries bool   // also probe where Node's loop starts immediates, not only timers
	Stacks     Stacks
	TLSHeads   TLSHeads
	Everything bool                  // never pause, whatever that costs a service that needs all of its processors
	Launched   int                   // pid of a dwell process that will become the service; 0: none
	Soon       bool                  // Watch returns when threads and connections are watched; slower parts join while Run records
	Begun      func()                // called by Run when it records, before anything joins, if joining needs no more rights than DropRights leaves; may be nil
	Joined     func()                // called by Run when everything possible is recorded: at once, unless Soon is set; may be nil
	Refuse     []string              // groups of programs, or programs, to treat as if the kernel refused them: for tests
	Version    string                // the environment variable of the service that contains its version; "": none is read
	Entered    func() ([]int, error) // returns processes to be watched as well that came since the last call; nil: there are none
	Go         GoProbes
}

// GoProbes say how much probes on Go programs may cost.
type GoProbes struct {
	Off   bool    // no probes: associating calls, and finding what goroutines wait for, becomes less reliable
	Share float64 // of one CPU; 0: 3 %
}

// TLSHeads bounds the cost of naming calls over TLS. The heads of requests are read where they are passed to a shared
// OpenSSL.
type TLSHeads struct {
	PerSecond time.Duration // per second of each process; 0: calls over TLS are not named
}

// DefaultTLSHeads costs a process at most 1 % of one CPU.
func DefaultTLSHeads() TLSHeads { return TLSHeads{PerSecond: 10 * time.Millisecond} }

// Stacks says which stacks to take; none if On is false.
type Stacks struct {
	On     bool
	Gap    time.Duration // minimum time between two stacks of one thread that waits for the same class of things
	Period time.Duration // between stacks of running code, on each CPU; 0: none
}

// DefaultStacks cost too little to be noticed.
func DefaultStacks() Stacks {
	// Not a multiple of usual timer periods.
	return Stacks{On: true, Gap: 20 * time.Millisecond, Period: 10_309 * time.Microsecond}
}

// Sink takes the events of a recording. A recording.Writer is a Sink.
type Sink interface {
	Write(recording.Event) error
	// Flush makes the written events safe from a crash. It is called once a second.
	Flush() error
}

// Stats is a snapshot for a status line. Its latencies are estimates that cover responses as far as they have been
// written: from the first byte of a request to the last of its response, which may still be in the socket. The
// diagnosis has exact ones.
type Stats struct {
	Elapsed  time.Duration
	Events   int64
	Requests int64 // inbound requests seen
	Rate     int64 // recent requests per second
	P50, P99 time.Duration
	Lost     int64   // events that the kernel could not pass on
	Resting  bool    // between two windows of recording
	CPU      float64 // of one core in the last second, user space and programs in the kernel
	NoStacks string  // why requested stacks are not taken; "" if they are
}
