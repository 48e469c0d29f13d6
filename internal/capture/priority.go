//go:build linux && (amd64 || arm64)

package capture

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// politeness is the nice value (0 to 19) of work beside a service that can wait: where
// processors are scarce, it gets a tenth of what the service's threads get.
const politeness = 10

// haste is the nice value of what a recording cannot wait with: getting ready, which is a
// second's work at most times, emptying the buffer, and ending. Where four threads want
// each processor it is still given 43 % of one. That is bounded: one thread at a time gets ready.
const haste = -5

// promptly does something on a thread that is not kept waiting where processors are scarce,
// as far as that is permitted: without CAP_SYS_NICE it is one thread of many.
func promptly(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()                                        // for good: the thread ends here, and its priority with it
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), haste) // not permitted: as it was
		do()
	}()
	<-done
}

// StandBack lets everyone else go first from now on. Call it when all sessions are closed
// and what is left to do can wait.
func StandBack() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // all goes on as it was
	}
	for _, thread := range threads {
		if id, err := strconv.Atoi(thread.Name()); err == nil {
			standBack(id)
		}
	}
}

// standBack lowers a thread's priority, unless whoever started dwell has done so already.
func standBack(thread int) {
	const lowest = 20 // what the system call subtracts the nice value from
	if raw, err := unix.Getpriority(unix.PRIO_PROCESS, thread); err == nil && lowest-raw < politeness {
		_ = unix.Setpriority(unix.PRIO_PROCESS, thread, politeness) // the thread ended, or this may not be done: all goes on as it was
	}
}
