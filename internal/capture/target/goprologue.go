package target

import (
	"bytes"
	"debug/elf"
)

// maxPrologue bounds the instructions with which the compiler lets a function begin,
// in bytes.
const maxPrologue = 64

// probeAt is how far from the entry of a function a probe is to be put. The kernel
// emulates a push or a jump, and lets all others, as that at the entry, run by
// themselves: a second trap. There, the arguments are still in their registers. After
// the check of the stack, a function that is begun again on a larger stack is met once.
func probeAt(file *elf.File, f GoFunction) uint64 {
	code := make([]byte, min(f.Size, maxPrologue))
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD && f.Address >= p.Vaddr && f.Address < p.Vaddr+p.Filesz {
			n, _ := p.ReadAt(code, int64(f.Address-p.Vaddr))
			return cheapProbe(code[:n])
		}
	}
	return 0
}

// cheapProbe finds, in the code of a function, the push of the frame pointer, or before
// Go 1.21 the jump that asks for a larger stack; else the entry.
func cheapProbe(code []byte) uint64 {
	const push = 0x55
	if len(code) > 0 && code[0] == push {
		return 0
	}
	// What is compared with the limit of the stack, which is at 16(R14).
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
