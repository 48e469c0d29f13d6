package target

import (
	"debug/elf"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/processor"
)

// imageKind is what to look for in a process: a runtime that is a library, or the executable.
type imageKind struct {
	what    string
	library func(name string) bool // whether a mapped file is the runtime as a library
}

// image is the file that holds the code of a runtime: the executable, or a library.
type image struct {
	file    CodeFile
	name    string
	machine elf.Machine
	bias    uint64            // from addresses in the file to those in the process
	values  map[string]uint64 // addresses of its own symbols
	loads   []elf.ProgHeader
}

// loadedImage reads the symbols of a runtime of a process.
func loadedImage(pid int, kind imageKind) (image, error) {
	text, err := os.ReadFile(procPath(pid, "maps"))
	if err != nil {
		return image{}, procError(err)
	}
	maps := parseMaps(string(text))
	mapped, file, err := imageFile(pid, kind, maps)
	if err != nil {
		return image{}, err
	}
	found, relocated, err := readImage(file, kind, kind.library(mapped))
	if err != nil {
		return image{}, err
	}
	found.name = path.Base(mapped)
	if !relocated {
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

// imageFile is the file in which a runtime is looked for, and its name in the maps: a
// library if one is mapped, or the executable.
func imageFile(pid int, kind imageKind, maps []mapping) (mapped string, file CodeFile, err error) {
	for _, m := range maps {
		if kind.library(m.name) {
			file, err = mappedFile(pid, m)
			return m.name, file, err
		}
	}
	if mapped, err = os.Readlink(procPath(pid, "exe")); err != nil {
		return "", CodeFile{}, procError(err)
	}
	file, err = codeFile(procPath(pid, "exe"))
	return mapped, file, err
}

// readImage reads one file; relocated says that it may be loaded anywhere.
func readImage(read CodeFile, kind imageKind, library bool) (found image, relocated bool, err error) {
	f, opened, err := read.openELF()
	if err != nil {
		return image{}, false, err
	}
	defer opened.Close()
	if _, err := processor.Of(f); err != nil {
		return image{}, false, fmt.Errorf("%w: %s: %w", ErrUnsupported, kind.what, err)
	}
	symbols, err := elffile.DynamicSymbols(f)
	if err != nil {
		return image{}, false, fmt.Errorf("%w: no exported symbols: %w", ErrUnsupported, err)
	}
	needed, _ := elffile.ImportedLibraries(f)
	if !library && slices.ContainsFunc(needed, func(l string) bool { return kind.library("/" + l) }) {
		return image{}, false, fmt.Errorf("%w: its library is not loaded yet (try again)", ErrNotReady)
	}
	found = image{file: read, machine: f.Machine, values: map[string]uint64{}}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			found.values[s.Name] = s.Value
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			found.loads = append(found.loads, p.ProgHeader)
		}
	}
	return found, f.Type == elf.ET_DYN, nil
}

// fileOffset is where in the file the byte loaded at an address is.
func (i image) fileOffset(address uint64) (uint64, bool) {
	for _, p := range i.loads {
		if address >= p.Vaddr && address < p.Vaddr+p.Filesz {
			return address - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// onlyX86 says that what tells of C++ and C code is not known for other processors yet.
func (i image) onlyX86() error {
	if i.machine == elf.EM_X86_64 {
		return nil
	}
	return fmt.Errorf("%w: the code of %s is understood on x86-64 only", ErrUnsupported, i.name)
}
