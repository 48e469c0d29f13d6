package timeline

import (
	"strings"

	"github.com/getdwell/dwell/recording"
)

const (
	// WakeLatency bounds the delay between data being ready and its reader being made runnable that is attributed to
	// the kernel itself.
	WakeLatency recording.Duration = 100_000
	// AfterRead is how soon after its thread is back a read or write returns.
	AfterRead recording.Time = 300_000
)

// NetworkWait reports whether a thread may wait for a socket in a system call.
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

// FutexWait reports whether a thread waits for another thread in a system call.
func FutexWait(syscall string) bool {
	return syscall == "futex" || syscall == "futex_wait" || syscall == "futex_waitv"
}

// PollWait reports whether a system call waits for any of several files, or for a time limit.
func PollWait(syscall string) bool {
	switch syscall {
	case "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2":
		return true
	}
	return false
}

// OnNoFile reports whether a sleep is a poll of no file at all, that is, a plain sleep.
func OnNoFile(off *Off) bool {
	return off.Arg == 0 && off.Timed == 1 && off.Syscall != "ppoll" && SleepsBy(off.Syscall)
}

// SleepsBy reports whether programs use a system call to sleep for a time, unless something arrives that the call waits
// for. Event loops wait in epoll for whatever arrives, and there an interrupt means that something arrived: epoll is
// excluded.
func SleepsBy(syscall string) bool {
	return PollWait(syscall) && !strings.HasPrefix(syscall, "epoll_")
}

// OwnPoll returns the system call in which a loop waits for its sockets. Of the calls that wait for several files it
// picks the one that the loop sleeps in most often, but prefers any epoll call: clients that block inside a callback
// use poll and select. It returns "" if the loop never slept in one.
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
