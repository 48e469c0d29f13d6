package target

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"weak"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// GoFrame is a place in the source of a Go program.
type GoFrame struct {
	Function string // including its package
	File     string
	Line     int    // 0: not known
	Module   string // the main module if it is a released version, as in File
}

// GoTable maps the addresses of a running Go program to source places. It reads the table from which the runtime
// prints stacks, which stripping does not remove.
type GoTable struct {
	*goCode
	bias uint64 // difference between addresses in the process and linked addresses
}

// goCode is the table of an executable. All processes that run the executable share it, because it may have tens of
// megabytes.
type goCode struct {
	text    uint64 // as linked
	data    []byte // the table
	funcs   []byte // entry and offset of each function, and the end of the last one
	count   int
	names   []byte
	units   []byte
	files   []byte
	values  []byte
	details []byte
	tables  funcData
	quantum uint32 // unit of addresses in the tables by address: instruction sizes are multiples of it
	module  string // the main module, as in the paths of its files; "": not a released version
}

// funcData reads data to which the table refers: the trees of inlined calls. It is nil if they cannot be found;
// frames of inlined functions are missing then.
type funcData func(offset uint32, into []byte) bool

// The table's format since Go 1.20. Older programs have no frames of locks.
const (
	tableMagic  = 0xfffffff1
	tableHeader = 72
)

// Offsets in moduledata, the same since Go 1.20.
const moduleFuncData = 320

// GoTables opens tables. It keeps the table of an executable as long as a GoTable of it is in use. The zero GoTables
// is ready to use, by one goroutine.
type GoTables struct {
	files map[FileID]weak.Pointer[goCode]
}

// Open reads the table of a running Go program. It fails with ErrUnsupported if the format is unknown, and with
// ErrNoProcess if the process has ended.
func (g *GoTables) Open(pid int) (*GoTable, error) {
	t, err := g.open(pid)
	if err != nil {
		return nil, fmt.Errorf("read the functions of process %d: %w", pid, err)
	}
	return t, nil
}

func (g *GoTables) open(pid int) (*GoTable, error) {
	file, key, err := openCode(procPath(pid, "exe"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	program, err := elffile.New(file)
	if err != nil {
		return nil, err
	}
	bias, err := loadBias(pid, program)
	if err != nil {
		return nil, err
	}
	code := g.files[key].Value()
	if code == nil {
		if code, err = readGoCode(pid, program, bias); err != nil {
			return nil, err
		}
		code.module = mainModule(file)
		g.keep(key, code)
	}
	return &GoTable{code, bias}, nil
}

// mainModule returns the module of a program's main package, with its version, as in the paths of its files. It
// returns "" unless the program was built from a released version (go install example.com/app@v1.2.0).
func mainModule(file io.ReaderAt) string {
	info, err := buildinfo.Read(file)
	if err != nil {
		return ""
	}
	return released(info.Main)
}

func released(m debug.Module) string {
	if m.Path == "" || !strings.HasPrefix(m.Version, "v") {
		return ""
	}
	return m.Path + "@" + m.Version
}

// keep caches the table of an executable as long as it is in use.
func (g *GoTables) keep(key FileID, code *goCode) {
	if g.files == nil {
		g.files = map[FileID]weak.Pointer[goCode]{}
	}
	maps.DeleteFunc(g.files, func(_ FileID, p weak.Pointer[goCode]) bool { return p.Value() == nil })
	g.files[key] = weak.Make(code)
}

// readGoCode reads the table of an executable that a process runs.
func readGoCode(pid int, file *elf.File, bias uint64) (*goCode, error) {
	section := goTable(file)
	if section == nil {
		return nil, fmt.Errorf("%w: no table of functions (was it packed?)", ErrUnsupported)
	}
	data, err := elffile.Data(section)
	if err != nil {
		return nil, err
	}
	t, err := parseGoTable(data)
	if err != nil {
		return nil, err
	}
	if t.text, err = goTextStart(pid, file, section.Addr); err != nil {
		return nil, err
	}
	t.tables = goFuncData(pid, file, readSection{section, data}, bias)
	return t, nil
}

// parseGoTable splits the table into its parts.
func parseGoTable(data []byte) (*goCode, error) {
	if len(data) < tableHeader || binary.LittleEndian.Uint32(data) != tableMagic || data[7] != 8 {
		return nil, fmt.Errorf("%w: its table of functions is not of Go 1.20 or later", ErrUnsupported)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8+8*i:]) }
	part := func(i int) []byte {
		if at := word(i); at < uint64(len(data)) {
			return data[at:]
		}
		return nil
	}
	t := &goCode{data: data, names: part(3), units: part(4), files: part(5), values: part(6), details: part(7)}
	t.quantum = uint32(data[6])
	count := word(0)
	if count == 0 || count > uint64(len(t.details))/8 || uint64(len(t.details)) < 8*count+4 {
		return nil, fmt.Errorf("%w: its table of functions is cut", ErrUnsupported)
	}
	t.count, t.funcs = int(count), t.details
	return t, nil
}

// readSection is a section with its complete data in memory.
type readSection struct {
	*elf.Section
	data []byte
}

