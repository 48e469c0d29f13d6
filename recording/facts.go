package recording

// Visitor is shown every field of a fact, in the order of the binary form and the text form. Reader, writer, text
// form, schema and validator are Visitors. So a fact's layout is written once: in its Visit method.
type Visitor interface {
	Int(name string, v *int64)
	Enum(name string, names []string, v *int64)
	Str(name string, v *string)
}

// Fact is one kind of observation. Implementations are pointers to the structs in
// this package, declared in the table Kinds.
type Fact interface {
	Kind() Kind
	Visit(v Visitor)
}

// Event is a Fact at a time. If the fact has a span (Off, Chunk), Time is the span's end.
type Event struct {
	Time Time
	Fact Fact
}

// Manifest says what was recorded, by which tool and on which host. It is the first event. If slow hooks become
// active later, another Manifest lists all hooks that are active since then; the last one holds.
type Manifest struct {
	Tool   string // version of dwell
	Kernel string // release
	Arch   string // GOARCH
	CPUs   int64
	Hooks  string // space-separated, sorted: which Hook names were active
	Target string // how the target was chosen, without arguments
}

// Clock pairs the event's Time with wall time.
type Clock struct {
	Wall      int64 // ns since the Unix epoch
	Suspended int64 // ns that the host was suspended since boot: Time did not advance then, but Start of processes and threads did
}

// Loss says that Count facts of Hook on CPU were dropped between From and the
// event's Time.
type Loss struct {
	Hook  string
	CPU   int64
	Count int64
	From  Time
}

// Gap says that recording paused on purpose from From to the event's Time. Only processes, threads and facts that are
// sampled once a second are known of this span. Connections get new ids after it, see Conn.Before.
type Gap struct {
	From Time
}

// Overhead is dwell's own cost so far, cumulative since the recording began.
type Overhead struct {
	UserCPU int64 // ns of CPU in dwell's own process
	BPF     int64 // ns of CPU in dwell's programs in the kernel
	RSS     int64 // bytes, now
	Events  int64 // events taken from the ring
	Inside  int64 // of BPF, the most that threads of watched processes spent; 0: not known separately
}

// Host is a sample of the whole machine, cumulative since boot except Running.
type Host struct {
	Busy      int64 // ns of CPU, all processors
	Idle      int64 // ns of CPU, all processors
	Stolen    int64 // ns of CPU, all processors: threads were ready to run and the hypervisor ran other guests (proc_stat(5), steal)
	Running   int64 // threads runnable at this instant
	Pressure  int64 // ns some thread waited for a CPU (PSI)
	Throttled int64 // ns the target's cgroup was throttled
	Overflows int64 // connections dropped at full listen queues
}

// End marks a recording that was closed properly.
type End struct {
	Reason string // "time", "size", "interrupt", "target-exit"
}

// Process declares a watched process.
type Process struct {
	ID      ProcessID
	PID     int64
	Start   int64 // ns since boot
	Parent  ProcessID
	Comm    string
	Exe     string // base name of the executable
	Runtime Runtime
	Build   string // build id of the executable, "" if it has none
	Version string // of the service, from the environment variable that the recorder was told to read
	CPUs    int64  // the processors that its first thread may use; 0 unknown
}

// Exec says that a process replaced its program.
type Exec struct {
	Process ProcessID
	Comm    string
	Exe     string
	Runtime Runtime
	Build   string
	Version string
}

// ProcessExit ends a process.
type ProcessExit struct {
	Process ProcessID
}

// Thread declares a watched thread. Creator is the thread that made it, NoThread if
// it existed before the recording.
type Thread struct {
	ID      ThreadID
	TID     int64
	Start   int64 // ns since boot
	Process ProcessID
	Creator ThreadID
	Name    string
	Context ContextID // Python: in which Creator made it
}

// ThreadExit ends a thread.
type ThreadExit struct {
	Thread ThreadID
}

// ThreadState is a snapshot taken at an end of the recording or of a window. The thread has been off its CPU since
// Since (NoTime: since before the recording), in Syscall.
type ThreadState struct {
	Thread  ThreadID
	State   OffState
	Since   Time
	Syscall string
	On      int64 // 1 if it was running or runnable instead
}

