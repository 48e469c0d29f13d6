// Package processor contains what differs between processors: the numbers of system calls, and the interpretation of
// machine code of Go and of C. All of it is pure and works on every host. Its counterpart in the kernel is
// bpf/arch.h.
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
	Name   string // as in the recording's manifest: Go's GOARCH
	ELF    elf.Machine
	GoCode GoCode
	CCode  CCode

	syscall func(nr int) string
}

// GoCode reads the machine code of Go functions.
type GoCode struct {
	// Apart returns where, relative to its beginning, a function returns. It also returns its direct calls: by
	// position, where the called function begins. It stops at the first instruction that it does not understand.
	Apart func(code []byte) (returns []int, calls map[int]int64)
	// CallLength is the length of a direct call, in bytes.
	CallLength uint64
	// ProbeAt returns the best offset for a probe in a function: there its arguments are still in their registers,
	// the probe is cheap, and it is hit only once if the function is restarted on a larger stack.
	ProbeAt func(code []byte) uint64
	// FirstRead returns the address of the first 32-bit value that code loads from a fixed place; 0 if there is none.
	// The code begins at address.
	FirstRead func(code []byte, address uint64) uint64
}

// CCode reads the machine code of C functions.
type CCode struct {
	// Calls lists the targets of direct calls and jumps, relative to the beginning of code.
	Calls func(code []byte) []int64
	// StubSlot returns where a stub, through which a file calls a function of another file, finds the address to
	// which it jumps; 0 if the code at an address is not a stub.
	StubSlot func(code []byte, address uint64) uint64
	// StubStep is the minimum distance of stubs, in bytes.
	StubStep uint64
}

func all() []Processor {
	return []Processor{
		{"amd64", elf.EM_X86_64, GoCode{x86.Apart, x86.CallLength, x86.ProbeAt, x86.FirstRead}, CCode{x86.Calls, x86.StubSlot, x86.StubStep}, x86.Syscall},
		{"arm64", elf.EM_AARCH64, GoCode{arm64.Apart, arm64.CallLength, arm64.ProbeAt, arm64.FirstRead}, CCode{arm64.Calls, arm64.StubSlot, arm64.StubStep}, arm64.Syscall},
	}
}

// Of returns the processor for which a file's code is made.
func Of(file *elf.File) (Processor, error) {
	for _, m := range all() {
		if m.ELF == file.Machine {
			return m, nil
		}
	}
	return Processor{}, fmt.Errorf("code for %v is not known (x86-64 and arm64 are)", file.Machine)
}

// Known reports whether dwell can record on a processor, given Go's name for it.
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

// SyscallName returns the name of a system call of this host: "" for -1, its number if it is not in the table.
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
