//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls are system calls that neither a recorder nor its helper makes: running programs, controlling
// processes, changing mounts, the kernel or the clock, entering namespaces, and opening network connections. It is
// not a list of allowed calls: an unexpected error from any other call could be taken for "not there", and silently
// make a recording wrong.
func refusedCalls() []uint32 {
	return []uint32{
		unix.SYS_EXECVE, unix.SYS_EXECVEAT, // first: see starting
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_USERFAULTFD,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_FSOPEN,
		unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_ACCT,
		unix.SYS_SETNS, unix.SYS_UNSHARE,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_IO_URING_SETUP, // it performs what the other calls are refused
	}
}

// starting is how many of them, at the beginning, are needed to start a program.
const starting = 2

// Offsets in struct seccomp_data, and the filter's results.
const (
	callNumber = 0
	callArch   = 4
	allowCall  = unix.SECCOMP_RET_ALLOW
	refuseCall = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	otherABI   = 0x40000000 // x32 on x86-64: the same calls under other numbers
)

// refuseCalls makes the kernel refuse these calls (EPERM) for all threads of this process from now on, and all calls
// that use the numbers of another architecture. Unlike capabilities, the kernel applies this without waiting for
// threads.
func refuseCalls(starts bool) error {
	calls := refusedCalls()
	if starts {
		calls = calls[starting:]
	}
	filter := callFilter(calls)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	failed, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	switch {
	case errno != 0:
		return fmt.Errorf("filter system calls: %w", errno)
	case failed != 0:
		return errors.New("filter system calls: a thread has another filter")
	}
	return nil
}

func callFilter(calls []uint32) []unix.SockFilter {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		beyond = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		give   = unix.BPF_RET | unix.BPF_K
	)
	arch := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	n := uint8(len(calls))
	filter := []unix.SockFilter{
		{Code: load, K: callArch},
		{Code: equal, K: arch, Jf: n + 3},
		{Code: load, K: callNumber},
		{Code: beyond, K: otherABI, Jt: n + 1},
	}
	for i, call := range slices.Clone(calls) {
		filter = append(filter, unix.SockFilter{Code: equal, K: call, Jt: n - uint8(i)})
	}
	return append(filter, unix.SockFilter{Code: give, K: allowCall}, unix.SockFilter{Code: give, K: refuseCall})
}
