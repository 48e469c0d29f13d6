// Package arm64 interprets arm64 code, and has the numbers of its system calls.
package arm64

import "encoding/binary"

// Syscall returns the name of a system call; "" if it is not in the table.
func Syscall(nr int) string {
	if nr >= len(syscalls) {
		return ""
	}
	return syscalls[nr]
}

// CallLength is the length of every instruction, in bytes.
const CallLength = 4

// each calls visit with instructions and their offsets in the code, until visit returns false.
func each(code []byte, visit func(at int, in uint32) bool) {
	for at := 0; at+4 <= len(code) && visit(at, binary.LittleEndian.Uint32(code[at:])); at += 4 {
	}
}

// signed interprets the lowest bits of a number as signed.
func signed(number uint32, bits int) int64 {
	return int64(int32(number<<(32-bits)) >> (32 - bits))
}

// Apart finds the returns and the direct calls in a function's code.
func Apart(code []byte) (returns []int, calls map[int]int64) {
	const ret, bl = 0xd65f03c0, 0b100101
	calls = map[int]int64{}
	each(code, func(at int, in uint32) bool {
		switch {
		case in == ret:
			returns = append(returns, at)
		case in>>26 == bl:
			calls[at] = int64(at) + 4*signed(in, 26)
		}
		return true
	})
	return returns, calls
}

// Calls lists the targets of direct calls and jumps, relative to the beginning of C code.
func Calls(code []byte) []int64 {
	const branch, ofBranch = 0b000101, 0b011111 // B, and BL with the highest bit
	var to []int64
	each(code, func(at int, in uint32) bool {
		if in>>26&ofBranch == branch {
			to = append(to, int64(at)+4*signed(in, 26))
		}
		return true
	})
	return to
}

// StubStep is the minimum distance of stubs, through which files call functions of other files.
const StubStep = 4

// StubSlot returns where a stub at an address finds the address to which it jumps; 0 if the code is not a stub.
func StubSlot(code []byte, address uint64) uint64 {
	const (
		landing      = 0xd503245f             // BTI C, if jump targets have to be marked
		adrp, ofADRP = 0x90000010, 0x9f00001f // into X16
		ldr, ofLDR   = 0xf9400211, 0xffc003ff // X17, from there
	)
	var words [3]uint32
	each(code[:min(len(code), 4*len(words))], func(at int, in uint32) bool { words[at/4] = in; return true })
	skipped := 0
	if words[0] == landing {
		skipped = 1
	}
	if words[skipped]&ofADRP != adrp || words[skipped+1]&ofLDR != ldr {
		return 0
	}
	return page(words[skipped], address+4*uint64(skipped)) + uint64(words[skipped+1]>>10&0xfff)*8
}

// page returns the page that an ADRP at an address computes.
func page(in uint32, address uint64) uint64 {
	pages := in>>5&0x7ffff<<2 | in>>29&3
	return address&^0xfff + uint64(signed(pages, 21)<<12)
}

// ProbeAt finds the instruction after the stack check in the code of a function; otherwise it returns the beginning.
func ProbeAt(code []byte) uint64 {
	const (
		limit    = 0xf9400b90 // LDR X16, [X28, #16]: the limit of the stack of the current g
		lower    = 0x54000009 // B.LS
		ofLower  = 0xff00001f
		most     = 8 * 4 // maximum length of a check, in bytes
		noChecks = 0
	)
	probe, loaded := uint64(noChecks), false
	each(code[:min(len(code), most)], func(at int, in uint32) bool {
		if loaded && in&ofLower == lower {
			probe = uint64(at) + 4
			return false
		}
		loaded = loaded || in == limit
		return true
	})
	return probe
}

// FirstRead returns the address of the first 32-bit value that code loads from a fixed place, given as a page and an
// offset in it; 0 if there is none.
func FirstRead(code []byte, address uint64) uint64 {
	const adrp, ofADRP = 0x90000000, 0x9f000000
	const ldr, ldrsw, ofLDR = 0xb9400000, 0xb9800000, 0xffc00000
	pages := map[uint32]uint64{} // by register
	var found uint64
	each(code, func(at int, in uint32) bool {
		switch from := in >> 5 & 31; {
		case in&ofADRP == adrp:
			pages[in&31] = page(in, address+uint64(at))
		case (in&ofLDR == ldr || in&ofLDR == ldrsw) && pages[from] != 0:
			found = pages[from] + uint64(in>>10&0xfff)*4
		}
		return found == 0
	})
	return found
}
