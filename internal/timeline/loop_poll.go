package timeline

import "strings"

// Poll is what a thread waits for its sockets with.
type Poll struct {
	Syscall  string // "" if it was never seen to
	Instance int64  // of epoll, by its number; 0 not known
}

// Has reports a sleep for whatever comes to the thread's sockets. The system calls of epoll are
// one; at another instance of it a thread waits for something of its own, as for a program that
// it started.
func (p Poll) Has(off *Off) bool {
	switch of := inEpoll(p.Syscall); {
	case p.Syscall == "":
		return PollWait(off.Syscall)
	case of && inEpoll(off.Syscall):
		return !p.apart(off)
	default:
		return off.Syscall == p.Syscall
	}
}

// Aside reports a sleep in epoll at another instance than that.
func (p Poll) Aside(off *Off) bool {
	return inEpoll(p.Syscall) && inEpoll(off.Syscall) && p.apart(off)
}

func (p Poll) apart(off *Off) bool { return p.Instance != 0 && off.Arg != 0 && off.Arg != p.Instance }

func inEpoll(syscall string) bool { return strings.HasPrefix(syscall, "epoll_") }

// OwnPoll is what a thread waits for its sockets with: of system calls that wait for several, the
// one it sleeps in most often, but one of epoll before any other: clients that wait themselves, in
// a callback, use poll and select. Of instances of epoll it is the one after whose sleeps it reads
// from connections most often, else the one it sleeps at most often.
func OwnPoll(intervals []Interval, reads func(*Off) bool) Poll {
	times, asleep := map[string]int{}, map[int64]int{}
	own := Poll{}
	for _, iv := range intervals {
		if iv.Off == nil || iv.State == StateRunnable || !PollWait(iv.Off.Syscall) && iv.Off.Syscall != "io_uring_enter" {
			continue
		}
		name := iv.Off.Syscall
		times[name]++
		e, o := inEpoll(name), inEpoll(own.Syscall)
		if own.Syscall == "" || e && !o || e == o && times[name] > times[own.Syscall] {
			own.Syscall = name
		}
		if e && iv.Off.Arg != 0 {
			asleep[iv.Off.Arg]++
		}
	}
	if len(asleep) > 1 {
		own.Instance = ownInstance(intervals, asleep, reads)
	}
	return own
}

// ownInstance is the instance of epoll at which a thread waits for its connections, of those at
// which it slept so often.
func ownInstance(intervals []Interval, asleep map[int64]int, reads func(*Off) bool) (own int64) {
	read := map[int64]int{}
	for _, iv := range intervals {
		if iv.Off != nil && iv.State != StateRunnable && inEpoll(iv.Off.Syscall) && iv.Off.Arg != 0 && reads(iv.Off) {
			read[iv.Off.Arg]++
		}
	}
	for at, n := range asleep {
		if d := read[at] - read[own]; own == 0 || d > 0 || d == 0 && (n > asleep[own] || n == asleep[own] && at < own) {
			own = at
		}
	}
	return own
}