// Off is one span off the CPU, recorded when the thread runs again (the event's
// Time). It slept from Since to Woken and was runnable from Woken to Time; a
// preempted thread was runnable throughout, and its Woken equals Since.
type Off struct {
	Thread    ThreadID
	Since     Time
	Woken     Time // NoTime: the waking was not seen
	State     OffState
	WakerKind WakerKind
	Waker     ThreadID
	Release   int64  // 1: the waker was inside a futex wake
	CPU       int64  // the CPU on which it runs again
	Syscall   string // name; "" outside any (page fault, preemption)
	Arg       int64  // first argument of the syscall: an fd, a futex address
	Timed     int64  // 1: the wait had a time limit
	Goroutine GoroutineID
	Counter   int64     // Node: last async id given out when it went off; 0 unknown
	SP        int64     // user stack pointer when it went off; 0 unknown
	Owner     ThreadID  // of the glibc mutex that it waits for, as read from the mutex when it went off
	Ran       int64     // ns of CPU it used since it last came back, by the scheduler's clock; 0 unknown
	File      FileID    // the file it slept for; NoFile: none, or not known
	Context   ContextID // Python: the context in which Waker made the futex wake
	Ahead     Ahead     // what had the CPU until the thread came back to it
	Program   string    // the name of that, for AheadOther; "" unknown
	Usage
}

// File declares a regular file when a thread first waits for it. Later waits record its size again, about once a
// second. The directory of the file is not kept.
type File struct {
	ID   FileID
	Name string // the end of its path; parts that may be identifiers are {}; "" unknown
	Size int64  // bytes
}

// Listen declares a listening socket of a watched process.
type Listen struct {
	Process ProcessID
	Port    int64
	Backlog int64 // the limit of its accept queue
}

// Backlog is a sample of an accept queue, taken when a connection joined it.
type Backlog struct {
	Port  int64
	Depth int64
	Limit int64
}

// Conn declares a connection. Time is the start of connect (Outbound) or the moment
// it was established (Inbound). Existing connections were open before the recording.
type Conn struct {
	ID        ConnID
	Side      Side
	Process   ProcessID
	Thread    ThreadID // the thread that called connect; for an Inbound one older than the recording, the thread that used it before any bytes were seen to arrive; else NoThread
	Goroutine GoroutineID
	Parent    GoroutineID // the goroutine that started Goroutine
	Local     string      // address and port, or the path of a Unix socket: @ and the name of an abstract one, @ alone if it has none
	Peer      string      // like Local
	Existing  int64       // 1: open before the recording
	Exec      int64       // Node's async ids at connect, see Chunk
	Trigger   int64
	Counter   int64
	Before    ConnID // its id before recording paused; NoConn: it was not known
	Context   ContextID
	RoundTrip int64 // of one open before the recording: the shortest recent round trip to the peer, ns; 0: not known
}

// Established says that an Outbound connect succeeded.
type Established struct {
	Conn ConnID
}

// Closed ends a connection. By says who closed first.
type Closed struct {
	Conn   ConnID
	By     Closer
	Thread ThreadID // the watched thread that closed it; NoThread if the peer closed it, or the thread is not known
}

// ConnProtocol says what the first bytes of a connection were.
type ConnProtocol struct {
	Conn     ConnID
	Protocol Protocol
}

// Chunk is one or more consecutive reads or writes on a connection by one thread.
// Time is when the last of them returned.
type Chunk struct {
	Conn      ConnID
	Thread    ThreadID
	Dir       Direction
	Offset    int64 // bytes transferred in this direction before it
	Bytes     int64 // 0 for a Read at the end of the stream
	Arrived   Time  // reads: when its first byte reached the socket; NoTime unknown
	Last      Time  // reads: when its last byte reached the socket
	Merged    int64 // 1: arrival times had to be merged; they may be too early
	First     Time  // when the first of them returned; equals the event's Time if there is only one
	Goroutine GoroutineID
	Exec      int64     // Node: execution async id, 0 none
	Trigger   int64     // Node: trigger async id
	Counter   int64     // Node: last async id given out
	Context   ContextID // Python: the context in which it was made
	Contexts  int64     // Python: number of the last context copied in the process by then; 0: contexts are not numbered
}

// HTTPRequest is the head of an HTTP/1.1 request found in the Chunks of its connection. Time is that of the Chunk in
// which it began; Offset is the position of its first byte in that direction. Nothing else of the message is kept. On
// a TLS connection it is a request that was encrypted: Offset is that of the record in which it begins; Head and
// Length count bytes of plain text.
type HTTPRequest struct {
	Conn      ConnID
	Offset    int64
	Head      int64 // bytes of the head; 0 if its end was not seen
	Method    string
	Route     string // path with ids and query stripped
	Host      string // host name without port; "" if none or an address
	Operation string // X-Amz-Target or Action, "" if none
	Length    int64  // Content-Length; -1 chunked, -2 unknown
	Close     int64  // 1: Connection: close
	Upgrade   int64  // 1: asks for another protocol, or an event stream
}

