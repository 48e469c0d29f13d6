package waits

// fileSyscall reports system calls that read or write a socket as well as any other
// kind of file.
func fileSyscall(name string) bool {
	switch name {
	case "read", "readv", "write", "writev":
		return true
	}
	return false
}

// futexSyscall reports system calls in which threads wait for each other.
func futexSyscall(name string) bool {
	return name == "futex" || name == "futex_waitv" || name == "futex_wait"
}
