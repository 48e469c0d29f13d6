// Package arm64 is what arm64 code of Go tells, and the numbers of its system calls.
package arm64

import "encoding/binary"

// Syscall names a system call; "" where the table ends.
func Syscall(nr int) string {
	if nr >= len(syscalls) {
		return ""
	}
	return syscalls[nr]
}

// CallLength is that of every instruction, in bytes.
const CallLength = 4

// each visits instructions with where they are from the beginning of the code, until visit
// returns false.
func each(code []byte, visit func(at int, in uint32) bool) {
	for at := 0; at+4 <= len(code) && visit(at, binary.LittleEndian.Uint32(code[at:])); at += 4 {
	}
}

// signed extends the sign of the lowest bits of a number.
func signed(number uint32, bits int) int64 {
	return int64(int32(number<<(32-bits)) >> (32 - bits))
}

// Apart finds the returns and the direct calls in a function's code, from its beginning.
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

// ProbeAt finds, in the code of a function, the instruction behind the check of the stack; else
// the beginning.
func ProbeAt(code []byte) uint64 {
	const (
		limit    = 0xf9400b90 // LDR X16, [X28, #16]: the limit of the stack of the current g
		lower    = 0x54000009 // B.LS
		ofLower  = 0xff00001f
		most     = 8 * 4 // of a check, in bytes
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

// FirstRead returns the address of the first 32 bits that code loads from a fixed place, which
// it names by a page and an offset in that; 0 if it loads none.
func FirstRead(code []byte, address uint64) uint64 {
	const adrp, ofADRP = 0x90000000, 0x9f000000
	const ldr, ldrsw, ofLDR = 0xb9400000, 0xb9800000, 0xffc00000
	pages := map[uint32]uint64{} // by register
	var found uint64
	each(code, func(at int, in uint32) bool {
		switch from := in >> 5 & 31; {
		case in&ofADRP == adrp:
			page := in>>5&0x7ffff<<2 | in>>29&3
			pages[in&31] = (address+uint64(at))&^0xfff + uint64(signed(page, 21)<<12)
		case (in&ofLDR == ldr || in&ofLDR == ldrsw) && pages[from] != 0:
			found = pages[from] + uint64(in>>10&0xfff)*4
		}
		return found == 0
	})
	return found
}
