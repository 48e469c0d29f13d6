package recording

// Every enum is an int64 with a table of names. The text form and the schema of the binary form use these names.
type (
	// Side says who opened a connection, seen from the watched process.
	Side int64
	// Direction of bytes on a connection, seen from the watched process.
	Direction int64
	// Closer says who ended a connection first.
	Closer int64
	// OffState is why a thread left its CPU.
	OffState int64
	// Ahead is what had a CPU until a thread came back to it.
	Ahead int64
	// WakerKind classifies what made a thread runnable.
	WakerKind int64
	// Protocol is what the first bytes of a connection turned out to be.
	Protocol int64
	// Runtime is the language runtime of a process.
	Runtime int64
	// TLSRecord classifies one TLS record by its header and its position.
	TLSRecord int64
	// Tristate is a yes or no that may be unknown.
	Tristate int64
	// DNSPart is the half of a DNS exchange.
	DNSPart int64
	// FrameType is the language runtime a frame belongs to.
	FrameType int64
	// StackOrigin says on what occasion a stack was taken.
	StackOrigin int64
	// Outcome is the result of a command, as the beginning of its reply states it.
	Outcome int64
	// Transaction is the state of a database session after a reply.
	Transaction int64
)

// Sides.
const (
	Inbound  Side = iota // accepted by the watched process
	Outbound             // connected by the watched process
)

// Directions.
const (
	Read  Direction = iota // received by the watched process
	Write                  // sent by the watched process
)

// Closers.
const (
	ClosedUnknown Closer = iota
	ClosedByUs
	ClosedByPeer
	ClosedReset
	ClosedRefused // the connection never came up
)

// Off states.
const (
	OffSleep     OffState = iota // interruptible sleep
	OffDisk                      // uninterruptible sleep
	OffPreempted                 // still runnable: preempted or yielded
	OffOther                     // stopped, traced, parked, dead
)

// What had a CPU before a thread.
const (
	AheadUnknown Ahead = iota
	AheadIdle          // nothing: the CPU was idle
	AheadWatched       // a watched process
	AheadOther         // another program, or the kernel
)

// Waker kinds.
const (
	WakerNone      WakerKind = iota // no waking was seen
	WakerThread                     // a watched thread, named in Off.Waker
	WakerOther                      // a thread of another process
	WakerInterrupt                  // the idle task or an interrupt: timers, devices
)

// Protocols.
const (
	ProtocolUnknown Protocol = iota
	ProtocolHTTP1
	ProtocolHTTP2
	ProtocolTLS
	ProtocolOther // bytes were seen and match nothing dwell knows
	ProtocolRedis
	ProtocolPostgres
	ProtocolStatsD  // of datagrams
	ProtocolSyslog  // of datagrams
	ProtocolUDP     // exchanges over UDP about which nothing else is known
	ProtocolMySQL   // MariaDB's too
	ProtocolFastCGI // its requests are recorded as HTTP requests
)

// Runtimes.
const (
	RuntimeNative Runtime = iota
	RuntimeGo
	RuntimeNode
	RuntimePython
	RuntimeRuby
	RuntimeJVM
)

// TLS records.
const (
	TLSOther TLSRecord = iota
	TLSClientHello
	TLSServerHello
	TLSHandshake // any other handshake record, encrypted or not
	TLSChangeCipherSpec
	TLSAlert
	TLSApplication // type 23; in TLS 1.3 also encrypted handshake messages
)

// Tristates.
const (
	Unknown Tristate = iota
	Yes
	No
)

// DNS parts.
const (
	DNSQuery DNSPart = iota
	DNSAnswer
)

// Frame types.
const (
	FrameNative FrameType = iota
	FrameKernel
	FrameGo
	FrameJVM
	FramePython
	FrameRuby
	FrameV8
	FrameOther
)

// Stack origins.
const (
	StackOnCPU   StackOrigin = iota // a timer found the thread running
	StackBlocked                    // the thread left its CPU to wait
)

// Outcomes.
const (
	OutcomeUnknown Outcome = iota
	OutcomeOK
	OutcomeNone  // no error and no value: the key or row does not exist
	OutcomeError // the command failed
	OutcomeFatal // the command failed and the server ends the session
)

// Transactions.
const (
	TransactionUnknown Transaction = iota
	TransactionIdle                // none is open
	TransactionOpen
	TransactionFailed // open, and has to be rolled back
)

var (
	sideNames      = []string{"in", "out"}
	directionNames = []string{"read", "write"}
	closerNames    = []string{"unknown", "us", "peer", "reset", "refused"}
	offNames       = []string{"sleep", "disk", "preempted", "other"}
	aheadNames     = []string{"unknown", "idle", "watched", "other"}
	wakerNames     = []string{"none", "thread", "other", "interrupt"}
	protocolNames  = []string{"unknown", "http1", "http2", "tls", "other", "redis", "postgres", "statsd", "syslog", "udp", "mysql", "fastcgi"}
	runtimeNames   = []string{"native", "go", "node", "python", "ruby", "jvm"}
	tlsNames       = []string{"other", "client-hello", "server-hello", "handshake", "change-cipher-spec", "alert", "application"}
	tristateNames  = []string{"unknown", "yes", "no"}
	dnsNames       = []string{"query", "answer"}
	frameNames     = []string{"native", "kernel", "go", "jvm", "python", "ruby", "v8", "other"}
	originNames    = []string{"on-cpu", "blocked"}
	proxyNames     = []string{"connect", "socks4", "socks5"}

	outcomeNames     = []string{"unknown", "ok", "none", "error", "fatal"}
	transactionNames = []string{"unknown", "idle", "open", "failed"}
)

func enumName(names []string, v int64) string {
	if v < 0 || v >= int64(len(names)) {
		return "?"
	}
	return names[v]
}

// String returns the name used in the text form.
func (v Side) String() string { return enumName(sideNames, int64(v)) }

// String returns the name used in the text form.
func (v Direction) String() string { return enumName(directionNames, int64(v)) }

// String returns the name used in the text form.
func (v Closer) String() string { return enumName(closerNames, int64(v)) }

// String returns the name used in the text form.
func (v Ahead) String() string { return enumName(aheadNames, int64(v)) }

// String returns the name used in the text form.
func (v OffState) String() string { return enumName(offNames, int64(v)) }

// String returns the name used in the text form.
func (v WakerKind) String() string { return enumName(wakerNames, int64(v)) }

// SQL reports whether the protocol is that of a database with sessions, statements and transactions.
func (v Protocol) SQL() bool { return v == ProtocolPostgres || v == ProtocolMySQL }

// String returns the name used in the text form.
func (v Protocol) String() string { return enumName(protocolNames, int64(v)) }

// String returns the name used in the text form.
func (v Runtime) String() string { return enumName(runtimeNames, int64(v)) }

// String returns the name used in the text form.
func (v TLSRecord) String() string { return enumName(tlsNames, int64(v)) }

// String returns the name used in the text form.
func (v Tristate) String() string { return enumName(tristateNames, int64(v)) }

// String returns the name used in the text form.
func (v DNSPart) String() string { return enumName(dnsNames, int64(v)) }

// String returns the name used in the text form.
func (v FrameType) String() string { return enumName(frameNames, int64(v)) }

// String returns the name used in the text form.
func (v StackOrigin) String() string { return enumName(originNames, int64(v)) }

// String returns the name used in the text form.
func (v Outcome) String() string { return enumName(outcomeNames, int64(v)) }

// String returns the name used in the text form.
func (v Transaction) String() string { return enumName(transactionNames, int64(v)) }
