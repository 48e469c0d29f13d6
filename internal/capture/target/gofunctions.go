package target

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/procfs"
)

// GoFunction is the position of a function of a Go program.
type GoFunction struct {
	Address uint64 // as linked
	Offset  uint64 // in the file
	Size    uint64 // bytes of its code, including padding
	Probe   uint64 // in the file: the place near its entry where a probe costs least
}

// GoProgram is the executable of a running Go program, as far as probes need it.
type GoProgram struct {
	File      CodeFile              // its executable
	Functions map[string]GoFunction // by name; a function that the linker removed is absent
}

// GoFunctions finds functions of a running Go program by name. It uses the symbols, or if the program is stripped,
// the table from which the runtime prints stacks. It fails with ErrUnsupported if neither can be read.
func GoFunctions(pid int, names ...string) (GoProgram, error) {
	p := GoProgram{Functions: map[string]GoFunction{}}
	var file *elf.File
	var opened *elffile.Patient
	exe, err := ExecutableOf(pid)
	if err == nil {
		p.File = exe
		file, opened, err = exe.openELF()
	}
	if err != nil {
		return p, fmt.Errorf("find functions of process %d: %w", pid, err)
	}
	defer opened.Close()
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	if file.Section(".symtab") != nil {
		err = functionsBySymbol(file, wanted, p.Functions)
	} else {
		err = functionsByTable(pid, file, wanted, p.Functions)
	}
	if err != nil {
		return p, fmt.Errorf("find functions of process %d: %w", pid, err)
	}
	for name, f := range p.Functions {
		var ok bool
		if f.Offset, ok = fileOffset(file, f.Address); !ok {
			return p, fmt.Errorf("find functions of process %d: %w: the code of %s is not in the executable", pid, ErrUnsupported, name)
		}
		f.Probe = f.Offset + probeAt(file, f)
		p.Functions[name] = f
	}
	return p, nil
}

// fileOffset returns the file offset of the byte linked at an address.
func fileOffset(file *elf.File, address uint64) (uint64, bool) {
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD && address >= p.Vaddr && address < p.Vaddr+p.Filesz {
			return address - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

func functionsBySymbol(file *elf.File, wanted map[string]bool, found map[string]GoFunction) error {
	symbols, err := elffile.Symbols(file)
	if err != nil {
		return fmt.Errorf("%w: its symbols: %w", ErrUnsupported, err)
	}
	for _, s := range symbols {
		name, assembly := strings.CutSuffix(s.Name, ".abi0") // the table of functions does not contain the suffix
		if _, have := found[name]; wanted[name] && elf.ST_TYPE(s.Info) == elf.STT_FUNC && !(assembly && have) {
			found[name] = GoFunction{Address: s.Value, Size: s.Size}
		}
	}
	return nil
}

// functionsByTable reads the table of a program without symbols. Addresses in the table are relative to the beginning
// of Go's own code, which only the running program contains.
func functionsByTable(pid int, file *elf.File, wanted map[string]bool, found map[string]GoFunction) error {
	section := goTable(file)
	if section == nil {
		return fmt.Errorf("%w: no symbols and no table of functions (was it packed?)", ErrUnsupported)
	}
	start, err := goTextStart(pid, file, section.Addr)
	if err != nil {
		return err
	}
	data, err := elffile.Data(section)
	if err != nil {
		return err
	}
	const head = 8 // followed by the number of functions
	if len(data) < head+8 || file.ByteOrder.Uint64(data[head:]) > uint64(len(data))/8 {
		return fmt.Errorf("%w: its table of functions is cut", ErrUnsupported)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, start))
	if err != nil {
		return fmt.Errorf("%w: its table of functions: %w", ErrUnsupported, err)
	}
	for i := range table.Funcs {
		if f := &table.Funcs[i]; wanted[f.Name] {
			found[f.Name] = GoFunction{Address: f.Entry, Size: f.End - f.Entry}
		}
	}
	return nil
}

// goTable returns the section that contains Go's table of functions.
func goTable(file *elf.File) *elf.Section {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := file.Section(name); s != nil {
			return s
		}
	}
	return nil
}

// Offsets in the runtime's moduledata, the same since Go 1.18.
const (
	moduleMinPC = 160
	moduleText  = 176
)

// goTextStart finds the linked address at which Go's own code begins. The running program's description of itself
// (moduledata) contains it; moduledata begins with the address of the table of functions.
func goTextStart(pid int, file *elf.File, table uint64) (uint64, error) {
	bias, err := loadBias(pid, file)
	if err != nil {
		return 0, err
	}
	var start uint64
	err = searchModule(pid, file, table+bias, func(mem memory, at uint64) bool {
		text, low := mem.word(at+moduleText), mem.word(at+moduleMinPC)
		if _, ok := fileOffset(file, text-bias); ok && text <= low {
			start = text - bias
		}
		return start != 0
	})
	if err != nil {
		return 0, err
	}
	if start == 0 {
		return 0, fmt.Errorf("%w: cannot tell where the code of a stripped program starts", ErrUnsupported)
	}
	return start, nil
}

// searchModule calls found with each place in a program's data that contains the address of its table of functions,
// as moduledata does at its beginning, until found returns true.
func searchModule(pid int, file *elf.File, table uint64, found func(memory, uint64) bool) error {
	bias, err := loadBias(pid, file)
	if err != nil {
		return err
	}
	mem, err := openMemory(pid)
	if err != nil {
		return err
	}
	defer mem.close()
	done := false
	for _, p := range file.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 || done {
			continue
		}
		from := (p.Vaddr + bias) &^ (pageSize - 1)
		span := extent{from, (p.Vaddr + bias + p.Filesz + pageSize - 1) &^ (pageSize - 1)}
		mem.search(span, table, func(at uint64) { done = done || found(mem, at) }, func() bool { return done })
	}
	return nil
}

// loadBias returns the difference between a program's addresses in memory and in its file.
func loadBias(pid int, file *elf.File) (uint64, error) {
	if file.Type != elf.ET_DYN {
		return 0, nil
	}
	entry, err := auxiliary(pid, auxEntry)
	if err != nil {
		return 0, err
	}
	return entry - file.Entry, nil
}

// auxEntry is AT_ENTRY: the program's entry point.
const auxEntry = 9

// auxiliary reads a value that the kernel passed to a program when it started.
func auxiliary(pid int, kind uint64) (uint64, error) {
	data, err := procfs.ReadFile(procPath(pid, "auxv"))
	if err != nil {
		return 0, procError(err)
	}
	for ; len(data) >= 16; data = data[16:] {
		if binary.LittleEndian.Uint64(data) == kind {
			return binary.LittleEndian.Uint64(data[8:]), nil
		}
	}
	return 0, fmt.Errorf("%w: the kernel does not tell where process %d was entered", ErrUnsupported, pid)
}