// HTTPResponse is the head of an HTTP/1.1 response; fields as in HTTPRequest.
type HTTPResponse struct {
	Conn    ConnID
	Offset  int64
	Head    int64
	Status  int64
	Length  int64
	Close   int64
	Upgrade int64 // 1: 101, or an event stream
}

// TLS is what the header of one TLS record, and the plain part of a handshake, contain.
type TLS struct {
	Conn    ConnID
	Dir     Direction
	Record  TLSRecord
	Offset  int64 // of the record in its direction
	Bytes   int64 // of the record's payload
	SNI     string
	Version int64 // 0x0303, 0x0304; 0 unknown
	Resumed Tristate
}

// DNS is one half of a look-up. Exchanges match by thread, ID and Name.
type DNS struct {
	Thread  ThreadID
	Part    DNSPart
	ID      int64
	Name    string
	Type    string // A, AAAA, ...
	Rcode   int64
	Addrs   string // answers, space-separated
	Server  string
	Arrived Time // answers: when it reached the socket
}

// Sample says that a thread was on a CPU at this instant (a timer, about 200 Hz).
type Sample struct {
	Thread    ThreadID
	Goroutine GoroutineID
}

// Frame declares one place in code. Fields that a runtime does not provide are empty or 0.
type Frame struct {
	ID       FrameID
	Type     FrameType
	Function string // with its class, package or module if the runtime provides it
	File     string // of the source
	Line     int64  // in File
	Module   string // native: base name of the executable or library; Go: the main module, for its own code, if File contains a version of it
}

// Stack declares a stack by its innermost frame and the stack that called it: the
// stacks of a recording form a tree that shares their outer parts.
type Stack struct {
	ID     StackID
	Caller StackID // NoStack for the outermost frame
	Frame  FrameID
}

// StackAt is the stack that a thread had at the event's Time.
type StackAt struct {
	Thread    ThreadID
	Stack     StackID
	Origin    StackOrigin
	Goroutine GoroutineID
}

// Missing says in one sentence what could not be observed, and why.
type Missing struct {
	What  string // stable code, see docs
	Why   string
	Count int64
	Timed int64 // 1: this holds in the spans that Unseen facts report, and in no others
}

// Command is one command of a protocol other than HTTP that answers commands in order, found in the Chunks of an
// Outbound connection: a Redis command, or in PostgreSQL everything that one ReadyForQuery answers. Time is that of
// the Chunk in which it began; Offset is the position of its first byte. Keys, values and texts are not kept.
type Command struct {
	Conn      ConnID
	Offset    int64
	Length    int64  // bytes; 0 if its end was not seen
	Operation string // the command's name or the verb, in upper case; "" if unknown
	Target    string // SQL: the table, digits as {}; "" if none or unknown
}

// Reply is the answer to the oldest unanswered Command of its connection.
type Reply struct {
	Conn        ConnID
	Offset      int64
	Length      int64 // bytes; 0 if its end was not seen
	Outcome     Outcome
	Code        string // of an error: SQLSTATE, or the first word of a Redis error
	Operation   string // SQL: the verb that was executed, according to the server
	Transaction Transaction
	Skipped     int64 // number of earlier Commands whose replies could not be told apart
}

// Datagram is one datagram that a thread sent to a telemetry daemon, over UDP or a Unix socket. Time is when the call
// that sent it returned. Names and values in it are not kept.
type Datagram struct {
	Thread    ThreadID
	Goroutine GoroutineID
	Protocol  Protocol
	Peer      string // address and port, or the path of the Unix socket; @ if it has none
	Bytes     int64
	Messages  int64 // metrics or log lines in the captured part: a lower bound
}

// Goroutine declares a goroutine of Go, when it was first seen to do something, and the goroutine that started it.
// Ids are not reused within a process.
type Goroutine struct {
	Process ProcessID
	ID      GoroutineID
	Parent  GoroutineID // NoGoroutine: not known
}

// GoCall says that a goroutine handed a request to a connection of net/http's pool. The connection's own goroutines
// write the request and read the answer; the caller waits meanwhile.
type GoCall struct {
	Conn      ConnID
	Thread    ThreadID
	Goroutine GoroutineID
}

// GoRun says that a goroutine begins to run on a thread and replaces any other, or that it has to give up its thread.
type GoRun struct {
	Thread    ThreadID
	Goroutine GoroutineID
	Yields    int64 // 1: it gives up its thread although it could have continued
}
