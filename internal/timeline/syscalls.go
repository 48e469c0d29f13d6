package timeline

import (
	"strings"

	"github.com/getdwell/dwell/recording"
)

const (
	// WakeLatency bounds the time between data being ready and its reader being made
	// runnable that is taken for the kernel's own way there.
	WakeLatency recording.Duration = 100_000
	// AfterRead is how soon after coming back a read or write returns.
	AfterRead recording.Time = 300_000
)

// NetworkWait reports syscalls in which a thread may wait for a socket.
func NetworkWait(syscall string) bool {
	switch syscall {
	case "read", "readv", "recvfrom", "recvmsg", "recvmmsg", "write", "writev", "sendto", "sendmsg", "sendmmsg",
		"connect", "accept", "accept4", "io_uring_enter":
		return true
	}
	return PollWait(syscall)
}

// SyncCalls are the system calls that wait until data is on a device.
var SyncCalls = []string{"fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range"}

// FutexWait reports syscalls in which a thread waits for another thread.
func FutexWait(syscall string) bool {
	return syscall == "futex" || syscall == "futex_wait" || syscall == "futex_waitv"
}

// PollWait reports syscalls that wait for any of several files, or for a time limit.
func PollWait(syscall string) bool {
	switch syscall {
	case "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2":
		return true
	}
	return false
}

// OnNoFile reports a poll of no file at all: a sleep.
func OnNoFile(off *Off) bool {
	return off.Arg == 0 && off.Timed == 1 && off.Syscall != "ppoll" && SleepsBy(off.Syscall)
}

// SleepsBy reports a system call by which programs sleep if nothing comes that it waits
// for. Loops wait in epoll, for whatever comes: an interrupt is something that came, there.
func SleepsBy(syscall string) bool {
	return PollWait(syscall) && !strings.HasPrefix(syscall, "epoll_")
}
