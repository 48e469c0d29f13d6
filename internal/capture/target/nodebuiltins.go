package target

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// builtins finds the code of V8's builtins in files from which its symbols were stripped, as distributions do. Two
// tables of V8 show where the code is, and each can be verified:
//
//   - The table of names, `builtin_metadata` of src/builtins/builtins.cc, has one entry of three words for each builtin.
//     The first word points to the builtin's name.
//   - The table of places follows the three hashes at the beginning of the data blob to which
//     v8::internal::DefaultEmbeddedBlobData() points (src/snapshot/embedded/embedded-data.h, LayoutDescription). It has
//     one entry for each builtin, in the same order. An entry begins with the offset of the builtin's code and its
//     length, in bytes, each 4 bytes long. The size of an entry differs between versions: 28 bytes in Node 18, 32 in 20,
//     12 in 22. The right size is the one with which no code overlaps.
type builtins struct {
	image   image
	file    *elf.File
	content io.ReaderAt
}

const (
	builtinName   = 24   // bytes of an entry in the table of names
	builtinHashes = 24   // bytes before the table of places
	builtinPlaces = 48   // most bytes that an entry of that table may have
	maxBuiltins   = 4096 // there are 2,054 in Node 18, and 2,304 in 22
	minBuiltins   = 500
	maxName       = 128
)

// address returns the address of a builtin's code, by the builtin's name.
func (b builtins) address(name string) (uint64, error) {
	index, count, err := b.index(name)
	if err != nil {
		return 0, err
	}
	const blob = "_ZN2v88internal23DefaultEmbeddedBlob"
	code, err := b.returned(blob + "CodeEv")
	if err != nil {
		return 0, err
	}
	data, err := b.returned(blob + "DataEv")
	if err != nil {
		return 0, err
	}
	table := make([]byte, count*builtinPlaces)
	at, ok := b.image.fileOffset(data + builtinHashes)
	if !ok {
		return 0, fmt.Errorf("%w: the data of its builtins is nowhere", ErrUnsupported)
	}
	if n, err := b.content.ReadAt(table, int64(at)); err != nil && !errors.Is(err, io.EOF) || n < len(table) {
		return 0, fmt.Errorf("%w: the table of its builtins ends early", ErrUnsupported)
	}
	offset, ok := placeOf(table, index, count)
	if !ok {
		return 0, fmt.Errorf("%w: the table of its builtins is of a form that is not known", ErrUnsupported)
	}
	if _, ok := b.image.fileOffset(code + offset); !ok {
		return 0, fmt.Errorf("%w: %s has no code at %#x", ErrUnsupported, b.image.name, code+offset)
	}
	return code + offset, nil
}

// placeOf reads the offset of one builtin's code from the table of places.
func placeOf(table []byte, index, count int) (uint64, bool) {
	type span struct{ from, to uint64 }
	for size := 8; size <= builtinPlaces; size += 4 {
		spans := make([]span, count)
		for i := range spans {
			entry := table[i*size:]
			from := uint64(binary.LittleEndian.Uint32(entry))
			spans[i] = span{from, from + uint64(binary.LittleEndian.Uint32(entry[4:]))}
		}
		found := spans[index]
		slices.SortFunc(spans, func(a, b span) int { return int(int64(a.from) - int64(b.from)) })
		apart := spans[0].from == 0 && found.to > found.from
		for i := 1; apart && i < count; i++ {
			apart = spans[i].from >= spans[i-1].to && spans[i].to > spans[i].from
		}
		if apart {
			return found.from, true
		}
	}
	return 0, false
}

// index returns the index of the builtin with a name, and how many builtins there are.
func (b builtins) index(name string) (index, count int, err error) {
	slot, err := b.slot(name)
	if err != nil {
		return 0, 0, err
	}
	from := slot - min(slot, maxBuiltins*builtinName)
	words, err := b.words(extent{from - from%8 + slot%8, slot + maxBuiltins*builtinName})
	if err != nil {
		return 0, 0, err
	}
	first, end := slot, slot
	for b.name(words(first-builtinName)) != "" {
		first -= builtinName
	}
	for b.name(words(end)) != "" {
		end += builtinName
	}
	index, count = int(slot-first)/builtinName, int(end-first)/builtinName
	if count < minBuiltins {
		return 0, 0, fmt.Errorf("%w: there are %d builtins with names only", ErrUnsupported, count)
	}
	return index, count, nil
}

// slot is the address of the word that points to a builtin's name.
func (b builtins) slot(name string) (uint64, error) {
	var named []uint64
	for _, s := range b.data() {
		if at, err := offsetOf(s.Open(), "\x00"+name+"\x00"); err != nil {
			return 0, err
		} else if at >= 0 {
			named = append(named, s.Addr+uint64(at)+1)
		}
	}
	var slots []uint64
	keep := func(at, value uint64) {
		if slices.Contains(named, value) {
			slots = append(slots, at)
		}
	}
	if err := b.relocated(keep); err != nil {
		return 0, err
	}
	if len(slots) == 0 {
		for _, s := range b.data() {
			if err := eachWord(s, keep); err != nil {
				return 0, err
			}
		}
	}
	if len(slots) != 1 {
		return 0, fmt.Errorf("%w: %d words point to the name %s", ErrUnsupported, len(slots), name)
	}
	return slots[0], nil
}

