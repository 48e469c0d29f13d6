// Package elffile is the only reader of executables and libraries. They belong to the target, so the sizes that they
// state are checked against the actual file and against fixed limits. A file with false sizes thus costs no more than
// an honest one. Parts beyond the limits are treated as missing.
package elffile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// Limits for what is read of one file, in bytes.
const (
	maxHead    = 32 << 20  // its headers, and the names of its sections
	maxAll     = 1 << 30   // in total: much of it is scanned, and not kept
	maxSection = 64 << 20  // a section, decompressed
	maxTable   = 256 << 20 // Go's table of functions, and the data it refers to, in a large program
	maxPassed  = 1 << 30   // a section that is scanned and not kept
)

// Limits for what is kept of one file.
const (
	maxSymbols   = 1 << 20 // symbols
	maxSections  = 1 << 13 // sections
	maxNames     = 4 << 20 // bytes of the names of all sections
	maxName      = 4 << 10 // bytes of a name
	maxLibraries = 1 << 10 // names of libraries that it needs
)

// ErrTooLarge means that a file states sizes beyond the limits.
var ErrTooLarge = errors.New("larger than what is read of any executable")

// bounded reads a file until a limit is reached or the file system does not answer in time.
type bounded struct {
	from *Patient
	left atomic.Int64
}

func within(from io.ReaderAt, most int64) *bounded {
	b := &bounded{from: NewPatient(from)}
	b.left.Store(most)
	return b
}

// ReadAt implements io.ReaderAt.
func (b *bounded) ReadAt(p []byte, at int64) (int, error) {
	if b.left.Add(-int64(len(p))) < 0 {
		return 0, ErrTooLarge
	}
	return b.from.ReadAt(p, at)
}

// New reads the headers of a file. Sections beyond the limits are left out.
func New(from io.ReaderAt) (*elf.File, error) {
	f, err := heads(from)
	if err != nil {
		return nil, err
	}
	for _, s := range f.Sections {
		if s.Size > limit(s) {
			s.SectionHeader = elf.SectionHeader{Type: leftOut}
		}
	}
	return f, nil
}

// heads reads the headers of a file.
func heads(from io.ReaderAt) (*elf.File, error) {
	b := within(from, maxHead)
	if err := checkNames(b); err != nil {
		return nil, err
	}
	f, err := elf.NewFile(b)
	if err != nil {
		return nil, err
	}
	b.left.Store(maxAll)
	return f, nil
}

// leftOut is the type given to sections beyond the limits.
const leftOut = elf.SHT_HIUSER

// limit returns the maximum size of a section.
func limit(s *elf.Section) uint64 {
	packed := s.Flags&elf.SHF_COMPRESSED != 0
	switch {
	case s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_EXECINSTR != 0 && !packed:
		return 1<<64 - 1 // only its position is used
	case (s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_STRTAB || s.Type == elf.SHT_RELA) && !packed:
		return maxPassed // Data has its own limit
	case s.Name == ".rodata" || strings.HasSuffix(s.Name, ".gopclntab") || s.Type == elf.SHT_PROGBITS && s.Flags&elf.SHF_ALLOC != 0 && !packed:
		return maxTable
	}
	return maxSection
}

// Data returns the content of a section, decompressed.
func Data(s *elf.Section) ([]byte, error) {
	most := min(limit(s), maxTable)
	if s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_DYNSYM || s.Type == elf.SHT_STRTAB {
		most = maxSection
	}
	if s.Size > most {
		return nil, fmt.Errorf("section %s: %w", s.Name, ErrTooLarge)
	}
	return s.Data()
}

// File is a file that was opened by its name.
type File struct {
	*elf.File
	opened *Patient
}

// Open opens a file and reads its headers.
func Open(name string) (*File, error) {
	opened, err := OpenPatient(name)
	if err != nil {
		return nil, err
	}
	f, err := New(opened)
	if err != nil {
		opened.Close()
		return nil, err
	}
	return &File{f, opened}, nil
}

// Content returns a reader of the file for others, which is valid while the file is open.
func (f *File) Content() io.ReaderAt { return within(f.opened, maxSection) }

// Close closes the file.
func (f *File) Close() error { return f.opened.Close() }

// DynamicSymbols returns the symbols that a file exports or imports; elf.ErrNoSymbols if there are none.
func DynamicSymbols(f *elf.File) ([]elf.Symbol, error) { return symbols(f, elf.SHT_DYNSYM) }

// Symbols returns all symbols of a file that is not stripped; elf.ErrNoSymbols if it is stripped.
func Symbols(f *elf.File) ([]elf.Symbol, error) { return symbols(f, elf.SHT_SYMTAB) }

func symbols(f *elf.File, kind elf.SectionType) ([]elf.Symbol, error) {
	section := f.SectionByType(kind)
	if section == nil && f.SectionByType(leftOut) != nil {
		return nil, fmt.Errorf("symbols: %w", ErrTooLarge)
	}
	return symbolsIn(f, section)
}

func symbolsIn(f *elf.File, section *elf.Section) ([]elf.Symbol, error) {
	const size = 24 // of a symbol
	if section == nil || f.Class != elf.ELFCLASS64 {
		return nil, elf.ErrNoSymbols
	}
	data, err := Data(section)
	if err != nil {
		return nil, fmt.Errorf("symbols: %w", err)
	}
	names, err := linked(f, section)
	if err != nil {
		return nil, fmt.Errorf("names of symbols: %w", err)
	}
	if len(data)/size > maxSymbols {
		return nil, fmt.Errorf("symbols: %w", ErrTooLarge)
	}
	list := make([]elf.Symbol, 0, len(data)/size)
	for first := true; len(data) >= size; data, first = data[size:], false {
		s := elf.Symbol{
			Name: textAt(names, f.ByteOrder.Uint32(data)), Info: data[4], Other: data[5],
			Section: elf.SectionIndex(f.ByteOrder.Uint16(data[6:])),
			Value:   f.ByteOrder.Uint64(data[8:]), Size: f.ByteOrder.Uint64(data[16:]),
		}
		if !first { // the first is a placeholder; other symbols are counted from it
			list = append(list, s)
		}
	}
	return list, nil
}

// linked returns the table of strings that a section refers to.
func linked(f *elf.File, s *elf.Section) (string, error) {
	if s.Link == 0 || uint64(s.Link) >= uint64(len(f.Sections)) {
		return "", errors.New("there are none")
	}
	data, err := Data(f.Sections[s.Link])
	return string(data), err
}

// textAt returns a string from a table. It is a substring of the table, so overlapping strings need no more memory
// than the table.
func textAt(table string, at uint32) string {
	if uint64(at) >= uint64(len(table)) {
		return ""
	}
	text, _, _ := strings.Cut(table[at:min(len(table), int(at)+maxName)], "\x00")
	return text
}

// ImportedLibraries returns the names of the libraries that a file needs.
func ImportedLibraries(f *elf.File) ([]string, error) {
	section := f.SectionByType(elf.SHT_DYNAMIC)
	if section == nil || f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return nil, nil
	}
	data, err := Data(section)
	if err != nil {
		return nil, err
	}
	names, err := linked(f, section)
	if err != nil {
		return nil, err
	}
	var list []string
	for ; len(data) >= 16 && len(list) < maxLibraries; data = data[16:] {
		if elf.DynTag(f.ByteOrder.Uint64(data)) == elf.DT_NEEDED {
			list = append(list, textAt(names, uint32(f.ByteOrder.Uint64(data[8:]))))
		}
	}
	return list, nil
}
