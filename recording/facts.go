package recording

// Visitor is shown every field of a fact, in the order that the binary and the
// text form use. Reader, writer, text form, schema and validator are Visitors, so a
// fact's layout is written once: in its Visit method.
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

// Event is a Fact at a time. For facts with a span (Off, Chunk) Time is the end.
type Event struct {
	Time Time
	Fact Fact
}

// Manifest says what was recorded, by what, on what. It is the first event. A later one says
// which hooks there are since what takes time has joined; the last holds.
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
	Suspended int64 // ns since boot in which the host was suspended: Time stood still, Start of processes and threads went on
}

// Loss says that Count facts of Hook on CPU were dropped between From and the
// event's Time.
type Loss struct {
	Hook  string
	CPU   int64
	Count int64
	From  Time
}

// Gap says that recording paused from From to the event's Time, on purpose: processes,
// threads and what was sampled once a second are known, nothing else is. Connections of
// before are not named after it, see Conn.
type Gap struct {
	From Time
}

// Overhead is dwell's own cost so far, cumulative since the recording began.
type Overhead struct {
	UserCPU int64 // ns of CPU in dwell's own process
	BPF     int64 // ns of CPU in dwell's programs in the kernel
	RSS     int64 // bytes, now
	Events  int64 // events taken from the ring
	Inside  int64 // of BPF, on threads of watched processes, at most; 0: not known apart
}

// Host is a sample of the whole machine, cumulative since boot except Running.
type Host struct {
	Busy      int64 // ns of CPU, all processors
	Idle      int64 // ns of CPU, all processors
	Stolen    int64 // ns of CPU, all processors: threads were to run, and the hypervisor ran others (proc_stat(5), steal)
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
	Version string // of the service, from a variable of its environment that was named to the recorder
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
}

// ThreadExit ends a thread.
type ThreadExit struct {
	Thread ThreadID
}

// ThreadState is a snapshot taken at an end of the recording: the thread has been
// off its CPU since Since (NoTime: since before the recording), in Syscall.
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
	CPU       int64  // where it runs again
	Syscall   string // name; "" outside any (page fault, preemption)
	Arg       int64  // first argument of the syscall: an fd, a futex address
	Timed     int64  // 1: the wait had a time limit
	Goroutine GoroutineID
	Counter   int64     // Node: last async id given out when it went off; 0 unknown
	SP        int64     // user stack pointer when it went off; 0 unknown
	Owner     ThreadID  // of the glibc mutex it waits for, as the mutex said when it went off
	Ran       int64     // ns of CPU it used, by the scheduler's clock, since it last came back; 0 unknown
	File      FileID    // that it slept for; NoFile none, or not known
	Minor     int64     // page faults since it last came back, as counted when they were over
	Major     int64     // of them those that read from storage
	Fetched   int64     // bytes it had read from storage since, not from the page cache
	In        int64     // bytes that its reads returned since, of files, sockets and pipes alike
	Out       int64     // bytes that its writes took since
	Context   ContextID // Python: in which Waker made the futex wake
}

// File declares a regular file when a thread first waits for it, and tells its size when
// one does so later, about once a second. Its directory is not kept.
type File struct {
	ID   FileID
	Name string // the end of its path; what may be an identifier is {}; "" unknown
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
	Thread    ThreadID // who called connect; of an Inbound one that is older than the recording, who used it before anything was seen to come; else NoThread
	Goroutine GoroutineID
	Parent    GoroutineID // the goroutine that started Goroutine
	Local     string      // address and port, or the path of a Unix socket: @ and an abstract name, @ alone if it has none
	Peer      string      // as Local
	Existing  int64       // 1: open before the recording
	Exec      int64       // Node's async ids at connect, see Chunk
	Trigger   int64
	Counter   int64
	Before    ConnID // what it was called before recording paused; NoConn: it was not known
	Context   ContextID
	RoundTrip int64 // of one open before the recording: the least that a way to the peer and back took of late, ns; 0: not known
}

// Established says that an Outbound connect succeeded.
type Established struct {
	Conn ConnID
}

