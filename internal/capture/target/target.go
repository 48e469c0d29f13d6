// Package target describes the processes that dwell watches: what they are, what they listen on, and where their
// language runtime keeps the ids that associate kernel events with goroutines and asynchronous operations. It is the
// only reader of /proc. It never stops, traces or writes to the process that it describes.
package target

import (
	"errors"

	"github.com/getdwell/dwell/recording"
)

// Errors of this package are wrapped with the operation and a remedy; test for them with errors.Is.
var (
	// ErrNoProcess means that no such process exists, or that it ended meanwhile.
	ErrNoProcess = errors.New("no such process")
	// ErrZombie means that the process has ended and waits for its parent.
	ErrZombie = errors.New("the process has exited (zombie)")
	// ErrKernelThread means that the pid belongs to a kernel thread.
	ErrKernelThread = errors.New("the pid is a kernel thread")
	// ErrUnsupported means that dwell does not know this build of the runtime.
	ErrUnsupported = errors.New("unsupported runtime build")
	// ErrNotReady means that the runtime is not initialised far enough yet: try again.
	ErrNotReady = errors.New("the runtime has not started yet")
	// ErrReplaced means that a path leads to another file than the one that was read.
	ErrReplaced = errors.New("the file is another one by now (the process runs another program, or a library was replaced)")
)

// Process is one process, read once. It never contains arguments or environment.
type Process struct {
	PID     int
	Start   int64 // ns since boot, rounded down to the kernel's clock tick; see SameStart
	Parent  int   // pid of the parent
	Comm    string
	Exe     string // base name of the executable, "" if it cannot be read
	Runtime recording.Runtime
	Build   string // build id of the executable
	Version string // value of the variable that Files.Version names
	CPUs    int64  // processors that its first thread may use; 0 unknown
	Unsaid  error  // why Version is empty
	Unread  error  // why the runtime could not be read from the executable: it is beyond the size limits, or its file system does not answer
}

// Thread is one thread of a process, read once.
type Thread struct {
	TID     int
	Start   int64 // as Process.Start
	Name    string
	State   byte   // R, S, D, T, Z, ... as in /proc/PID/stat
	Syscall int    // number of the syscall it is blocked in, or -1
	Arg     uint64 // first argument of Syscall
}

// clockTick is the resolution of start times in /proc, in ns (USER_HZ is 100 on every architecture that dwell
// supports).
const clockTick = 10_000_000

// SameStart reports whether a start time of this package and one taken in the kernel (task_struct.start_boottime, ns)
// belong to the same task.
func SameStart(proc, kernel int64) bool { return proc/clockTick == kernel/clockTick }
