package target

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// maxCode bounds the code that is searched, in bytes; the runtime is near the beginning.
const maxCode = 64 << 20

// goTLS finds where, relative to the thread pointer, a Go program keeps the current g. The code itself shows it,
// stripped or not: assembly code that calls into Go loads g into R14 first. Without such code the layout of the TLS
// segment decides.
func goTLS(file *elf.File) (int64, error) {
	for _, p := range file.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 {
			continue
		}
		code := make([]byte, min(p.Filesz, maxCode))
		if _, err := p.ReadAt(code, 0); err != nil {
			return 0, fmt.Errorf("read the code of the executable: %w", err)
		}
		if offset, ok := tlsFromCode(code); ok {
			return offset, nil
		}
	}
	for _, p := range file.Progs {
		if p.Type == elf.PT_TLS && p.Memsz != 8 {
			return 0, fmt.Errorf("%w: cannot tell which of %d bytes of thread-local storage hold the goroutine (not built by the standard Go tools?)",
				ErrUnsupported, p.Memsz)
		}
	}
	return -8, nil // the only variable, or the linker's fixed slot
}

// tlsFromCode looks for loads of g and returns the offset on which they agree. The first few are sufficient; if one
// differs, the code is not a load of g.
func tlsFromCode(code []byte) (int64, bool) {
	const enough = 8
	// Every form ends in a 32-bit signed offset from FS:
	//	64 4c 8b 34 25 <offset>          mov r14, fs:offset
	//	49 c7 c6 <offset> 64 4d 8b 36    mov r14, offset; mov r14, fs:[r14]  (PIE)
	forms := []struct{ before, after []byte }{
		{[]byte{0x64, 0x4c, 0x8b, 0x34, 0x25}, nil},
		{[]byte{0x49, 0xc7, 0xc6}, []byte{0x64, 0x4d, 0x8b, 0x36}},
	}
	votes := map[int32]int{}
	for _, form := range forms {
		for rest := code; ; {
			at := bytes.Index(rest, form.before)
			if at < 0 {
				break
			}
			rest = rest[at+len(form.before):]
			if len(rest) < 4 || !bytes.HasPrefix(rest[4:], form.after) {
				continue
			}
			offset := int32(binary.LittleEndian.Uint32(rest))
			if votes[offset]++; offset < 0 && votes[offset] == enough {
				return int64(offset), true
			}
		}
	}
	return 0, false
}