// Closed ends a connection. By says who closed first.
type Closed struct {
	Conn   ConnID
	By     Closer
	Thread ThreadID // ours that closed it; NoThread if the peer or nobody known
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
	Offset    int64 // bytes that went this way before it
	Bytes     int64 // 0 for a Read that met the end of the stream
	Arrived   Time  // reads: when its first byte reached the socket; NoTime unknown
	Last      Time  // reads: when its last byte reached the socket
	Merged    int64 // 1: arrival stamps had to be merged; they may be too early
	First     Time  // when the first of them returned; equals the event's Time for one
	Goroutine GoroutineID
	Exec      int64     // Node: execution async id, 0 none
	Trigger   int64     // Node: trigger async id
	Counter   int64     // Node: last async id given out
	Context   ContextID // Python: in which it was made
	Contexts  int64     // Python: number of the last context that had been copied in the process; 0: they are not numbered
}

// HTTPRequest is the head of an HTTP/1.1 request found in the Chunks of its
// connection. Time is that of the Chunk in which it began; Offset is the position of
// its first byte in that direction. Nothing else of the message is kept. On a connection
// that speaks TLS it is what was encrypted: Offset is that of the record in which it
// begins, Head and Length count bytes before they were encrypted.
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

// TLS is what one TLS record's header, and the plain part of a handshake, tell.
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

// Frame declares one place in code. What a runtime does not tell is empty or 0.
type Frame struct {
	ID       FrameID
	Type     FrameType
	Function string // with its class, package or module where the runtime tells
	File     string // of the source
	Line     int64  // in File
	Module   string // native: base name of the executable or library; Go: the main module, of its code, where File has a version of it
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

// Missing says that something could not be observed, and why, in one sentence.
type Missing struct {
	What  string // stable code, see docs
	Why   string
	Count int64
	Timed int64 // 1: it was so in the spans that Unseen facts tell of, and in no others
}

// Command is one command of a protocol other than HTTP whose commands are answered in
// order, found in the Chunks of an Outbound connection: a Redis command; in PostgreSQL
// what is answered by one ReadyForQuery. Time is that of the Chunk in which it began;
// Offset is the position of its first byte. Keys, values and texts are not kept.
type Command struct {
	Conn      ConnID
	Offset    int64
	Length    int64  // bytes; 0 if its end was not seen
	Operation string // the command's name or the verb, in upper case; "" if unknown
	Target    string // SQL: the table, digits as {}; "" if none or unknown
}

// Reply is the answer to the oldest Command of its connection that has none yet.
type Reply struct {
	Conn        ConnID
	Offset      int64
	Length      int64 // bytes; 0 if its end was not seen
	Outcome     Outcome
	Code        string // of an error: SQLSTATE, or the first word of Redis's
	Operation   string // SQL: the verb that was done, as the server says it
	Transaction Transaction
	Skipped     int64 // Commands before that whose replies could not be told apart
}

// Datagram is one datagram that a thread sent to a telemetry daemon, over UDP or a Unix
// socket. Time is when the call that sent it returned. No name or value of it is kept.
type Datagram struct {
	Thread    ThreadID
	Goroutine GoroutineID
	Protocol  Protocol
	Peer      string // address and port, or the path of the Unix socket; @ if it has none
	Bytes     int64
	Messages  int64 // metrics or log lines in what was captured of it: at least so many
}

// Goroutine declares a goroutine of Go, when it was first seen to do something, and
// the one that started it. Numbers are not reused within a process.
type Goroutine struct {
	Process ProcessID
	ID      GoroutineID
	Parent  GoroutineID // NoGoroutine: not known
}

// GoCall says that a goroutine handed a request to a connection of net/http's pool,
// whose own goroutines write the request and read the answer. It waits meanwhile.
type GoCall struct {
	Conn      ConnID
	Thread    ThreadID
	Goroutine GoroutineID
}

// GoRun says that a goroutine begins to run on a thread, in the place of any other, or
// has to give up its thread.
type GoRun struct {
	Thread    ThreadID
	Goroutine GoroutineID
	Yields    int64 // 1: it gives up its thread, and could have run on
}
