package main

import (
	"os"
	"runtime"
	"strings"
	"syscall"
)

// smallRecording is the size, in bytes, up to which huge pages are not worth the cost.
const smallRecording = 2 << 20

// useHugePages asks the kernel for huge pages for the memory that the analysis of a recording of stored bytes will
// use. This matters if the kernel uses huge pages only on request (/sys/kernel/mm/transparent_hugepage/enabled:
// madvise). Otherwise page faults take an eighth of the time of an analysis of half a million to a million facts, and
// less of larger ones. Pages that are not used are never allocated.
func useHugePages(stored int64) {
	if stored <= smallRecording || !mayReserve() {
		return
	}
	room := make([]byte, takes(stored))
	if syscall.Madvise(room, syscall.MADV_HUGEPAGE) != nil {
		return // pages stay small, and the analysis takes longer
	}
	runtime.GC() // later allocations use this space
}

// mayReserve reports whether it is acceptable to reserve memory that may never be used.
func mayReserve() bool {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur < 1<<40 {
		return false
	}
	policy, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	return err == nil && strings.TrimSpace(string(policy)) != "2"
}
