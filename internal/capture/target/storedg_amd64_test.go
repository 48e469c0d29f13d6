package target

import "syscall"

// storedG returns Go's g of a thread, read relative to its thread pointer.
func storedG(r syscall.PtraceRegs, from func(base uint64) uint64) uint64 { return from(r.Fs_base) }
