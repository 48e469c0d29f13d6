package recording

// Kind says which fact an event holds. The numbers are part of the binary form: append only, never renumber.
type Kind int64

// The kinds, one for each fact.
const (
	KindNone Kind = iota
	KindManifest
	KindClock
	KindLoss
	KindOverhead
	KindHost
	KindEnd
	KindProcess
	KindExec
	KindProcessExit
	KindThread
	KindThreadExit
	KindThreadState
	KindOff
	KindListen
	KindBacklog
	KindConn
	KindEstablished
	KindClosed
	KindConnProtocol
	KindChunk
	KindHTTPRequest
	KindHTTPResponse
	KindTLS
	KindDNS
	KindSample
	KindBoundary
	KindMissing
	KindFrame
	KindStack
	KindStackAt
	KindCommand
	KindReply
	KindDatagram
	KindFile
	KindGoroutine
	KindGoCall
	KindPark
	KindUnpark
	KindPause
	KindGoRun
	KindMapping
	KindMemoryWait
	KindBlockIO
	KindMemory
	KindGap
	KindUnseen
	KindLate
	KindContext
	KindTaken
	KindGoProcs
	KindNeighbour
	KindRetransmit
	KindTunnel
	KindSync
)

// KindSpec is one row of the table of kinds.
type KindSpec struct {
	Kind Kind
	Name string // in the text form and in the schema of the binary form
	New  func() Fact
}

// Kinds returns the table of all kinds, in order of their numbers.
func Kinds() []KindSpec {
	return []KindSpec{
		{KindManifest, "manifest", func() Fact { return new(Manifest) }},
		{KindClock, "clock", func() Fact { return new(Clock) }},
		{KindLoss, "loss", func() Fact { return new(Loss) }},
		{KindOverhead, "overhead", func() Fact { return new(Overhead) }},
		{KindHost, "host", func() Fact { return new(Host) }},
		{KindEnd, "end", func() Fact { return new(End) }},
		{KindProcess, "process", func() Fact { return new(Process) }},
		{KindExec, "exec", func() Fact { return new(Exec) }},
		{KindProcessExit, "process-exit", func() Fact { return new(ProcessExit) }},
		{KindThread, "thread", func() Fact { return new(Thread) }},
		{KindThreadExit, "thread-exit", func() Fact { return new(ThreadExit) }},
		{KindThreadState, "thread-state", func() Fact { return new(ThreadState) }},
		{KindOff, "off", func() Fact { return new(Off) }},
		{KindListen, "listen", func() Fact { return new(Listen) }},
		{KindBacklog, "backlog", func() Fact { return new(Backlog) }},
		{KindConn, "conn", func() Fact { return new(Conn) }},
		{KindEstablished, "established", func() Fact { return new(Established) }},
		{KindClosed, "closed", func() Fact { return new(Closed) }},
		{KindConnProtocol, "conn-protocol", func() Fact { return new(ConnProtocol) }},
		{KindChunk, "chunk", func() Fact { return new(Chunk) }},
		{KindHTTPRequest, "http-request", func() Fact { return new(HTTPRequest) }},
		{KindHTTPResponse, "http-response", func() Fact { return new(HTTPResponse) }},
		{KindTLS, "tls", func() Fact { return new(TLS) }},
		{KindDNS, "dns", func() Fact { return new(DNS) }},
		{KindSample, "sample", func() Fact { return new(Sample) }},
		{KindBoundary, "boundary", func() Fact { return new(Boundary) }},
		{KindMissing, "missing", func() Fact { return new(Missing) }},
		{KindFrame, "frame", func() Fact { return new(Frame) }},
		{KindStack, "stack", func() Fact { return new(Stack) }},
		{KindStackAt, "stack-at", func() Fact { return new(StackAt) }},
		{KindCommand, "command", func() Fact { return new(Command) }},
		{KindReply, "reply", func() Fact { return new(Reply) }},
		{KindDatagram, "datagram", func() Fact { return new(Datagram) }},
		{KindFile, "file", func() Fact { return new(File) }},
		{KindGoroutine, "goroutine", func() Fact { return new(Goroutine) }},
		{KindGoCall, "go-call", func() Fact { return new(GoCall) }},
		{KindPark, "park", func() Fact { return new(Park) }},
		{KindUnpark, "unpark", func() Fact { return new(Unpark) }},
		{KindPause, "pause", func() Fact { return new(Pause) }},
		{KindGoRun, "go-run", func() Fact { return new(GoRun) }},
		{KindMapping, "mapping", func() Fact { return new(Mapping) }},
		{KindMemoryWait, "memory-wait", func() Fact { return new(MemoryWait) }},
		{KindBlockIO, "block-io", func() Fact { return new(BlockIO) }},
		{KindMemory, "memory", func() Fact { return new(Memory) }},
		{KindGap, "gap", func() Fact { return new(Gap) }},
		{KindUnseen, "unseen", func() Fact { return new(Unseen) }},
		{KindLate, "late", func() Fact { return new(Late) }},
		{KindContext, "context", func() Fact { return new(Context) }},
		{KindTaken, "taken", func() Fact { return new(Taken) }},
		{KindGoProcs, "go-procs", func() Fact { return new(GoProcs) }},
		{KindNeighbour, "neighbour", func() Fact { return new(Neighbour) }},
		{KindRetransmit, "retransmit", func() Fact { return new(Retransmit) }},
		{KindTunnel, "tunnel", func() Fact { return new(Tunnel) }},
		{KindSync, "sync", func() Fact { return new(Sync) }},
	}
}
