package build

import "github.com/getdwell/dwell/internal/timeline"

// fileSyscall reports system calls that read or write a socket as well as any other
// kind of file.
func fileSyscall(name string) bool {
	switch name {
	case "read", "readv", "write", "writev":
		return true
	}
	return false
}

// onNoFile reports a poll of no file at all: a sleep.
func onNoFile(off *timeline.Off) bool {
	switch off.Syscall {
	case "poll", "select", "pselect6":
		return off.Arg == 0 && off.Timed == 1
	}
	return false
}

// futexSyscall reports system calls in which threads wait for each other.
func futexSyscall(name string) bool {
	return name == "futex" || name == "futex_waitv" || name == "futex_wait"
}

// sleepsBy reports a system call by which programs sleep if nothing comes that it waits
// for. Loops wait in epoll, for whatever comes: an interrupt is something that came, there.
func sleepsBy(syscall string) bool {
	switch syscall {
	case "poll", "ppoll", "select", "pselect6":
		return true
	}
	return false
}
