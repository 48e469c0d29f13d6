package target

import (
	"debug/elf"

	"github.com/getdwell/dwell/internal/capture/processor"
)

// maxPrologue bounds the instructions with which the compiler begins a function, in bytes.
const maxPrologue = 64

// probeAt returns the offset from a function's entry at which to place a probe.
func probeAt(file *elf.File, f GoFunction) uint64 {
	m, err := processor.Of(file)
	if err != nil {
		return 0
	}
	code := make([]byte, min(f.Size, maxPrologue))
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD && f.Address >= p.Vaddr && f.Address < p.Vaddr+p.Filesz {
			n, _ := p.ReadAt(code, int64(f.Address-p.Vaddr))
			return m.GoCode.ProbeAt(code[:n])
		}
	}
	return 0
}
