package timeline

import "strings"

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

// SamePoll reports whether a loop that polls with one system call waits for its sockets in
// another. Those of epoll are one.
func SamePoll(own, syscall string) bool {
	return own == "" || own == syscall || strings.HasPrefix(own, "epoll_") && strings.HasPrefix(syscall, "epoll_")
}
