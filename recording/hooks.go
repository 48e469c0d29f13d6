package recording

// The hooks of the recorder, named in Manifest.Hooks if they were active. A hypothesis is undecided if it needs facts
// of a hook that was off.
const (
	HookSched       = "sched"       // Off, ThreadState
	HookWakings     = "wakings"     // Off.Woken and the waker: if one is lost, Woken is NoTime but no time off the CPU is lost
	HookProcesses   = "processes"   // Process, Exec, Thread and their exits
	HookSockets     = "sockets"     // Conn, Established, Closed, Listen, Backlog
	HookIO          = "io"          // Chunk and the heads found in them, Datagram
	HookArrivals    = "arrivals"    // Chunk.Arrived, Chunk.Last
	HookLate        = "late"        // Late
	HookRetransmits = "retransmits" // Retransmit
	HookDNS         = "dns"         // DNS
	HookTLS         = "tls"         // TLS
	HookTLSHeads    = "tls-heads"   // heads of encrypted requests: HTTPRequest on TLS connections
	HookGoroutines  = "goroutines"  // the Goroutine fields
	HookAsync       = "async"       // Node's async ids in Chunk and Conn
	HookContexts    = "contexts"    // the Context fields; Context, while its budget lasts
	HookQueues      = "queues"      // Taken, while its budget lasts
	HookBoundaries  = "boundaries"  // Boundary
	HookSamples     = "samples"     // Sample
	HookStacks      = "stacks"      // Frame, Stack, StackAt
	HookHost        = "host"        // Host
	HookStorage     = "storage"     // File; Minor to Out of Off; Memory
	HookMemory      = "memory"      // Mapping, MemoryWait
	HookSyncs       = "syncs"       // Sync
	HookBlocks      = "blocks"      // BlockIO
	HookGoCalls     = "go-calls"    // GoCall, while its budget lasts
	HookGoRuns      = "go-runs"     // GoRun, while its budget lasts
	HookParks       = "parks"       // Park, Unpark and Pause of Go, while its budget lasts
)
