package timeline

import (
	"slices"

	"github.com/getdwell/dwell/recording"
)

const (
	// wakeLatency bounds the time between data being ready and its reader being made
	// runnable that is taken for the kernel's own way there.
	wakeLatency Duration = 100_000
	// gilWait bounds one timed wait for CPython's interpreter lock: it asks again
	// every 5 ms.
	gilWait Duration = 8_000_000
	// gilSpan is the reach of the lock's own state around the word it is waited on.
	gilSpan = 256
)

// waits tells what sleeping threads wait for.
type waits struct {
	process []recording.ProcessID // by strand
	gil     map[recording.ProcessID][]int64
}

// newWaits looks for the interpreter locks of Python processes: futex words on which
// at least two threads wait, always with a time limit and never long.
func newWaits(t *Timeline, f *facts) *waits {
	w := &waits{gil: map[recording.ProcessID][]int64{}}
	type word struct {
		process recording.ProcessID
		addr    int64
	}
	type use struct {
		thread recording.ThreadID
		shared bool
		long   bool
	}
	uses := map[word]*use{}
	var order []word
	for i := range f.threads {
		th := &f.threads[i]
		if f.runtime(th.process) != recording.RuntimePython {
			continue
		}
		for _, s := range th.steps {
			if s.off == nil || s.off.Syscall != "futex" {
				continue
			}
			k := word{th.process, s.off.Arg}
			u := uses[k]
			if u == nil {
				u = &use{thread: th.id}
				uses[k] = u
				order = append(order, k)
			}
			u.shared = u.shared || u.thread != th.id
			woken := s.off.Woken
			if woken == recording.NoTime {
				woken = s.at
			}
			u.long = u.long || s.off.Timed != 1 || woken.Sub(s.off.Since) > gilWait
		}
	}
	for _, k := range order {
		if u := uses[k]; u.shared && !u.long {
			w.gil[k.process] = append(w.gil[k.process], k.addr)
		}
	}
	for i := range t.Strands {
		w.process = append(w.process, t.Strands[i].Process)
	}
	return w
}

// interpreterLock reports whether a sleep waits for the interpreter lock: on its word,
// or on one of the words beside it.
func (w *waits) interpreterLock(s StrandID, off *recording.Off) bool {
	if off == nil || off.Syscall != "futex" {
		return false
	}
	return slices.ContainsFunc(w.gil[w.process[s]], func(a int64) bool {
		return off.Arg >= a-gilSpan && off.Arg <= a+gilSpan
	})
}

// networkWait reports syscalls in which a thread may wait for a socket.
func networkWait(syscall string) bool {
	switch syscall {
	case "read", "readv", "recvfrom", "recvmsg", "recvmmsg", "write", "writev", "sendto", "sendmsg", "sendmmsg",
		"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2",
		"connect", "accept", "accept4", "io_uring_enter":
		return true
	}
	return false
}

// pollWait reports syscalls that wait for any of several files, or for a time limit.
func pollWait(syscall string) bool {
	switch syscall {
	case "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2":
		return true
	}
	return false
}

// sleep tells why a strand slept, from the fact about that sleep alone.
func (w *waits) sleep(s StrandID, iv Interval) (Cause, Quality) {
	off := iv.Off
	if off == nil {
		return CauseUnknown, Inferred
	}
	if off.Syscall == "" {
		return CausePageFault, Inferred
	}
	if iv.State == StateDisk {
		return CauseDisk, Exact
	}
	switch off.Syscall {
	case "nanosleep", "clock_nanosleep":
		return CauseSleep, Exact
	case "futex", "futex_waitv", "futex_wait":
		if w.interpreterLock(s, off) {
			return CauseInterpreterLock, Inferred
		}
		return CauseCondition, Inferred
	case "fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range":
		return CauseDisk, Exact
	case "flock":
		return CauseLock, Exact
	case "wait4", "waitid":
		return CauseIPC, Exact
	case "poll", "select", "pselect6":
		if off.Arg == 0 && off.Timed == 1 { // on no file at all
			return CauseSleep, Exact
		}
	}
	if pollWait(off.Syscall) && off.Timed == 1 && off.WakerKind == recording.WakerInterrupt {
		return CauseSleep, Inferred
	}
	return CauseUnknown, Inferred
}
