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

// OwnPoll is the system call in which a loop waits for its sockets: of those that wait for
// several, the one it sleeps in most often, but one of epoll before any other: clients that wait
// themselves, in a callback, use poll and select. "" if it never slept in one.
func (t *Timeline) OwnPoll(loop StrandID) string {
	times := map[string]int{}
	own := ""
	for _, iv := range t.Strands[loop].Intervals {
		if iv.Off == nil || iv.State == StateRunnable || !PollWait(iv.Off.Syscall) && iv.Off.Syscall != "io_uring_enter" {
			continue
		}
		name := iv.Off.Syscall
		times[name]++
		if e, o := strings.HasPrefix(name, "epoll_"), strings.HasPrefix(own, "epoll_"); own == "" || e && !o || e == o && times[name] > times[own] {
			own = name
		}
	}
	return own
}
