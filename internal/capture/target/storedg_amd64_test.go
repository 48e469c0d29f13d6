package target

import "syscall"

// storedG is Go's g of a thread, by what is read from its thread pointer on.
func storedG(r syscall.PtraceRegs, from func(base uint64) uint64) uint64 { return from(r.Fs_base) }
