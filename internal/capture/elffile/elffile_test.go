package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// section is a section of a generated file.
type section struct {
	name string
	kind elf.SectionType
	link uint32
	size uint64 // the size that it states; 0: its real size
	data []byte
	pack bool // it claims to be compressed, and its data begins like that
}

// made returns an ELF file of these sections. If a section states more than its size, the section extends to the end
// of a file that is mostly a hole. The last section has the names of all sections.
func made(t *testing.T, sections ...section) string {
	t.Helper()
	names := []byte{0}
	sections = append(append([]section{{}}, sections...), section{name: ".shstrtab", kind: elf.SHT_STRTAB})
	head := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: 64, Shentsize: 64, Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1)}
	copy(head.Ident[:], elf.ELFMAG)
	head.Ident[elf.EI_CLASS], head.Ident[elf.EI_DATA], head.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	var body, table bytes.Buffer
	end := uint64(0)
	for i, s := range sections {
		h := elf.Section64{Type: uint32(s.kind), Link: s.link, Off: 64 + uint64(body.Len()), Size: max(s.size, uint64(len(s.data))), Name: uint32(len(names))}
		if s.pack {
			h.Flags, h.Size = uint64(elf.SHF_COMPRESSED), uint64(len(s.data))
		}
		if i > 0 {
			names = append(append(names, s.name...), 0)
		}
		if i == len(sections)-1 {
			s.data, h.Size = names, max(s.size, uint64(len(names)))
		}
		body.Write(s.data)
		end = max(end, h.Off+h.Size)
		binary.Write(&table, binary.LittleEndian, h)
	}
	head.Shoff = 64 + uint64(body.Len())
	path := filepath.Join(t.TempDir(), "made")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(binary.Write(f, binary.LittleEndian, head), write(f, body.Bytes()), write(f, table.Bytes()), f.Truncate(int64(max(end, head.Shoff+uint64(table.Len()))))); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(f io.Writer, data []byte) error { _, err := f.Write(data); return err }

// symbol returns one symbol as stored in a file.
func symbol(name uint32, value uint64) []byte {
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, elf.Sym64{Name: name, Shndx: 1, Value: value})
	return b.Bytes()
}

// readAll reads everything that dwell reads of a file.
func readAll(t *testing.T, path string) (symbols int) {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for _, read := range []func(*elf.File) ([]elf.Symbol, error){DynamicSymbols, Symbols} {
		list, _ := read(f.File)
		symbols += len(list)
	}
	ImportedLibraries(f.File)
	for _, s := range f.Sections {
		Data(s)
	}
	return symbols
}

// A file of some kilobytes that states gigabytes costs no more memory than the limits allow.
func TestClaimsCostNothing(t *testing.T) {
	const claim, most = 1 << 30, 700 << 20
	packed := new(bytes.Buffer)
	binary.Write(packed, binary.LittleEndian, elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: claim, Addralign: 1})
	overlapping := slices.Concat(symbol(0, 0), bytes.Repeat(symbol(1, 1), 100_000))
	for name, sections := range map[string][]section{
		"exported symbols":           {{name: ".dynsym", kind: elf.SHT_DYNSYM, link: 2, size: claim}, {name: ".dynstr", kind: elf.SHT_STRTAB, data: []byte{0}}},
		"symbols":                    {{name: ".symtab", kind: elf.SHT_SYMTAB, link: 2, size: claim}, {name: ".strtab", kind: elf.SHT_STRTAB, data: []byte{0}}},
		"names of symbols":           {{name: ".dynsym", kind: elf.SHT_DYNSYM, link: 2, data: symbol(0, 0)}, {name: ".dynstr", kind: elf.SHT_STRTAB, size: claim}},
		"symbols without number":     {{name: ".dynsym", kind: elf.SHT_DYNSYM, link: 2, size: maxSection}, {name: ".dynstr", kind: elf.SHT_STRTAB, data: []byte{0}}},
		"names within each other":    {{name: ".dynsym", kind: elf.SHT_DYNSYM, link: 2, data: overlapping}, {name: ".dynstr", kind: elf.SHT_STRTAB, data: bytes.Repeat([]byte{'a'}, 1<<20)}},
		"Go's table":                 {{name: ".gopclntab", kind: elf.SHT_PROGBITS, size: claim}},
		"what debuggers want":        {{name: ".debug_str", kind: elf.SHT_PROGBITS, size: claim}},
		"what is unpacked":           {{name: ".debug_info", kind: elf.SHT_PROGBITS, pack: true, data: packed.Bytes()}},
		"names of sections":          {{name: ".x", kind: elf.SHT_STRTAB, size: claim}, {name: ".shstrtab", kind: elf.SHT_STRTAB, size: claim}},
		"libraries":                  {{name: ".dynamic", kind: elf.SHT_DYNAMIC, link: 2, size: claim}, {name: ".dynstr", kind: elf.SHT_STRTAB, data: []byte{0}}},
		"libraries without a number": {{name: ".dynamic", kind: elf.SHT_DYNAMIC, link: 2, data: bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 100_000)}, {name: ".dynstr", kind: elf.SHT_STRTAB, data: bytes.Repeat([]byte{'a'}, 1<<20)}},
	} {
		path := made(t, sections...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readAll(t, path)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > most {
			t.Errorf("%s: %d MB were taken", name, took>>20)
		}
	}
}

// For an honest file the results equal those of debug/elf.
func TestAnHonestFile(t *testing.T) {
	path := made(t,
		section{name: ".dynsym", kind: elf.SHT_DYNSYM, link: 2, data: slices.Concat(symbol(0, 0), symbol(1, 16), symbol(5, 32))},
		section{name: ".dynstr", kind: elf.SHT_STRTAB, data: []byte("\x00one\x00two\x00")})
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := DynamicSymbols(f.File)
	if err != nil || len(got) != 2 || got[0].Name != "one" || got[1].Name != "two" || got[1].Value != 32 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Symbols(f.File); !errors.Is(err, elf.ErrNoSymbols) {
		t.Errorf("other symbols: %v", err)
	}
	path = made(t,
		section{name: ".symtab", kind: elf.SHT_SYMTAB, link: 2, data: slices.Concat(symbol(0, 0), symbol(1, 16))},
		section{name: ".strtab", kind: elf.SHT_STRTAB, data: []byte("\x00three\x00")})
	g, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if got, err := Symbols(g.File); err != nil || len(got) != 1 || got[0].Name != "three" || got[0].Value != 16 {
		t.Errorf("%+v, %v", got, err)
	}
}

// For a program on this machine the results equal those of debug/elf. Test programs built by go test have no symbols,
// so they cannot be compared.
func TestAProgramOfThisMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("its programs are in ELF on Linux")
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(shell)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := f.File.DynamicSymbols() // debug/elf's own
	if err != nil || len(want) == 0 {
		t.Fatalf("%s: %d symbols, %v: there is nothing to compare", shell, len(want), err)
	}
	got, err := DynamicSymbols(f.File)
	same := slices.EqualFunc(got, want, func(a, b elf.Symbol) bool {
		return a.Name == b.Name && a.Info == b.Info && a.Other == b.Other && a.Section == b.Section && a.Value == b.Value && a.Size == b.Size
	})
	if err != nil || !same {
		t.Errorf("%d symbols, %v; debug/elf finds %d", len(got), err, len(want))
	}
	needs, err := ImportedLibraries(f.File)
	if libraries, errWant := f.File.ImportedLibraries(); err != nil || errWant != nil || !slices.Equal(needs, libraries) {
		t.Errorf("libraries %v, %v; debug/elf finds %v, %v", needs, err, libraries, errWant)
	}
}
