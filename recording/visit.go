package recording

// Kind implements Fact.
func (*Manifest) Kind() Kind { return KindManifest }

// Visit implements Fact.
func (f *Manifest) Visit(v Visitor) {
	v.Str("tool", &f.Tool)
	v.Str("kernel", &f.Kernel)
	v.Str("arch", &f.Arch)
	v.Int("cpus", &f.CPUs)
	v.Str("hooks", &f.Hooks)
	v.Str("target", &f.Target)
}

// Kind implements Fact.
func (*Clock) Kind() Kind { return KindClock }

// Visit implements Fact.
func (f *Clock) Visit(v Visitor) {
	v.Int("wall", &f.Wall)
}

// Kind implements Fact.
func (*Loss) Kind() Kind { return KindLoss }

// Visit implements Fact.
func (f *Loss) Visit(v Visitor) {
	v.Str("hook", &f.Hook)
	v.Int("cpu", &f.CPU)
	v.Int("count", &f.Count)
	v.Int("from", (*int64)(&f.From))
}

// Kind implements Fact.
func (*Overhead) Kind() Kind { return KindOverhead }

// Visit implements Fact.
func (f *Overhead) Visit(v Visitor) {
	v.Int("user-cpu", &f.UserCPU)
	v.Int("bpf", &f.BPF)
	v.Int("rss", &f.RSS)
	v.Int("events", &f.Events)
}

// Kind implements Fact.
func (*Host) Kind() Kind { return KindHost }

// Visit implements Fact.
func (f *Host) Visit(v Visitor) {
	v.Int("busy", &f.Busy)
	v.Int("idle", &f.Idle)
	v.Int("running", &f.Running)
	v.Int("pressure", &f.Pressure)
	v.Int("throttled", &f.Throttled)
	v.Int("overflows", &f.Overflows)
}

// Kind implements Fact.
func (*End) Kind() Kind { return KindEnd }

// Visit implements Fact.
func (f *End) Visit(v Visitor) {
	v.Str("reason", &f.Reason)
}

// Kind implements Fact.
func (*Process) Kind() Kind { return KindProcess }

// Visit implements Fact.
func (f *Process) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Int("pid", &f.PID)
	v.Int("start", &f.Start)
	v.Int("parent", (*int64)(&f.Parent))
	v.Str("comm", &f.Comm)
	v.Str("exe", &f.Exe)
	v.Enum("runtime", runtimeNames, (*int64)(&f.Runtime))
}

// Kind implements Fact.
func (*Exec) Kind() Kind { return KindExec }

// Visit implements Fact.
func (f *Exec) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
	v.Str("comm", &f.Comm)
	v.Str("exe", &f.Exe)
	v.Enum("runtime", runtimeNames, (*int64)(&f.Runtime))
}

// Kind implements Fact.
func (*ProcessExit) Kind() Kind { return KindProcessExit }

// Visit implements Fact.
func (f *ProcessExit) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
}

// Kind implements Fact.
func (*Thread) Kind() Kind { return KindThread }

// Visit implements Fact.
func (f *Thread) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Int("tid", &f.TID)
	v.Int("start", &f.Start)
	v.Int("process", (*int64)(&f.Process))
	v.Int("creator", (*int64)(&f.Creator))
	v.Str("name", &f.Name)
}

// Kind implements Fact.
func (*ThreadExit) Kind() Kind { return KindThreadExit }

// Visit implements Fact.
func (f *ThreadExit) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
}

// Kind implements Fact.
func (*ThreadState) Kind() Kind { return KindThreadState }

// Visit implements Fact.
func (f *ThreadState) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Enum("state", offNames, (*int64)(&f.State))
	v.Int("since", (*int64)(&f.Since))
	v.Str("syscall", &f.Syscall)
	v.Int("on", &f.On)
}

// Kind implements Fact.
func (*Off) Kind() Kind { return KindOff }

