package elffile

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

// Limits for the input of the reader of unwinding tables. For each of their bytes it makes up to 16.
const (
	maxUnwind  = 32 << 20 // .eh_frame, .debug_frame
	maxNotes   = 16 << 20 // all notes
	maxDynamic = 1 << 20  // the data for the dynamic linker
	maxSteps   = 4 << 20  // of the stack's height, in all Go functions
	maxTexts   = 64 << 20 // the names of all symbols, if one is searched for
)

// ErrUnsound means that a file's data about its functions is contradictory.
var ErrUnsound = errors.New("its tables of functions contradict themselves")

// CheckUnwinding fails with ErrTooLarge or ErrUnsound if a file must not be given to a reader of unwinding tables.
// Such a reader trusts the tables: it would use unlimited memory, or fail.
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

// checkSegments checks the segments against the limits.
func checkSegments(f *elf.File) error {
	unwinding := f.Section(".eh_frame")
	loose := unwinding == nil || unwinding.FileSize == 0 || unwinding.Type == elf.SHT_NOBITS || unwinding.Flags&elf.SHF_COMPRESSED != 0
	var notes, dynamic uint64
	for _, p := range f.Progs {
		most := uint64(maxPassed) // a segment may be searched for Go's build information
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
			most = maxUnwind // the tables extend to its end
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

// indexed reports whether a file has the index of unwinding tables, through which they are found without a section.
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

// checkGoTable checks Go's table of functions, if there is one, at the place where a reader looks for it.
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

// namedTable returns where the symbols of a file place the table; 0 if they do not.
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

// checkFound checks the first data in a file that looks like the table.
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

// goTableIn returns where data contains something like the table, given the size of an instruction; -1 if it does
// not.
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
