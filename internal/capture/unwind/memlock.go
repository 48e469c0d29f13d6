//go:build linux && (amd64 || arm64)

package unwind

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RaiseMemlock makes sure that the profiler can raise this process's limit of locked memory, which it insists on
// whenever it creates a map. Call it while the process has the right to. Since Linux 5.11 the limit does not apply to
// maps and programs; if it cannot be raised, a filter lets the request succeed without effect.
func RaiseMemlock() error {
	unlimited := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	err := unix.Prlimit(0, unix.RLIMIT_MEMLOCK, &unlimited, nil)
	if err == nil {
		return nil // it is never lowered again: setting it to its current value needs no rights
	}
	if !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("raise the limit of locked memory: %w", err)
	}
	if err := answerPrlimit(); err != nil {
		return fmt.Errorf("the limit of locked memory cannot be raised: %w (ulimit -l unlimited)", err)
	}
	if err := unix.Prlimit(0, unix.RLIMIT_MEMLOCK, &unlimited, nil); err != nil {
		return fmt.Errorf("raise the limit of locked memory: %w (ulimit -l unlimited)", err)
	}
	return nil
}

// answerPrlimit installs a seccomp filter, for all threads of this process, that answers prlimit64(0, RLIMIT_MEMLOCK,
// a new limit, ...) with success.
func answerPrlimit() error {
	filter := memlockFilter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	install := func() unix.Errno {
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
			unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
		return errno
	}
	errno := install()
	if errno == unix.EACCES { // without CAP_SYS_ADMIN
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("prctl: %w", err)
		}
		errno = install()
	}
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// Offsets in struct seccomp_data, and the filter's results.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
	allowCall  = 0x7fff0000
	answerZero = 0x00050000
)

// auditArch is the kernel's name for the architecture for which dwell is built.
func auditArch() uint32 {
	if runtime.GOARCH == "arm64" {
		return unix.AUDIT_ARCH_AARCH64
	}
	return unix.AUDIT_ARCH_X86_64
}

func memlockFilter() []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		give  = unix.BPF_RET | unix.BPF_K
	)
	return []unix.SockFilter{
		{Code: load, K: dataArch},
		{Code: equal, K: auditArch(), Jf: 11},
		{Code: load, K: dataNumber},
		{Code: equal, K: unix.SYS_PRLIMIT64, Jf: 9},
		{Code: load, K: dataArgs}, // the process: 0 is this one
		{Code: equal, K: 0, Jf: 7},
		{Code: load, K: dataArgs + 8},
		{Code: equal, K: unix.RLIMIT_MEMLOCK, Jf: 5},
		{Code: load, K: dataArgs + 16}, // a new limit, or NULL: both halves of the pointer
		{Code: equal, K: 0, Jf: 2},
		{Code: load, K: dataArgs + 20},
		{Code: equal, K: 0, Jt: 1},
		{Code: give, K: answerZero},
		{Code: give, K: allowCall},
	}
}