// data lists the sections of the file that hold data.
func (b builtins) data() []*elf.Section {
	var all []*elf.Section
	for _, s := range b.file.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Flags&elf.SHF_ALLOC != 0 && s.Flags&elf.SHF_EXECINSTR == 0 {
			all = append(all, s)
		}
	}
	return all
}

// name returns the name of a builtin at an address, "" if there is none.
func (b builtins) name(address uint64) string {
	at, ok := b.image.fileOffset(address)
	if !ok {
		return ""
	}
	var text [maxName]byte
	n, _ := b.content.ReadAt(text[:], int64(at))
	end := slices.Index(text[:n], 0)
	if end <= 0 || slices.ContainsFunc(text[:end], func(c byte) bool {
		return c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	}) {
		return ""
	}
	return string(text[:end])
}

// words reads the 8-byte words in a span of addresses, as they are if the file is loaded at the addresses that it
// names; 0 outside the file.
func (b builtins) words(span extent) (func(at uint64) uint64, error) {
	moved := map[uint64]uint64{}
	err := b.relocated(func(at, value uint64) {
		if at >= span.from && at < span.to {
			moved[at] = value
		}
	})
	return func(at uint64) uint64 {
		if value, ok := moved[at]; ok {
			return value
		}
		var word [8]byte
		if in, ok := b.image.fileOffset(at); ok {
			if n, _ := b.content.ReadAt(word[:], int64(in)); n < len(word) {
				return 0
			}
		}
		return binary.LittleEndian.Uint64(word[:])
	}, err
}

// relocated visits the words that contain an address within the file itself, with these addresses. Files that can
// be loaded anywhere list such words.
func (b builtins) relocated(visit func(at, value uint64)) error {
	const entry = 24 // bytes of an Elf64_Rela: place, kind, addend
	for _, s := range b.file.Sections {
		if s.Type != elf.SHT_RELA {
			continue
		}
		if err := eachChunk(s, entry, func(_ uint64, r []byte) {
			if elf.R_X86_64(binary.LittleEndian.Uint32(r[8:])) == elf.R_X86_64_RELATIVE {
				visit(binary.LittleEndian.Uint64(r), binary.LittleEndian.Uint64(r[16:]))
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// eachWord visits the aligned words of a section, with their addresses.
func eachWord(s *elf.Section, visit func(at, value uint64)) error {
	return eachChunk(s, 8, func(at uint64, word []byte) { visit(s.Addr+at, binary.LittleEndian.Uint64(word)) })
}

// eachChunk visits a section in pieces of one size, with their offsets.
func eachChunk(s *elf.Section, size int, visit func(at uint64, piece []byte)) error {
	from, block, at := s.Open(), make([]byte, blockSize/size*size), uint64(0)
	for {
		n, err := io.ReadFull(from, block)
		for p := block[:n/size*size]; len(p) > 0; p = p[size:] {
			visit(at, p[:size])
			at += uint64(size)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read section %s: %w", s.Name, err)
		}
	}
}

// endbr64 begins functions in files that were built for control-flow enforcement; x86asm does not know it.
var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}

// returned finds the address that an exported function returns. The function has no arguments and does nothing
// else.
func (b builtins) returned(function string) (uint64, error) {
	unknown := fmt.Errorf("%w: what %s returns is not known", ErrUnsupported, function)
	pc := b.image.values[function]
	at, ok := b.image.fileOffset(pc)
	if !ok || pc == 0 {
		return 0, unknown
	}
	code := make([]byte, 64)
	n, _ := b.content.ReadAt(code, int64(at))
	code = code[:n]
	if bytes.HasPrefix(code, endbr64) {
		code, pc = code[len(endbr64):], pc+uint64(len(endbr64))
	}
	var rax uint64
	for {
		in, err := x86asm.Decode(code, 64)
		if err != nil || in.Len == 0 {
			return 0, unknown
		}
		pc, code = pc+uint64(in.Len), code[in.Len:]
		switch {
		case in.Op == x86asm.RET:
			if rax == 0 {
				return 0, unknown
			}
			return rax, nil
		case in.Args[0] != x86asm.RAX && in.Args[0] != x86asm.EAX:
			continue
		}
		if rax, err = b.assigned(in, rax, pc); err != nil || rax == 0 {
			return 0, unknown
		}
	}
}

// assigned returns the value that an instruction gives the register rax, 0 if that is not known.
func (b builtins) assigned(in x86asm.Inst, rax, next uint64) (uint64, error) {
	if value, ok := in.Args[1].(x86asm.Imm); ok && in.Op == x86asm.MOV {
		return uint64(value), nil
	}
	from, ok := in.Args[1].(x86asm.Mem)
	if !ok || from.Index != 0 {
		return 0, nil
	}
	base, known := map[x86asm.Reg]uint64{x86asm.RIP: next, x86asm.RAX: rax}[from.Base]
	at := base + uint64(int64(int32(from.Disp))) // x86asm does not sign-extend it
	switch {
	case !known:
		return 0, nil
	case in.Op == x86asm.LEA:
		return at, nil
	case in.Op == x86asm.MOV:
		words, err := b.words(extent{at, at + 8})
		return words(at), err
	}
	return 0, nil
}
