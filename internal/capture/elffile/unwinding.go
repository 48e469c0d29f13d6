package elffile

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

// What a reader of the tables that stacks are walked by may be given. It makes up to 16 bytes of each of theirs.
const (
	maxUnwind  = 32 << 20 // .eh_frame, .debug_frame
	maxNotes   = 16 << 20 // all notes
	maxDynamic = 1 << 20  // what the loader of programs is told
	maxSteps   = 4 << 20  // of the stack's height, in all functions of Go
	maxTexts   = 64 << 20 // the names of all symbols, where one is looked for
)

// ErrUnsound says that what a file tells of its functions contradicts itself.
var ErrUnsound = errors.New("its tables of functions contradict themselves")

// CheckUnwinding fails with ErrTooLarge or ErrUnsound where a reader of the tables by which stacks are walked
// should not be given a file, as it believes them: the memory that it takes would have no bound, or it would fail.
func CheckUnwinding(from io.ReaderAt) error {
	f, err := heads(from)
	if err != nil {
		return err
	}
	if f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB {
		return nil // it is not read at all
	}
	if err := checkSegments(f); err != nil {
		return err
	}
	for _, name := range []string{".eh_frame", ".debug_frame"} {
		for _, s := range f.Sections {
			if s.Name == name && s.Type != elf.SHT_NOBITS && s.FileSize > maxUnwind {
				return fmt.Errorf("section %s: %w", name, ErrTooLarge)
			}
		}
	}
	return checkGoTable(f)
}

// checkSegments holds what is told in segments against what is read of any file.
func checkSegments(f *elf.File) error {
	unwinding := f.Section(".eh_frame")
	loose := unwinding == nil || unwinding.FileSize == 0 || unwinding.Type == elf.SHT_NOBITS || unwinding.Flags&elf.SHF_COMPRESSED != 0
	var notes, dynamic uint64
	for _, p := range f.Progs {
		most := uint64(maxPassed) // one may be searched for what Go was built of
		switch {
		case p.Type == elf.PT_NOTE:
			notes += min(p.Filesz, maxAll)
			continue
		case p.Type == elf.PT_DYNAMIC:
			dynamic += min(p.Filesz, maxAll)
			continue
		case p.Type != elf.PT_LOAD || p.Flags&(elf.PF_X|elf.PF_W) == elf.PF_X && !loose:
			continue
		case loose && indexed(f):
			most = maxUnwind // the tables reach to the end of it
		}
		if p.Filesz > most {
			return fmt.Errorf("a segment: %w", ErrTooLarge)
		}
	}
	if notes > maxNotes || dynamic > maxDynamic {
		return fmt.Errorf("a segment: %w", ErrTooLarge)
	}
	return nil
}

// indexed reports whether a file has the index of unwinding tables, by which they are found without a section.
func indexed(f *elf.File) bool {
	if s := f.Section(".eh_frame_hdr"); s != nil && s.FileSize > 0 {
		return true
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_GNU_EH_FRAME {
			return true
		}
	}
	return false
}

// checkGoTable checks Go's table of functions, if there is one, in the place where it is looked for.
func checkGoTable(f *elf.File) error {
	if s := f.Section(".gopclntab"); s != nil {
		if s.Flags&elf.SHF_COMPRESSED != 0 {
			return nil
		}
		if s.FileSize > maxTable {
			return fmt.Errorf("section %s: %w", s.Name, ErrTooLarge)
		}
		data := make([]byte, s.FileSize)
		if _, err := s.ReaderAt.ReadAt(data, 0); err != nil {
			return fmt.Errorf("section %s: %w", s.Name, err)
		}
		return checkGoFunctions(data)
	}
	if f.Section(".go.buildinfo") == nil {
		return nil
	}
	start, end, err := namedTable(f)
	if err != nil {
		return err
	}
	if start != 0 && end != 0 {
		return checkMapped(f, start, end)
	}
	return checkFound(f)
}

// namedTable is where the symbols of a file say that the table is; 0 where they do not.
func namedTable(f *elf.File) (start, end uint64, err error) {
	section := f.Section(".symtab")
	if section == nil {
		return 0, 0, nil
	}
	if section.Size > maxSection {
		return 0, 0, fmt.Errorf("symbols: %w", ErrTooLarge)
	}
	list, err := symbolsIn(f, section)
	if err != nil {
		return 0, 0, err
	}
	texts := 0
	for _, s := range list {
		switch s.Name {
		case "runtime.pclntab":
			start = s.Value
		case "runtime.epclntab":
			end = s.Value
		}
		if start != 0 && end != 0 {
			break
		}
		if texts += len(s.Name); texts > maxTexts {
			return 0, 0, fmt.Errorf("names of symbols: %w", ErrTooLarge)
		}
	}
	return start, end, nil
}

// checkMapped checks the table between two addresses.
func checkMapped(f *elf.File, start, end uint64) error {
	if start >= end || end-start > maxTable {
		return ErrUnsound
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || start < p.Vaddr || start-p.Vaddr >= p.Memsz {
			continue
		}
		data := make([]byte, end-start)
		n, err := p.ReadAt(data, int64(start-p.Vaddr))
		if err != nil && err != io.EOF {
			return err
		}
		return checkGoFunctions(data[:n])
	}
	return nil
}

// checkFound checks the first thing in a file that looks like the table.
func checkFound(f *elf.File) error {
	quantum := byte(1)
	if f.Machine == elf.EM_AARCH64 {
		quantum = 4
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X != 0 || p.Flags&elf.PF_R == 0 {
			continue
		}
		if p.Filesz > maxTable {
			return fmt.Errorf("a segment: %w", ErrTooLarge)
		}
		data := make([]byte, p.Filesz)
		n, err := p.ReadAt(data, 0)
		if err != nil && err != io.EOF {
			return err
		}
		if at := goTableIn(data[:n], quantum); at >= 0 {
			return checkGoFunctions(data[at:])
		}
	}
	return nil
}

// goTableIn is where data holds what looks like the table, by the width of an instruction; -1 where it does not.
func goTableIn(data []byte, quantum byte) int {
	const least = 16
	sign := []byte{0xff, 0xff, 0xff, 0, 0, quantum, 8}
	for i := 1; i < len(data)-least; i += 8 {
		n := bytes.Index(data[i:], sign)
		if n < 0 {
			break
		}
		if i += n - 1; goForm(data[i:]) != goNone {
			return i
		}
	}
	return -1
}
