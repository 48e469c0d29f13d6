package timeline

import "strings"

// Poll is how a thread waits for its sockets.
type Poll struct {
	Syscall  string // "" if it was never seen to
	Instance int64  // the epoll instance, by its number; 0 not known
}

// Has reports whether a sleep waits for whatever arrives on the thread's sockets. All epoll system calls count as one.
// At another epoll instance the thread waits for something of its own, such as a program that it started.
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

// Waits reports whether the thread waits in an interval for whatever arrives on its sockets.
func (p Poll) Waits(iv Interval) bool {
	return iv.State == StateSleeping && iv.Off != nil && PollWait(iv.Off.Syscall) && p.Has(iv.Off)
}

// Aside reports whether a sleep is in epoll, but at another instance.
func (p Poll) Aside(off *Off) bool {
	return inEpoll(p.Syscall) && inEpoll(off.Syscall) && p.apart(off)
}

func (p Poll) apart(off *Off) bool { return p.Instance != 0 && off.Arg != 0 && off.Arg != p.Instance }

func inEpoll(syscall string) bool { return strings.HasPrefix(syscall, "epoll_") }

// OwnPoll determines how a thread waits for its sockets. Of the system calls that wait for several files it picks the
// one that the thread sleeps in most often, but prefers any epoll call: clients that block inside a callback use poll
// and select. Of several epoll instances it picks the one after whose sleeps the thread reads from connections most
// often, or else the one at which it sleeps most often.
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

// ownInstance returns the epoll instance at which a thread waits for its connections, of those in asleep, which counts
// its sleeps at each.
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
