//go:build linux && (amd64 || arm64)

package capture

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// politeness is the nice value (0 to 19) of work that can wait. If processors are scarce, it gets a tenth of what the
// service's threads get.
const politeness = 10

// haste is the nice value of work that a recording cannot delay: getting ready, which usually takes a second,
// emptying the buffer, and ending. With four threads per processor it still gets 43 % of one processor. That is
// bounded, because only one thread at a time gets ready.
const haste = -5

// promptly runs a function on a thread with high priority, as far as permitted: without CAP_SYS_NICE the thread has
// no priority.
func promptly(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()                                        // never unlocked: the thread ends with the goroutine, and its priority with it
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), haste) // if not permitted, the priority stays
		do()
	}()
	<-done
}

// StandBack lets all other processes go first from now on. Call it when all sessions are closed and the remaining
// work can wait.
func StandBack() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // the priority stays
	}
	for _, thread := range threads {
		if id, err := strconv.Atoi(thread.Name()); err == nil {
			standBack(id)
		}
	}
}

// standBack lowers a thread's priority, unless the caller of dwell has already lowered it.
func standBack(thread int) {
	const lowest = 20 // the system call returns this minus the nice value
	if raw, err := unix.Getpriority(unix.PRIO_PROCESS, thread); err == nil && lowest-raw < politeness {
		_ = unix.Setpriority(unix.PRIO_PROCESS, thread, politeness) // the thread has ended, or this is not permitted: the priority stays
	}
}