// goFuncData finds the trees of inlined calls, using the running program's description of itself. They follow the
// table since Go 1.26, and are among the constants before.
func goFuncData(pid int, file *elf.File, table readSection, bias uint64) funcData {
	base := uint64(0)
	err := searchModule(pid, file, table.Addr+bias, func(mem memory, at uint64) bool {
		word := mem.word(at + moduleFuncData)
		if _, ok := fileOffset(file, word-bias); ok {
			base = word - bias
		}
		return base != 0
	})
	if err != nil || base == 0 {
		return nil
	}
	var section *elf.Section
	for _, s := range file.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Addr != 0 && base >= s.Addr && base < s.Addr+s.Size {
			section = s
		}
	}
	if section == nil {
		return nil
	}
	data := table.data
	if section != table.Section {
		if data, err = elffile.Data(section); err != nil {
			return nil
		}
	}
	from := base - section.Addr
	if from > uint64(len(data)) {
		return nil
	}
	if data = data[from:]; section != table.Section {
		data = slices.Clone(data) // otherwise all constants stay in memory
	}
	return func(offset uint32, into []byte) bool {
		if uint64(offset)+uint64(len(into)) > uint64(len(data)) {
			return false
		}
		copy(into, data[offset:])
		return true
	}
}

// goFunc is a function in the table.
type goFunc struct {
	entry uint32 // from the beginning of the text
	raw   []byte // its description
}

// Fields of a function's description, in 4-byte words from its beginning.
const (
	funcName      = 1
	funcFiles     = 5
	funcLines     = 6
	funcPCData    = 7 // number of the tables by address that follow
	funcUnit      = 8
	funcFuncDatas = 43 // the byte with the number of references after those
	funcSize      = 44

	pcDataInlined   = 2
	funcDataInlined = 3
	noFuncData      = ^uint32(0)
)

func (f goFunc) word(i int) uint32 {
	if 4*i+4 > len(f.raw) {
		return 0
	}
	return binary.LittleEndian.Uint32(f.raw[4*i:])
}

// function finds the function that contains an address, counted from the beginning of the text.
func (t *goCode) function(pc uint32) (goFunc, bool) {
	entry := func(i int) uint32 { return binary.LittleEndian.Uint32(t.funcs[8*i:]) }
	i := sort.Search(t.count+1, func(k int) bool { return entry(k) > pc }) - 1
	if i < 0 || i >= t.count {
		return goFunc{}, false
	}
	at := binary.LittleEndian.Uint32(t.funcs[8*i+4:])
	if uint64(at)+funcSize > uint64(len(t.details)) {
		return goFunc{}, false
	}
	return goFunc{entry: entry(i), raw: t.details[at:]}, true
}

// maxInlined bounds the depth of inlined calls.
const maxInlined = 64

// Frames returns the functions that contain an address in the process, the innermost inlined one first; nil if it is
// not Go code. For the address of a caller, which is its return address, subtract one.
func (t *GoTable) Frames(address uint64) []GoFrame {
	at := address - t.bias - t.text
	if at > 1<<32-1 {
		return nil
	}
	f, ok := t.function(uint32(at))
	if !ok {
		return nil
	}
	var frames []GoFrame
	pc := uint32(at)
	for range maxInlined {
		call, parent, inlined := t.inlined(f, pc)
		frame := GoFrame{File: t.file(f, pc), Line: int(max(0, t.value(f, f.word(funcLines), pc)))}
		if t.module != "" && strings.Contains(frame.File, t.module+"/") {
			frame.Module = t.module
		}
		if !inlined {
			frame.Function = t.name(f.word(funcName))
			return append(frames, frame)
		}
		frame.Function = call
		frames = append(frames, frame)
		pc = f.entry + parent
	}
	return frames
}

// Linked is Frames for a linked address.
func (t *GoTable) Linked(address uint64) []GoFrame { return t.Frames(address + t.bias) }

// inlined returns the function that is inlined at an address, and an address, relative to the entry, of its call.
func (t *goCode) inlined(f goFunc, pc uint32) (name string, parent uint32, ok bool) {
	count := f.word(funcPCData)
	if t.tables == nil || count <= pcDataInlined || int(f.raw[funcFuncDatas]) <= funcDataInlined {
		return "", 0, false
	}
	tree := f.word(funcSize/4 + int(count) + funcDataInlined)
	index := t.value(f, f.word(funcSize/4+pcDataInlined), pc)
	if tree == noFuncData || index < 0 {
		return "", 0, false
	}
	var call [16]byte // kind, name, place of the call, first line
	if !t.tables(tree+uint32(index)*uint32(len(call)), call[:]) {
		return "", 0, false
	}
	return t.name(binary.LittleEndian.Uint32(call[4:])), binary.LittleEndian.Uint32(call[8:]), true
}

func (t *goCode) name(at uint32) string { return text(t.names, uint64(at)) }

// file returns the name of the source file of an address.
func (t *goCode) file(f goFunc, pc uint32) string {
	n := t.value(f, f.word(funcFiles), pc)
	at := 4 * (uint64(f.word(funcUnit)) + uint64(max(0, n)))
	if n < 0 || at+4 > uint64(len(t.units)) {
		return ""
	}
	return text(t.files, uint64(binary.LittleEndian.Uint32(t.units[at:])))
}

func text(data []byte, at uint64) string {
	if at >= uint64(len(data)) {
		return ""
	}
	data = data[at:]
	end := bytes.IndexByte(data, 0)
	if end < 0 {
		return ""
	}
	return string(data[:end])
}

// value looks up an address in one of a function's tables by address: pairs of an increment of the value and the
// length for which it holds. It returns -1 if there is none.
func (t *goCode) value(f goFunc, table, pc uint32) int32 {
	if table == 0 || uint64(table) >= uint64(len(t.values)) {
		return -1
	}
	data, at, value := t.values[table:], f.entry, int32(-1)
	for first := true; ; first = false {
		step, n := binary.Uvarint(data)
		if n <= 0 || step == 0 && !first {
			return -1
		}
		data = data[n:]
		span, n := binary.Uvarint(data)
		if n <= 0 {
			return -1
		}
		data = data[n:]
		value += int32(uint32(step)>>1) ^ -int32(step&1)
		if at += uint32(span) * t.quantum; pc < at {
			return value
		}
	}
}
