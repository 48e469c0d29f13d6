package unwind

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// names is a table of strings as in a file.
const names = "\x00__mutex_lock\x00mutex_lock\x00inner\x00"

func table() *symbolTable {
	return &symbolTable{
		names: strings.NewReader(names),
		functions: []function{
			{address: 0x100, size: 0x40, name: 1},  // two names for one place
			{address: 0x100, size: 0x40, name: 14}, //
			{address: 0x200, size: 0x10, name: 25},
		},
		starts: []uint64{0x100, 0x180, 0x200},
	}
}

func TestNamesOfNativeCode(t *testing.T) {
	for address, want := range map[uint64]string{
		0x0ff: "",           // before all symbols
		0x100: "mutex_lock", // the name that its callers use
		0x13f: "mutex_lock",
		0x140: "", // after the end of the symbol: the nearest one is not used
		0x1ff: "",
		0x20f: "inner",
		0x210: "",
	} {
		if got := table().name(address); got != want {
			t.Errorf("0x%x is called %q, want %q", address, got, want)
		}
	}
}

func TestPlacesOfCodeWithoutName(t *testing.T) {
	for address, want := range map[uint64]uint64{0x80: 0x80, 0x180: 0x180, 0x1a3: 0x180, 0x5000: 0x200} {
		if got := table().start(address); got != want {
			t.Errorf("the function at 0x%x starts at 0x%x, want 0x%x", address, got, want)
		}
	}
}

// A table of symbols is read in pieces; the functions defined in the file are kept, by address.
func TestFunctionsOfASymbolTable(t *testing.T) {
	symbol := func(kind elf.SymType, in elf.SectionIndex, address uint64) elf.Sym64 {
		return elf.Sym64{Name: 7, Info: byte(kind), Shndx: uint16(in), Value: address, Size: 16}
	}
	all := []elf.Sym64{
		symbol(elf.STT_FUNC, 1, 0x900), symbol(elf.STT_FUNC, elf.SHN_UNDEF, 0x500), symbol(elf.STT_OBJECT, 1, 0x600),
	}
	for range 5000 {
		all = append(all, symbol(elf.STT_OBJECT, 1, 0x700))
	}
	all = append(all, symbol(elf.STT_GNU_IFUNC, 1, 0x300))
	var file bytes.Buffer
	if err := binary.Write(&file, binary.LittleEndian, all); err != nil {
		t.Fatal(err)
	}
	section := &elf.Section{SectionHeader: elf.SectionHeader{Size: uint64(file.Len())}, ReaderAt: bytes.NewReader(file.Bytes())}
	var got symbolTable
	got.read(section)
	if want := []function{{0x300, 16, 7}, {0x900, 16, 7}}; !slices.Equal(got.functions, want) {
		t.Errorf("%x, want %x", got.functions, want)
	}
}
