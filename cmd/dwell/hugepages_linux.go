package main

import (
	"os"
	"runtime"
	"strings"
	"syscall"
)

// smallRecording is up to what size, in bytes, a recording is not worth the trouble.
const smallRecording = 2 << 20

// useHugePages asks the kernel to back memory that the analysis of a recording of so many
// bytes is going to use with huge pages, where it does that for those who ask only
// (/sys/kernel/mm/transparent_hugepage/enabled: madvise). Page faults are an eighth of the
// time of an analysis of half a million to a million facts otherwise, and less of larger ones.
// What is not used then is never made.
func useHugePages(stored int64) {
	if stored <= smallRecording || !mayReserve() {
		return
	}
	room := make([]byte, takes(stored))
	if syscall.Madvise(room, syscall.MADV_HUGEPAGE) != nil {
		return // pages stay small: it takes longer
	}
	runtime.GC() // what comes next is made in this room
}

// mayReserve reports whether memory may be asked for that may never be used.
func mayReserve() bool {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur < 1<<40 {
		return false
	}
	policy, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	return err == nil && strings.TrimSpace(string(policy)) != "2"
}
