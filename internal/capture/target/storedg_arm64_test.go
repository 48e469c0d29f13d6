package target

import "syscall"

// storedG returns Go's g of a thread, which is in a register.
func storedG(r syscall.PtraceRegs, _ func(base uint64) uint64) uint64 { return r.Regs[28] }
