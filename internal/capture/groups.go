//go:build linux && (amd64 || arm64)

package capture

import (
	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/recording"
)

// group is a feature of a recording with the programs that implement it, which are loaded and unloaded together. The
// kernel may refuse any of them; then the next way is tried. If all ways fail, the recording continues and reports
// what it lacks, unless the group is needed.
type group struct {
	name   string
	hooks  []string // that a recording lacks without it; the first is the one whose facts are lost if the kernel skips a program
	needed bool
	rests  bool       // detached while recording pauses
	ways   [][]string // programs by name: the best way first
	lacks  string     // what is not known without it
	less   string     // what is not known even with it, or what it costs
	worse  string     // the same for any way but the best
}

// recorderGroups are the groups of dwell.bpf.c. They share the watched set and the state of threads and sockets.
func recorderGroups() []group { return append(threadGroups(), socketGroups()...) }

func one(programs ...string) [][]string { return [][]string{programs} }

func threadGroups() []group {
	return []group{
		{
			name: "scheduling", hooks: []string{recording.HookSched}, needed: true, rests: true,
			ways:  [][]string{{"sched_switch"}, {"sched_switch_stateless"}},
			lacks: "when threads run",
		}, {
			name: "processes", hooks: []string{recording.HookProcesses}, needed: true,
			ways: [][]string{
				{"process_fork", "process_exec", "process_exit"},
				{"process_fork_raw", "process_exec_raw", "process_exit_raw"},
			},
			lacks: "when threads and processes begin and end",
		}, {
			name: "wakings", hooks: []string{recording.HookWakings}, rests: true,
			ways: one("sched_waking"), lacks: "who wakes a thread, and how long it then waits for a processor",
		}, {
			name: "thread-names", ways: one("task_renamed"), lacks: "names that threads take while they are recorded",
		}, {
			name: "threads", ways: one("dump_tasks"), lacks: "threads that sleep all along, and what threads wait for that sleep when recording begins",
		}, {
			name: "python-contexts", hooks: []string{recording.HookContexts},
			ways: one("dump_bases"), lacks: "which task of asyncio runs",
		}, {
			name: "goroutine-samples", hooks: []string{recording.HookSamples},
			ways: one("sample"), lacks: "which goroutines run: what they wait for is told from running less well",
		}, {
			name: "node-timers", hooks: []string{recording.HookBoundaries},
			ways: one("run_timers", "check_immediate"), lacks: "when Node's loop runs timers: calls after them stay unassociated",
		},
	}
}

// socketGroups observe sockets. All of them use either the recorder's programs or the programs at the end of system
// calls.
func socketGroups() []group {
	return []group{
		{
			name: "reads", hooks: []string{recording.HookIO}, needed: true, rests: true,
			ways: [][]string{{"received"}, receivedByFunctions()}, lacks: "what is read from sockets",
		}, {
			name: "writes", hooks: []string{recording.HookIO}, needed: true,
			ways: [][]string{{"sent"}, append(sentByFunctions(), "sent_inet_sendpage"), sentByFunctions()}, lacks: "what is written to sockets",
		}, {
			name: "arrivals", hooks: []string{recording.HookArrivals, recording.HookLate}, rests: true,
			ways: [][]string{{"data_ready"}, {"data_readable"}}, lacks: "when data reaches sockets: what waits to be read is not told from what has not come",
		}, {
			name: "connections", hooks: []string{recording.HookSockets},
			ways: one("socket_state"), lacks: "when TCP connections begin and end: they are known once they are used",
		}, {
			name: "retransmissions", hooks: []string{recording.HookRetransmits}, rests: true,
			ways: one("retransmitted"), lacks: "segments that are sent again",
		}, {
			name: "open-connections", ways: one("adopt_flows"), lacks: "connections that are there when recording begins, until they are used",
		}, {
			name: "merged-transfers", ways: [][]string{{"flush_flows"}, {"flush_tcp", "flush_unix"}},
			lacks: "the last reads and writes of connections that transfer much",
		}, {
			name: "unix-ends", ways: [][]string{{"list_unix"}, {"list_unix_here"}},
			lacks: "when connections through Unix sockets end",
		},
	}
}

// receivedByFunctions are the programs that observe reads if there is no tracepoint for them.
func receivedByFunctions() []string {
	return []string{"received_inet_recvmsg", "received_inet6_recvmsg", "received_unix_stream_recvmsg"}
}

// sentByFunctions are the programs that observe writes if there is no tracepoint for them.
func sentByFunctions() []string {
	return []string{"sent_inet_sendmsg", "sent_inet6_sendmsg", "sent_unix_stream_sendmsg", "sent_unix_dgram_sendmsg"}
}

// storageGroups are the groups of storage.bpf.c.
func storageGroups() []group {
	return []group{
		{name: "page-faults", ways: [][]string{{"filemap_fault"}}, lacks: "the file that a page fault waits for"},
		{
			name: "mappings", hooks: []string{recording.HookMemory}, ways: [][]string{{"unmapped_area"}},
			lacks: "mappings that grow",
		}, {
			name: "address-space-locks", hooks: []string{recording.HookMemory}, ways: [][]string{{"lock_begin", "lock_end"}},
			lacks: "waits for the lock of an address space",
		}, {
			name: "syncs", hooks: []string{recording.HookSyncs}, ways: [][]string{{"sync_begin", "sync_end"}, {"ext4_sync_begin", "ext4_sync_end"}},
			lacks: "how long syncs of files take in all: of each only the sleeps are seen",
			worse: "how long syncs take in all of files that are not on ext4: of each only the sleeps are seen",
		}, {
			name: "block-devices", hooks: []string{recording.HookBlocks}, ways: [][]string{{"block_complete"}},
			lacks: "what block devices do",
		},
	}
}

// probeObject is a group of programs in an object of their own. They are loaded when a process is found for which
// they are made, and attached to its code.
type probeObject struct {
	group
	spec func() (*ebpf.CollectionSpec, error)
}

// stacksGroup is the profiler, which loads its programs itself.
const stacksGroup = "stacks"

// probeObjects are the groups of the other objects, except stacks.
func probeObjects() []probeObject {
	return []probeObject{
		{group{name: "tls-calls", hooks: []string{recording.HookTLSHeads}, lacks: "method and path of calls over TLS"}, loadTlsProbes},
		{group{name: "go-calls", hooks: []string{recording.HookGoCalls, recording.HookGoRuns}, lacks: "whose call it is that a pooled connection of Go carries, and where goroutines ran"}, loadGolang},
		{group{name: groupGoWaits, hooks: []string{recording.HookParks}, lacks: "what goroutines wait for, and who ends that"}, loadGolocks},
		{group{name: "python-copies", hooks: []string{recording.HookContexts}, lacks: "which task of asyncio made which"}, loadPython},
		{group{name: "python-queues", hooks: []string{recording.HookQueues}, lacks: "who put work into the queue of an executor"}, loadQueues},
		{group{name: "node-promises", hooks: []string{recording.HookBoundaries}, lacks: "which callback of Node resolved a promise"}, loadNode},
	}
}
