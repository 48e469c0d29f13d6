package target

import (
	"debug/elf"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/processor"
	"github.com/getdwell/dwell/internal/capture/procfs"
)

// imageKind says what to look for in a process: a runtime that is a library, or the executable.
type imageKind struct {
	what    string
	library func(name string) bool // whether a mapped file is the runtime as a library
}

// image is the file with the code of a runtime: the executable, or a library.
type image struct {
	file    CodeFile
	name    string
	machine elf.Machine
	bias    uint64            // difference between addresses in the process and in the file
	values  map[string]uint64 // addresses of its own symbols
	loads   []elf.ProgHeader

	relocated bool     // it may be loaded at any address
	needs     []string // libraries
}

// bytes is its approximate memory size.
func (i image) bytes() int {
	const entry = 64 // of a map
	n := 0
	for name := range i.values {
		n += entry + len(name)
	}
	for _, name := range i.needs {
		n += entry + len(name)
	}
	return n
}

// loadedImage reads the symbols of a runtime of a process.
func (f *Files) loadedImage(pid int, kind imageKind) (image, error) {
	text, err := procfs.ReadFile(procPath(pid, "maps"))
	if err != nil {
		return image{}, procError(err)
	}
	maps := parseMaps(string(text))
	mapped, file, err := imageFile(pid, kind, maps)
	if err != nil {
		return image{}, err
	}
	found, err := recall(f, file, "symbols of "+kind.what, func(file *elf.File) (image, error) { return readImage(file, kind.what) })
	if err != nil {
		return image{}, err
	}
	if !kind.library(mapped) && slices.ContainsFunc(found.needs, func(l string) bool { return kind.library("/" + l) }) {
		return image{}, fmt.Errorf("%w: its library is not loaded yet (try again)", ErrNotReady)
	}
	found.file, found.name = file, path.Base(mapped)
	if !found.relocated {
		return found, nil
	}
	for _, m := range maps {
		if m.name == mapped && m.offset == 0 {
			found.bias = m.from
			return found, nil
		}
	}
	return image{}, fmt.Errorf("%w: cannot tell where %s is loaded", ErrUnsupported, found.name)
}

// imageFile returns the file that may contain a runtime, and its name in the maps: a library if one is mapped, else
// the executable.
func imageFile(pid int, kind imageKind, maps []mapping) (mapped string, file CodeFile, err error) {
	for _, m := range maps {
		if kind.library(m.name) {
			file, err = mappedFile(pid, m)
			return m.name, file, err
		}
	}
	if mapped, err = procfs.Readlink(procPath(pid, "exe")); err != nil {
		return "", CodeFile{}, procError(err)
	}
	file, err = codeFile(procPath(pid, "exe"))
	return mapped, file, err
}

// readImage reads what is the same in all processes that have loaded a file.
func readImage(f *elf.File, what string) (image, error) {
	if _, err := processor.Of(f); err != nil {
		return image{}, fmt.Errorf("%w: %s: %w", ErrUnsupported, what, err)
	}
	symbols, err := elffile.DynamicSymbols(f)
	if err != nil {
		return image{}, fmt.Errorf("%w: no exported symbols: %w", ErrUnsupported, err)
	}
	found := image{machine: f.Machine, values: map[string]uint64{}, relocated: f.Type == elf.ET_DYN}
	needs, _ := elffile.ImportedLibraries(f)
	for _, name := range needs {
		found.needs = append(found.needs, strings.Clone(name)) // otherwise it keeps all names in memory
	}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			found.values[strings.Clone(s.Name)] = s.Value
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			found.loads = append(found.loads, p.ProgHeader)
		}
	}
	return found, nil
}

// fileOffset returns the file offset of the byte loaded at an address.
func (i image) fileOffset(address uint64) (uint64, bool) {
	for _, p := range i.loads {
		if address >= p.Vaddr && address < p.Vaddr+p.Filesz {
			return address - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// onlyX86 returns an error on processors for which C and C++ code cannot be interpreted yet.
func (i image) onlyX86() error {
	if i.machine == elf.EM_X86_64 {
		return nil
	}
	return fmt.Errorf("%w: the code of %s is understood on x86-64 only", ErrUnsupported, i.name)
}