// Visit implements Fact.
func (f *Off) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("since", (*int64)(&f.Since))
	v.Int("woken", (*int64)(&f.Woken))
	v.Enum("state", offNames, (*int64)(&f.State))
	v.Enum("waker-kind", wakerNames, (*int64)(&f.WakerKind))
	v.Int("waker", (*int64)(&f.Waker))
	v.Int("release", &f.Release)
	v.Int("cpu", &f.CPU)
	v.Str("syscall", &f.Syscall)
	v.Int("arg", &f.Arg)
	v.Int("timed", &f.Timed)
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("counter", &f.Counter)
	v.Int("sp", &f.SP)
	v.Int("owner", (*int64)(&f.Owner))
	v.Int("ran", &f.Ran)
	v.Int("file", (*int64)(&f.File))
	v.Int("minor", &f.Minor)
	v.Int("major", &f.Major)
	v.Int("fetched", &f.Fetched)
	v.Int("in", &f.In)
	v.Int("out", &f.Out)
}

// Kind implements Fact.
func (*File) Kind() Kind { return KindFile }

// Visit implements Fact.
func (f *File) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Str("name", &f.Name)
	v.Int("size", &f.Size)
}

// Kind implements Fact.
func (*Listen) Kind() Kind { return KindListen }

// Visit implements Fact.
func (f *Listen) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
	v.Int("port", &f.Port)
	v.Int("backlog", &f.Backlog)
}

// Kind implements Fact.
func (*Backlog) Kind() Kind { return KindBacklog }

// Visit implements Fact.
func (f *Backlog) Visit(v Visitor) {
	v.Int("port", &f.Port)
	v.Int("depth", &f.Depth)
	v.Int("limit", &f.Limit)
}

// Kind implements Fact.
func (*Conn) Kind() Kind { return KindConn }

// Visit implements Fact.
func (f *Conn) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Enum("side", sideNames, (*int64)(&f.Side))
	v.Int("process", (*int64)(&f.Process))
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("parent", (*int64)(&f.Parent))
	v.Str("local", &f.Local)
	v.Str("peer", &f.Peer)
	v.Int("existing", &f.Existing)
	v.Int("exec", &f.Exec)
	v.Int("trigger", &f.Trigger)
	v.Int("counter", &f.Counter)
}

// Kind implements Fact.
func (*Established) Kind() Kind { return KindEstablished }

// Visit implements Fact.
func (f *Established) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
}

// Kind implements Fact.
func (*Closed) Kind() Kind { return KindClosed }

// Visit implements Fact.
func (f *Closed) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Enum("by", closerNames, (*int64)(&f.By))
	v.Int("thread", (*int64)(&f.Thread))
}

// Kind implements Fact.
func (*ConnProtocol) Kind() Kind { return KindConnProtocol }

// Visit implements Fact.
func (f *ConnProtocol) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Enum("protocol", protocolNames, (*int64)(&f.Protocol))
}

// Kind implements Fact.
func (*Chunk) Kind() Kind { return KindChunk }

// Visit implements Fact.
func (f *Chunk) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("thread", (*int64)(&f.Thread))
	v.Enum("dir", directionNames, (*int64)(&f.Dir))
	v.Int("offset", &f.Offset)
	v.Int("bytes", &f.Bytes)
	v.Int("arrived", (*int64)(&f.Arrived))
	v.Int("last", (*int64)(&f.Last))
	v.Int("merged", &f.Merged)
	v.Int("first", (*int64)(&f.First))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("exec", &f.Exec)
	v.Int("trigger", &f.Trigger)
	v.Int("counter", &f.Counter)
}

// Kind implements Fact.
func (*HTTPRequest) Kind() Kind { return KindHTTPRequest }

// Visit implements Fact.
func (f *HTTPRequest) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("offset", &f.Offset)
	v.Int("head", &f.Head)
	v.Str("method", &f.Method)
	v.Str("route", &f.Route)
	v.Str("host", &f.Host)
	v.Str("operation", &f.Operation)
	v.Int("length", &f.Length)
	v.Int("close", &f.Close)
	v.Int("upgrade", &f.Upgrade)
}

// Kind implements Fact.
func (*HTTPResponse) Kind() Kind { return KindHTTPResponse }

// Visit implements Fact.
func (f *HTTPResponse) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("offset", &f.Offset)
	v.Int("head", &f.Head)
	v.Int("status", &f.Status)
	v.Int("length", &f.Length)
	v.Int("close", &f.Close)
	v.Int("upgrade", &f.Upgrade)
}

// Kind implements Fact.
func (*TLS) Kind() Kind { return KindTLS }

