package unwind

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// source is where an executable is read from.
type source interface {
	io.ReaderAt
	io.Closer
}

// symbolTable is an ELF file's data about its functions. Names stay in the file.
type symbolTable struct {
	functions []function // by address
	names     io.ReaderAt
	starts    []uint64          // of functions, from their unwinding tables, sorted; without names
	given     map[uint64]string // names of functions that have no symbol, by their starts
}

// function is a symbol. It is small because a runtime has hundreds of thousands.
type function struct {
	address uint64
	size    uint32
	name    uint32 // offset in names
}

// maxSymbols bounds how many bytes of a symbol table are read.
const maxSymbols = 64 << 20

// readSymbols reads the table of symbols, or that of exported ones if the file is stripped. For a file that cannot be
// read the result is empty.
func readSymbols(file io.ReaderAt) *symbolTable {
	t := &symbolTable{}
	f, err := elffile.New(file)
	if err != nil || f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return t
	}
	section := f.SectionByType(elf.SHT_SYMTAB)
	if section == nil {
		section = f.SectionByType(elf.SHT_DYNSYM)
	}
	if section != nil && section.Size <= maxSymbols && int(section.Link) < len(f.Sections) {
		if names := f.Sections[section.Link]; section.ReaderAt != nil && names.ReaderAt != nil { // otherwise they are compressed, which no linker does
			t.read(section)
			t.names = names
		}
	}
	t.starts = readStarts(f)
	return t
}

func (t *symbolTable) read(section *elf.Section) {
	count := 0
	eachFunction(section, func(function) { count++ })
	t.functions = make([]function, 0, count)
	eachFunction(section, func(f function) { t.functions = append(t.functions, f) })
	slices.SortStableFunc(t.functions, func(a, b function) int { return cmp.Compare(a.address, b.address) })
}

// eachFunction reads a table of symbols in pieces: that of a runtime has tens of MB, of which little is kept.
func eachFunction(section *elf.Section, use func(function)) {
	piece := make([]byte, 4096*elf.Sym64Size)
	for at := uint64(0); at < section.Size; at += uint64(len(piece)) {
		n, err := section.ReadAt(piece, int64(at))
		for s := piece[:n]; len(s) >= elf.Sym64Size; s = s[elf.Sym64Size:] {
			kind, in, size := elf.ST_TYPE(s[4]), binary.LittleEndian.Uint16(s[6:]), binary.LittleEndian.Uint64(s[16:])
			if (kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC) && in != uint16(elf.SHN_UNDEF) && size > 0 {
				use(function{binary.LittleEndian.Uint64(s[8:]), uint32(min(size, math.MaxUint32)), binary.LittleEndian.Uint32(s)})
			}
		}
		if err != nil {
			return
		}
	}
}

// name returns the symbol that covers the address; "" if none does. If one place has several names, it returns the
// one that a caller would use.
func (t *symbolTable) name(address uint64) string {
	after, _ := slices.BinarySearchFunc(t.functions, address, func(f function, a uint64) int {
		if f.address <= a {
			return -1
		}
		return 1
	})
	best := ""
	for i := after - 1; i >= 0 && t.functions[i].address == t.functions[after-1].address; i-- {
		f := t.functions[i]
		if address-f.address >= uint64(f.size) {
			continue
		}
		if name := t.text(f.name); best == "" || plainer(name, best) {
			best = name
		}
	}
	return best
}

// plainer reports whether a function is better known by the name a than by b.
func plainer(a, b string) bool {
	leading := func(s string) int { return len(s) - len(strings.TrimLeft(s, "_")) }
	if x, y := leading(a), leading(b); x != y {
		return x < y
	}
	return len(a) < len(b)
}

// text reads a name from the file.
func (t *symbolTable) text(offset uint32) string {
	var all []byte
	for buf := make([]byte, 128); len(all) < 1<<14; {
		n, err := t.names.ReadAt(buf, int64(offset)+int64(len(all)))
		if end := bytes.IndexByte(buf[:n], 0); end >= 0 {
			return string(append(all, buf[:end]...))
		}
		all = append(all, buf[:n]...)
		if err != nil {
			return ""
		}
	}
	return string(all)
}

// start returns where the function at the address starts, according to the unwinding tables; the address itself if
// they do not contain it.
func (t *symbolTable) start(address uint64) uint64 {
	i, found := slices.BinarySearch(t.starts, address)
	if found {
		return address
	}
	if i == 0 {
		return address
	}
	return t.starts[i-1]
}

// Encodings of .eh_frame_hdr: the only format in use.
const (
	ehVersion  = 1
	ehCount    = 0x03 // a four-byte count
	ehTable    = 0x3b // pairs of four-byte offsets from the section
	ehHeadSize = 12
)

// readStarts reads where functions start from the index of the unwinding tables.
func readStarts(f *elf.File) []uint64 {
	section := f.Section(".eh_frame_hdr")
	if section == nil || section.Size > maxSymbols {
		return nil
	}
	data, err := elffile.Data(section)
	if err != nil || len(data) < ehHeadSize || data[0] != ehVersion || data[2] != ehCount || data[3] != ehTable {
		return nil
	}
	count := binary.LittleEndian.Uint32(data[8:])
	data = data[ehHeadSize:]
	if uint64(len(data)) < 8*uint64(count) {
		return nil
	}
	starts := make([]uint64, count)
	for i := range starts {
		starts[i] = section.Addr + uint64(int64(int32(binary.LittleEndian.Uint32(data[8*i:]))))
	}
	slices.Sort(starts)
	return starts
}
