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

// politely does something on a thread that lets others go first. The kernel checks the
// programs that record for a second or two, which a service would feel. What takes locks
// of a watched process must not be done so: that process would wait for it as long.
func politely(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends here, and its priority with it
		standBack(unix.Gettid())
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