// Visit implements Fact.
func (f *TLS) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Enum("dir", directionNames, (*int64)(&f.Dir))
	v.Enum("record", tlsNames, (*int64)(&f.Record))
	v.Int("offset", &f.Offset)
	v.Int("bytes", &f.Bytes)
	v.Str("sni", &f.SNI)
	v.Int("version", &f.Version)
	v.Enum("resumed", tristateNames, (*int64)(&f.Resumed))
}

// Kind implements Fact.
func (*DNS) Kind() Kind { return KindDNS }

// Visit implements Fact.
func (f *DNS) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Enum("part", dnsNames, (*int64)(&f.Part))
	v.Int("id", &f.ID)
	v.Str("name", &f.Name)
	v.Str("type", &f.Type)
	v.Int("rcode", &f.Rcode)
	v.Str("addrs", &f.Addrs)
	v.Str("server", &f.Server)
	v.Int("arrived", (*int64)(&f.Arrived))
}

// Kind implements Fact.
func (*Sample) Kind() Kind { return KindSample }

// Visit implements Fact.
func (f *Sample) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
}

// Kind implements Fact.
func (*Frame) Kind() Kind { return KindFrame }

// Visit implements Fact.
func (f *Frame) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Enum("type", frameNames, (*int64)(&f.Type))
	v.Str("function", &f.Function)
	v.Str("file", &f.File)
	v.Int("line", &f.Line)
	v.Str("module", &f.Module)
}

// Kind implements Fact.
func (*Stack) Kind() Kind { return KindStack }

// Visit implements Fact.
func (f *Stack) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Int("caller", (*int64)(&f.Caller))
	v.Int("frame", (*int64)(&f.Frame))
}

// Kind implements Fact.
func (*StackAt) Kind() Kind { return KindStackAt }

// Visit implements Fact.
func (f *StackAt) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("stack", (*int64)(&f.Stack))
	v.Enum("origin", originNames, (*int64)(&f.Origin))
	v.Int("goroutine", (*int64)(&f.Goroutine))
}

// Kind implements Fact.
func (*Boundary) Kind() Kind { return KindBoundary }

// Visit implements Fact.
func (f *Boundary) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("exec", &f.Exec)
	v.Int("counter", &f.Counter)
	v.Str("what", &f.What)
}

// Kind implements Fact.
func (*Missing) Kind() Kind { return KindMissing }

// Visit implements Fact.
func (f *Missing) Visit(v Visitor) {
	v.Str("what", &f.What)
	v.Str("why", &f.Why)
	v.Int("count", &f.Count)
}

// Kind implements Fact.
func (*Command) Kind() Kind { return KindCommand }

// Visit implements Fact.
func (f *Command) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("offset", &f.Offset)
	v.Int("length", &f.Length)
	v.Str("operation", &f.Operation)
	v.Str("target", &f.Target)
}

// Kind implements Fact.
func (*Reply) Kind() Kind { return KindReply }

// Visit implements Fact.
func (f *Reply) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("offset", &f.Offset)
	v.Int("length", &f.Length)
	v.Enum("outcome", outcomeNames, (*int64)(&f.Outcome))
	v.Str("code", &f.Code)
	v.Str("operation", &f.Operation)
	v.Enum("transaction", transactionNames, (*int64)(&f.Transaction))
	v.Int("skipped", &f.Skipped)
}

// Kind implements Fact.
func (*Datagram) Kind() Kind { return KindDatagram }

// Visit implements Fact.
func (f *Datagram) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Enum("protocol", protocolNames, (*int64)(&f.Protocol))
	v.Str("peer", &f.Peer)
	v.Int("bytes", &f.Bytes)
	v.Int("messages", &f.Messages)
}

// Kind implements Fact.
func (*Goroutine) Kind() Kind { return KindGoroutine }

// Visit implements Fact.
func (f *Goroutine) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
	v.Int("id", (*int64)(&f.ID))
	v.Int("parent", (*int64)(&f.Parent))
}

// Kind implements Fact.
func (*GoCall) Kind() Kind { return KindGoCall }

// Visit implements Fact.
func (f *GoCall) Visit(v Visitor) {
	v.Int("conn", (*int64)(&f.Conn))
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
}

// Kind implements Fact.
func (*GoRun) Kind() Kind { return KindGoRun }

// Visit implements Fact.
func (f *GoRun) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("yields", &f.Yields)
}
