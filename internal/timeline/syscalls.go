package timeline

// NetworkWait reports syscalls in which a thread may wait for a socket.
func NetworkWait(syscall string) bool {
	switch syscall {
	case "read", "readv", "recvfrom", "recvmsg", "recvmmsg", "write", "writev", "sendto", "sendmsg", "sendmmsg",
		"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2",
		"connect", "accept", "accept4", "io_uring_enter":
		return true
	}
	return false
}

// PollWait reports syscalls that wait for any of several files, or for a time limit.
func PollWait(syscall string) bool {
	switch syscall {
	case "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2":
		return true
	}
	return false
}
