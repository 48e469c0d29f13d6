//go:build linux && (amd64 || arm64)

package unwind

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"slices"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/processor"
)

// The function that waits for Ruby's interpreter lock has no symbol in a stripped library, but it is what
// distinguishes a wait for that lock from a wait for a Mutex: the frames above are the same. It can be found because
// some exported functions of Ruby call it when they need the lock again, and because it waits on a condition
// variable.
var rubyLockers = map[string]string{
	"rb_nogvl":                        "gvl_acquire",
	"rb_thread_call_with_gvl":         "gvl_acquire",
	"rb_thread_schedule":              "rb_thread_schedule_limits",
	"rb_threadptr_execute_interrupts": "rb_thread_schedule_limits",
}

// rubyConditionWait is Ruby's own wait on a condition variable.
const rubyConditionWait = "rb_native_cond_wait"

// nameRubyLock finds these functions in a library of Ruby by their callers, and assigns names to them.
func (t *symbolTable) nameRubyLock(file io.ReaderAt) {
	f, err := elffile.New(file)
	if err != nil {
		return
	}
	p, err := processor.Of(f)
	if err != nil {
		return
	}
	symbols, err := elffile.DynamicSymbols(f)
	if err != nil {
		return
	}
	c := &machineCode{file: f, starts: t.starts, c: p.CCode}
	var lockers []elf.Symbol
	waits := c.stubs(rubyConditionWait)
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		if s.Name == rubyConditionWait {
			waits = append(waits, s.Value)
		}
		if rubyLockers[s.Name] != "" {
			lockers = append(lockers, s)
		}
	}
	for _, s := range lockers {
		for _, callee := range c.calls(s.Value) {
			isWait := func(to uint64) bool { return slices.Contains(waits, to) }
			if t.name(callee) == "" && slices.ContainsFunc(c.calls(callee), isWait) {
				t.give(callee, rubyLockers[s.Name])
			}
		}
	}
}

// give names a function that has no symbol.
func (t *symbolTable) give(start uint64, name string) {
	if t.given == nil {
		t.given = map[uint64]string{}
	}
	t.given[start] = name
}

// machineCode is the code of a file, by addresses in the file.
type machineCode struct {
	file   *elf.File
	starts []uint64 // of functions, in order
	c      processor.CCode
}

// maxFunction bounds how much of a function is read.
const maxFunction = 16 << 10

// calls lists the functions that the function at an address calls directly.
func (c *machineCode) calls(start uint64) []uint64 {
	i, found := slices.BinarySearch(c.starts, start)
	if !found {
		return nil
	}
	size := uint64(maxFunction)
	if i+1 < len(c.starts) {
		size = min(size, c.starts[i+1]-start)
	}
	var to []uint64
	for _, callee := range c.c.Calls(c.read(start, size)) {
		to = append(to, start+uint64(callee))
	}
	return to
}

func (c *machineCode) read(address, size uint64) []byte {
	for _, p := range c.file.Progs {
		if p.Type != elf.PT_LOAD || address < p.Vaddr || address >= p.Vaddr+p.Filesz {
			continue
		}
		out := make([]byte, min(size, p.Vaddr+p.Filesz-address))
		if _, err := p.ReadAt(out, int64(address-p.Vaddr)); err == nil {
			return out
		}
	}
	return nil
}

// stubs returns the places through which the file's code calls a function that another file might replace: a jump to
// an address that is filled in at load time.
func (c *machineCode) stubs(name string) []uint64 {
	slot, ok := c.slot(name)
	if !ok {
		return nil
	}
	var out []uint64
	for _, section := range c.file.Sections {
		if section.Name != ".plt" && section.Name != ".plt.sec" && section.Name != ".plt.got" {
			continue
		}
		const longest, most = 16, 4 << 20 // bytes of a stub, and of all
		for at, end := section.Addr, section.Addr+min(section.Size, most); at+longest <= end && at < end; at += c.c.StubStep {
			if c.c.StubSlot(c.read(at, longest), at) == slot {
				out = append(out, at)
			}
		}
	}
	return out
}

// slot returns where the address of a function is filled in when the file is loaded.
func (c *machineCode) slot(name string) (uint64, bool) {
	symbols, err := elffile.DynamicSymbols(c.file)
	section := c.file.Section(".rela.plt")
	if err != nil || section == nil {
		return 0, false
	}
	data, err := elffile.Data(section)
	if err != nil {
		return 0, false
	}
	var r elf.Rela64
	for size := binary.Size(r); len(data) >= size; data = data[size:] {
		if _, err := binary.Decode(data, binary.LittleEndian, &r); err != nil {
			return 0, false
		}
		if i := int(elf.R_SYM64(r.Info)); i > 0 && i <= len(symbols) && symbols[i-1].Name == name {
			return r.Off, true
		}
	}
	return 0, false
}
