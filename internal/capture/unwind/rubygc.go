//go:build linux && (amd64 || arm64)

package unwind

import (
	"bytes"
	"debug/elf"

	"golang.org/x/arch/x86/x86asm"
)

// rubyHeap is where Ruby keeps the state of its collector. The profiler knows the position by version. If a patch
// release moved it, the profiler takes every stack for one of the collector: in 3.1.7 it is 8 bytes after its
// position in 3.1.2.
type rubyHeap struct {
	space uint16 // offset of the pointer to the heap, in Ruby's virtual machine
	flags uint8  // offset of the flags, in the heap
}

// rubyDuringGC is an exported function of Ruby that returns whether the collector runs. It reads what the profiler
// has to read.
const rubyDuringGC = "rb_during_gc"

// longestDuringGC bounds how much of its code is examined, in bytes.
const longestDuringGC = 64

// heapIn finds where a Ruby keeps that state; it returns none if the code is different, as it is since Ruby 3.4,
// where the collector is a library.
func heapIn(file *elf.File, symbols []elf.Symbol) rubyHeap {
	for _, s := range symbols {
		if s.Name == rubyDuringGC && s.Section != elf.SHN_UNDEF {
			c := machineCode{file: file}
			return heapOf(c.read(s.Value, min(max(s.Size, 1), longestDuringGC)))
		}
	}
	return rubyHeap{}
}

// heapOf analyses the code. It loads the pointer to the heap from the virtual machine, uses that to load the flags,
// and shifts the requested flag, bit 5, to the end.
func heapOf(code []byte) rubyHeap {
	const duringGC = 5
	var h rubyHeap
	var heap x86asm.Reg
	code = bytes.TrimPrefix(code, []byte("\xf3\x0f\x1e\xfa")) // endbr64, which the decoder does not know
	for len(code) > 0 {
		in, err := x86asm.Decode(code, 64)
		if err != nil || in.Len == 0 {
			return rubyHeap{}
		}
		code = code[in.Len:]
		from, loads := in.Args[1].(x86asm.Mem)
		to, _ := in.Args[0].(x86asm.Reg)
		bit, shifts := in.Args[1].(x86asm.Imm)
		switch {
		case loads && from.Index != 0:
			return rubyHeap{}
		case in.Op == x86asm.MOV && loads && in.DataSize == 64:
			if heap = to; from.Base == x86asm.RIP || from.Disp < 0 || from.Disp > 1<<16-1 {
				heap = 0
			}
			h = rubyHeap{space: uint16(from.Disp)}
		case (in.Op == x86asm.MOVZX || in.Op == x86asm.MOV) && loads && heap != 0 && from.Base == heap && from.Disp > 0 && from.Disp < 1<<8:
			h.flags = uint8(from.Disp)
		case in.Op == x86asm.SHR && shifts && bit == duringGC && h.space != 0 && h.flags != 0:
			return h
		case in.Op == x86asm.RET, in.Op == x86asm.JMP, in.Op == x86asm.CALL:
			return rubyHeap{}
		}
	}
	return rubyHeap{}
}
