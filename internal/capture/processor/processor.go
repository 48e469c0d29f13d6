// Package processor is what differs between processors: the numbers of system calls, and what
// machine code of Go and of C tells. All of it is pure, and works on every host. Its
// counterpart in the kernel is bpf/arch.h.
package processor

import (
	"debug/elf"
	"fmt"
	"runtime"
	"strconv"

	"github.com/getdwell/dwell/internal/capture/processor/arm64"
	"github.com/getdwell/dwell/internal/capture/processor/x86"
)

// Processor is one kind of processor.
type Processor struct {
	Name   string // as in the address of a recording's manifest: of Go's GOARCH
	ELF    elf.Machine
	GoCode GoCode
	CCode  CCode

	syscall func(nr int) string
}

// GoCode reads the machine code of functions of Go.
type GoCode struct {
	// Apart finds where, from its beginning, a function returns, and by where it calls a
	// function directly, where that begins; up to an instruction that is not understood.
	Apart func(code []byte) (returns []int, calls map[int]int64)
	// CallLength is that of a direct call, in bytes.
	CallLength uint64
	// ProbeAt is how far from its beginning a function is probed best: while its arguments are
	// in their registers, cheaply, and once where it is begun again on a larger stack.
	ProbeAt func(code []byte) uint64
	// FirstRead is the address of the first 32 bits that code, which begins at an address,
	// loads from a place that is fixed; 0 if it loads none.
	FirstRead func(code []byte, address uint64) uint64
}

// CCode reads the machine code of functions of C.
type CCode struct {
	// Calls lists where, from the beginning of code, it calls and jumps to directly.
	Calls func(code []byte) []int64
	// StubSlot is where a stub, with which a file calls a function of another file, finds the
	// address that it jumps to; 0 if the code at an address is no stub.
	StubSlot func(code []byte, address uint64) uint64
	// StubStep is how far stubs are apart at least, in bytes.
	StubStep uint64
}

func all() []Processor {
	return []Processor{
		{"amd64", elf.EM_X86_64, GoCode{x86.Apart, x86.CallLength, x86.ProbeAt, x86.FirstRead}, CCode{x86.Calls, x86.StubSlot, x86.StubStep}, x86.Syscall},
		{"arm64", elf.EM_AARCH64, GoCode{arm64.Apart, arm64.CallLength, arm64.ProbeAt, arm64.FirstRead}, CCode{arm64.Calls, arm64.StubSlot, arm64.StubStep}, arm64.Syscall},
	}
}

// Of returns the processor that a file's code is for.
func Of(file *elf.File) (Processor, error) {
	for _, m := range all() {
		if m.ELF == file.Machine {
			return m, nil
		}
	}
	return Processor{}, fmt.Errorf("code for %v is not known (x86-64 and arm64 are)", file.Machine)
}

// Known reports whether dwell can record on a processor, by Go's name.
func Known(name string) bool {
	_, ok := byName(name)
	return ok
}

func byName(name string) (Processor, bool) {
	for _, m := range all() {
		if m.Name == name {
			return m, true
		}
	}
	return Processor{}, false
}

// SyscallName names a system call of this host; "" for -1, its number where the table ends.
func SyscallName(nr int32) string {
	if nr < 0 {
		return ""
	}
	if m, ok := byName(runtime.GOARCH); ok {
		if name := m.syscall(int(nr)); name != "" {
			return name
		}
	}
	return "syscall-" + strconv.Itoa(int(nr))
}
