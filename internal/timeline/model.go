// Package timeline is the model of what happened: strands and their states, connections, outgoing calls, inbound
// requests, waits and locks, and for every request the segments that account for its time. Timeline holds all of it;
// timeline/build makes one from a recording, and Validate checks its invariants. This package also answers questions
// about it, such as what a strand did or which strand had a lock. Wrong answers are fixed here; wrong facts about what
// happened, in build.
package timeline

import (
	"strings"

	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// Time and Duration are those of the recording, in nanoseconds.
type (
	Time     = recording.Time
	Duration = recording.Duration
)

// Indexes into the slices of a Timeline; None if there is no such thing.
type (
	RequestID int32
	CallID    int32
	StrandID  int32
	WaitID    int32
	LockID    int32
	StackID   int32
	FrameID   int32
)

// None is the index of nothing.
const None = -1

// Timeline is everything rebuilt from one recording. Slices are ordered by start.
type Timeline struct {
	Manifest   recording.Manifest
	Start, End Time     // span in which facts were recorded
	Truncated  bool     // the recording has no End fact
	Windows    []Window // in which facts were recorded, in order; one, unless recording paused
	Processes  []Process
	Strands    []Strand
	Conns      []Conn
	Calls      []Call
	Requests   []Request
	Lookups    []Lookup
	Datagrams  []Datagram
	Losses     []Loss
	Missing    []recording.Missing
	Listeners  []Listener
	Hosts      []HostSample
	Neighbours []NeighbourSample // programs beside the watched ones, in order of time
	Overhead   Overhead
	Frames     []recording.Frame
	Stacks     []Stack
	Waits      []Wait
	Locks      []Lock
	WaitStacks WaitStacks
	Events     int
	callsOn    [][]CallID // by strand that wrote them, in order of start
	Goroutines Goroutines
	Pauses     []Pause                    // of whole Go processes, in order
	Files      map[recording.FileID]*File // files that threads waited for
	Syncs      []Sync                     // of all threads, in order of start
	SyncsOf    map[StrandID][]SyncID      // the syncs of a strand, in order of time, never overlapping; for a goroutine, those of its threads
	Mappings   []Mapping                  // in order of time
	Blocks     []BlockIO                  // of all devices of the host, in order of end
	Memory     []MemorySample             // of all processes, in order of time

	MemoryWaits []MemoryWait // of all threads, in order of start

	unseen         unseenTimes
	frameKinds     []symbol.Kind         // of Frames
	memoryByStrand MemoryWaitsByStrand   // the same waits, by strand
	sleepsOf       map[StrandID][]WaitID // for goroutines, see Sleeps
	lingering      map[offKey]bool       // sleeps for more data on connections whose requests their strands had answered
	overruled      ledger                // see Assign
}

// Window is a span of a recording.
type Window struct{ From, To Time }

// Recorded reports whether a hook (recording.Hook...) was active.
func (t *Timeline) Recorded(hook string) bool {
	for h := range strings.FieldsSeq(t.Manifest.Hooks) {
		if h == hook {
			return true
		}
	}
	return false
}

// Process is a watched process.
type Process struct {
	ID         recording.ProcessID
	PID        int64
	Comm, Exe  string
	Runtime    recording.Runtime
	Build      string              // build id of the executable; "" not known
	Version    string              // of the service; "" not known
	CPUs       int64               // the processors that it may use; 0 not known
	Procs      int64               // for Go: how many goroutines can run at once (GOMAXPROCS); 0 not known
	Start, End Time                // NoTime if outside the recording
	Born       Time                // when its program began, before the recording or in it; NoTime unknown
	By         StrandID            // the strand of another process that started it; None if not known
	Parent     recording.ProcessID // the process that started it, in the recording or before; NoProcess unknown
}

// Strand is a sequential thread of execution: an OS thread, or a goroutine. Intervals tile the part of its life that
// was recorded; goroutines have none.
type Strand struct {
	Thread    recording.ThreadID
	TID       int64 // the kernel's id of the thread; 0 for a goroutine
	Goroutine recording.GoroutineID
	Process   recording.ProcessID
	Name      string
	Loop      bool // an event loop: it has several requests open at once
	Poll      Poll // for a thread that read from or wrote to connections
	Intervals []Interval
	Stacks    []StackAt // in order of time
	Waits     []WaitID  // in order of time, disjoint
}

// Stack is a stack: its innermost frame, and the stack that called it. Timeline.Frames holds the frames.
type Stack struct {
	Caller StackID // None for the outermost frame
	Frame  FrameID
}

// StackAt is the stack of a strand at a time.
type StackAt struct {
	Time      Time
	Stack     StackID
	Origin    recording.StackOrigin
	Goroutine recording.GoroutineID
}

// Wait is a span in which a strand slept for something other than the network. Consecutive timed waits for one thing
// are one Wait.
type Wait struct {
	From, To Time // To: when it was made runnable
	Back     Time // when it ran again
	Strand   StrandID
	Request  RequestID // the request the strand worked for, or None
	Lock     LockID    // what it waited for, or None
	Holds    []Hold    // which strands held it meanwhile, disjoint, in order of time; spans that are missing are unknown
	Off      *Off      // the last fact of the wait
	Rule     string    // stable code of the rule that determined the cause
	Stack    StackID   // or None
	Borrowed bool      // Stack comes from other waits at the same place in the code
	Cause    Cause
	Quality  Quality
}

// Hold is a span, within a Wait, in which a strand held what was waited for.
type Hold struct {
	From, To Time
	Since    Time // since when it held it; NoTime: not known
	Strand   StrandID
	Basis    HoldBasis // what the claim rests on
}

// HoldBasis is the fact that identifies a holder.
type HoldBasis int8

const (
	HoldByRelease HoldBasis = iota // it woke the next one from inside a futex wake
	HoldByOwner                    // glibc's mutex named it
	HoldByYield                    // it then yielded to others, according to its own stack
)

// Lock is something at which strands wait for each other: a lock, an interpreter lock, a pool. If the kernel shows no
// identity, the Lock is the place in the code where it is taken.
type Lock struct {
	Process recording.ProcessID
	Kind    Cause   // CauseLock, CauseInterpreterLock, CausePool or CauseCondition
	Name    string  // the function that takes it, or its address
	Address int64   // of the futex word, if that identifies the lock; else 0
	Stack   StackID // of one Wait for it, or None
	Waits   []WaitID
}

// Part is a span in which a strand worked for a request that another strand read. A wake-up handed the work over.
type Part struct {
	Strand   StrandID
	From, To Time
}

// State of a strand.
type State int8

// States. Unknown covers spans before the first and after the last known state.
const (
	StateUnknown State = iota
	StateRunning
	StateRunnable
	StateSleeping
	StateDisk
)

// Interval is a half-open span of one State.
type Interval struct {
	From, To Time
	State    State
	Off      *Off // the fact behind a Runnable, Sleeping or Disk interval
}

// Conn is one connection of a watched process.
type Conn struct {
	ID          recording.ConnID
	Side        recording.Side
	Process     recording.ProcessID
	Local, Peer string // address and port
	Name        string // host name of the peer, from DNS, SNI or Host; else ""
	Opened      Time   // start of connect, or established if inbound; NoTime if Existing
	Established Time
	Ending
	Existing       bool
	Protocol       recording.Protocol
	TLSFrom, TLSTo Time // handshake; NoTime if none was seen
	Resumed        recording.Tristate
	Exchanges      int // number of requests served or calls made on it
	Way
	Target string // behind a proxy, which is then the Peer: the host and port that the client asked for; else ""
}

// Way is what is known of the network between a connection's ends.
type Way struct {
	Again     []Time   // when a segment was retransmitted, in order
	RoundTrip Duration // for an Existing connection: the smallest recent round-trip time to the peer; 0: not known
}

// Phase is a stage in the life of a request or call.
type Phase int8

// Phases, in the order of the JSON contract; the first eight are those of a Call.
const (
	PhaseQueue Phase = iota
	PhaseDNS
	PhaseConnect
	PhaseTLS
	PhaseSend
	PhaseRemote
	PhasePickUp
	PhaseReceive
	PhaseUnread  // "unread-request": the request is in our socket, nobody has read it
	PhaseHandler // everything else of the request's own work
	NumPhases
)

// Cause is the one thing a Segment waited for, or what it did.
type Cause int8

// Causes.
const (
	CauseUnknown Cause = iota
	CauseOnCPU
	CauseRunnable
	CauseLock
	CauseInterpreterLock
	CausePool
	CauseCondition
	CauseRemote
	CauseClient
	CauseEventLoop
	CauseGC
	CauseDisk
	CausePageFault
	CauseIPC
	CauseSleep
	NumCauses
)

// Quality is the kind of evidence that a Segment rests on.
type Quality int8

// Qualities.
const (
	Exact Quality = iota
	Sampled
	Inferred
)

// Segment is a piece of a Request's wall time with one phase and one cause.
type Segment struct {
	From, To Time
	Phase    Phase
	Cause    Cause
	Quality  Quality
	Call     CallID    // the call it belongs to, or None
	Strand   StrandID  // the strand that worked, or whose state is the cause; or None
	Blocker  RequestID // the other request that the strand worked for meanwhile, or None
}

// Call is one outgoing exchange seen from the caller.
type Call struct {
	ID         CallID
	Request    RequestID // None: not associated; Why says the reason
	Why        string    // how it was associated, or why not: a stable code
	Process    recording.ProcessID
	Strand     StrandID // that wrote the request or, for a Carried call, waited for its answer
	Behind     CallID   // the call of another owner, earlier on the same connection, whose answer delayed this one longest; or None
	Conn       recording.ConnID
	Ordinal    int    // of this exchange on its connection, from 0
	New        bool   // the connection was opened for it
	Cut        bool   // an end of the recording or of the connection cut it
	Carried    bool   // the client's own threads wrote the request and read the answer
	Peer       string // name if known, else address and port
	Address    string // address and port; behind a proxy, the target that the proxy was asked for, if known
	Proxy      string // its address and port; "" without one
	Reached    Time   // new connection through a proxy: when the proxy was reached; until Connected it was asked to let bytes through
	Operation  string // "GET /users/{}", the operation header, "SELECT users"; "" under TLS
	Status     int64  // HTTP
	Start, End Time   // End: its last byte was read
	// Marks; NoTime if the phase did not happen or was not seen.
	DNSFrom, DNSTo         Time
	ConnectFrom, Connected Time
	TLSFrom, TLSTo         Time
	SendFrom, Sent         Time
	Arrived, FirstRead     Time
	Phases                 [PhaseReceive + 1]Duration // sum to End-Start
	Excluded               string                     // why it is excluded from quantiles: "upgrade", "stream", "long-poll", "unpaired", ...
	Protocol               recording.Protocol
	Outcome                recording.Outcome     // of a command
	Code                   string                // of a command's error
	Transaction            recording.Transaction // of the session, after a command
	InVain                 Duration              // how long its look-up went unanswered, until it was repeated or asked for the name that has an answer
	Again                  Time                  // over UDP: when it was last repeated for want of an answer; NoTime: never
	Left                   Time                  // when the last byte of its request left the socket, if after Sent; NoTime: at once, or not seen
	Kept                   Kept                  // what held it back until Left
	Turn                   Time                  // when the last answer that had to come before its own arrived; NoTime: it stood behind none
}

// Lookup is one DNS exchange.
type Lookup struct {
	Thread   recording.ThreadID
	Name     string
	From, To Time // To is NoTime if no answer was seen
	Rcode    int64
	Addrs    string
	Server   string // the server that was asked first
	Again    Time   // when it was repeated because that server had not answered; NoTime: never
}

// Datagram is one datagram sent to a telemetry daemon.
type Datagram struct {
	Strand   StrandID // that sent it, or None
	Request  RequestID
	Protocol recording.Protocol
	Peer     string // address and port, or the path of a Unix socket
	From, To Time   // of the system call that sent it; equal if its beginning is not known
	Bytes    int64
	Messages int64 // metrics or lines, at least
}

// Loss is a span in which facts of a hook were dropped.
type Loss struct {
	Hook     string
	CPU      int64
	From, To Time
	Count    int64
}

// Listener is a listening socket and the samples of its accept queue.
type Listener struct {
	Port   int64
	Limit  int64
	Depths []Depth
}

// Depth is the length of an accept queue at a time.
type Depth struct {
	Time  Time
	Depth int64
}

// NeighbourSample is what a program used of the processors until a time; its fields are those of recording.Neighbour.
type NeighbourSample struct {
	Time Time
	recording.Neighbour
}

// HostSample is the whole machine at a time; its fields are those of recording.Host.
type HostSample struct {
	Time Time
	recording.Host
}
