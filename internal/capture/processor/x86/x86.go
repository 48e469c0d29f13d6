// Package x86 interprets x86-64 code, and has the numbers of its system calls.
package x86

import (
	"bytes"

	"golang.org/x/arch/x86/x86asm"
)

// Syscall returns the name of a system call; "" if it is not in the table.
func Syscall(nr int) string {
	if nr >= len(syscalls) {
		return ""
	}
	return syscalls[nr]
}

// CallLength is the length of a direct call, in bytes.
const CallLength = 5

// Apart finds the returns and the direct calls in a function's code, from its beginning to the first instruction that
// it does not understand.
func Apart(code []byte) (returns []int, calls map[int]int64) {
	calls = map[int]int64{}
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil || in.Len == 0 {
			return returns, calls
		}
		next := at + in.Len
		switch in.Op {
		case x86asm.RET:
			returns = append(returns, at)
		case x86asm.CALL:
			if to, direct := in.Args[0].(x86asm.Rel); direct {
				calls[at] = int64(next) + int64(to)
			}
		}
		at = next
	}
	return returns, calls
}

// ProbeAt finds the push of the frame pointer in the code of a function, or before Go 1.21 the jump that requests a
// larger stack; otherwise it returns the beginning. The kernel emulates a push or a jump. It single-steps all other
// instructions, such as the one at the beginning, which costs a second trap.
func ProbeAt(code []byte) uint64 {
	const push = 0x55
	if len(code) > 0 && code[0] == push {
		return 0
	}
	// The comparison with the limit of the stack, which is at 16(R14).
	check := bytes.Index(code, []byte{0x3b, 0x66, 0x10})
	if check < 1 || code[check-1] != 0x49 && code[check-1] != 0x4d {
		return 0
	}
	jump := check + 3
	after := jump
	switch rest := code[jump:]; {
	case len(rest) > 6 && rest[0] == 0x0f && rest[1] == 0x86: // JBE, 32 bits
		after += 6
	case len(rest) > 2 && rest[0] == 0x76: // JBE, 8 bits
		after += 2
	default:
		return 0
	}
	if code[after] == push {
		return uint64(after)
	}
	return uint64(jump)
}

// FirstRead returns the address of the first 32-bit value that code loads from a fixed place; 0 if there is none.
func FirstRead(code []byte, address uint64) uint64 {
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil || in.Len == 0 {
			return 0
		}
		at += in.Len
		from, is := in.Args[1].(x86asm.Mem)
		if is && in.Op == x86asm.MOV && from.Base == x86asm.RIP && in.MemBytes == 4 {
			return address + uint64(at) + uint64(from.Disp)
		}
	}
	return 0
}

// Calls lists the targets of direct calls and jumps, relative to the beginning of C code.
func Calls(code []byte) []int64 {
	var to []int64
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil || in.Len == 0 {
			at++
			continue
		}
		at += in.Len
		if in.Op == x86asm.CALL || in.Op == x86asm.JMP {
			if rel, ok := in.Args[0].(x86asm.Rel); ok {
				to = append(to, int64(at)+int64(rel))
			}
		}
	}
	return to
}

// StubStep is the distance of stubs, through which files call functions of other files.
const StubStep = 16

// StubSlot returns where a stub at an address finds the address to which it jumps; 0 if the code is not a stub.
func StubSlot(code []byte, address uint64) uint64 {
	for n := 0; n < len(code); {
		in, err := x86asm.Decode(code[n:], 64)
		if err != nil || in.Len == 0 {
			n += 4 // endbr64, which the decoder does not know
			continue
		}
		n += in.Len
		if in.Op == x86asm.JMP {
			if m, ok := in.Args[0].(x86asm.Mem); ok && m.Base == x86asm.RIP {
				return address + uint64(n) + uint64(m.Disp)
			}
			return 0
		}
	}
	return 0
}
