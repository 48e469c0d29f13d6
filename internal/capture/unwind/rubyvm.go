//go:build linux && (amd64 || arm64)

package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"

	"github.com/getdwell/dwell/internal/capture/elffile"
)

// rubyVM reads names from the memory of a process that runs Ruby 3.1 to 3.4. These are the names of methods written
// in C, which the profiler does not know in a stripped Ruby, and the classes of all methods, which the profiler knows
// only since Ruby 3.3. The process is not stopped: what is read has existed since the method was defined.
type rubyVM struct {
	pid     int
	of      rubyLayout
	symbols uint64            // address of Ruby's table of symbols
	methods map[uint64]string // by the address of the method's entry
	keys    map[string]uint64 // ids of the names of hidden variables
}

// maxMethods bounds how many names are kept for one process.
const maxMethods = 1 << 14

// rubyLayout holds the differences between versions of Ruby on 64 bits, from include/ruby/internal/core/rstring.h and
// internal/class.h of each version. 0 means that the field does not exist.
type rubyLayout struct {
	lastOperator   uint64 // ids up to it are not shifted (id.h)
	singleton      uint64 // flag of a class: singleton class of one object
	embeddedText   uint64 // of a short string: offset of its characters; 0: they follow directly, and its flags contain its length
	hiddenTable    bool   // a class keeps its name, and its object, in a table of hidden variables
	firstVariable  uint64 // of a class: list of its variables; the first is its name, or its object
	attached, path uint64 // of a class: its object; its name
}

// rubyLayouts are the versions with a known layout.
func rubyLayouts() map[string]rubyLayout {
	return map[string]rubyLayout{
		"3.1.": {lastOperator: 169, singleton: 1 << 12, hiddenTable: true},
		"3.2.": {lastOperator: 169, singleton: 1 << 12, embeddedText: 24, firstVariable: 32},
		"3.3.": {lastOperator: 169, singleton: 1 << 12, embeddedText: 24, attached: 128, path: 152},
		"3.4.": {lastOperator: 170, singleton: 1 << 13, embeddedText: 24, attached: 128, path: 152},
	}
}

// Layout of the data that is the same in all these versions.
const (
	rubyTypeMask   = 0x1f
	rubyTypeClass  = 2
	rubyTypeModule = 3
	rubyTypeString = 5
	rubyTypeArray  = 7
	rubyTypeHash   = 8
	rubyTypeIClass = 0x1c

	rubyEmbedded = 1 << 13 // of an array
	rubyNotHere  = 1 << 13 // of a string

	entryDefinition  = 16 // in a method's entry
	entryOwner       = 32
	definitionID     = 32
	classOf          = 8
	classExtension   = 24
	extensionHidden  = 8 // in a class's extension: its instance variables
	tableEntries     = 16
	tableBound       = 40
	tableList        = 48
	tableEntry       = 24
	stringLength     = 16
	stringAddress    = 24
	arrayLength      = 16
	arrayAddress     = 32
	objectContents   = 16
	idShift          = 4
	idsPerPage       = 512
	maxRubyName      = 256
	maxHiddenEntries = 64
)

var errRubyUnknown = errors.New("names are read from Ruby 3.1 to 3.4 only")

// openRubyVM finds the table of symbols of a process's Ruby.
func openRubyVM(pid int) (*rubyVM, error) {
	image, err := openImage(pid, rubyLibrary)
	if err != nil {
		return nil, err
	}
	defer image.Close()
	symbols, err := elffile.DynamicSymbols(image.file.File)
	if err != nil {
		return nil, fmt.Errorf("read the symbols of Ruby: %w", err)
	}
	v := &rubyVM{pid: pid, methods: map[uint64]string{}, keys: map[string]uint64{}}
	for _, s := range symbols {
		if s.Name != "ruby_version" {
			continue
		}
		of, known := rubyLayouts()[string(v.bytes(image.bias+s.Value, 4))]
		if !known {
			return nil, errRubyUnknown
		}
		v.of = of
	}
	for _, p := range image.file.Progs {
		const writable = 2
		if p.Flags&writable == 0 {
			continue
		}
		from := (p.Vaddr + image.bias + 7) &^ 7
		if v.findSymbols(from, v.bytes(from, (p.Memsz-8)&^7)); v.symbols != 0 {
			return v, nil
		}
	}
	return nil, errors.New("the symbols of this Ruby were not found")
}

// findSymbols searches Ruby's own variables for the table: {the last id, a table of strings, an array, a hash}.
func (v *rubyVM) findSymbols(from uint64, data []byte) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(data[i:]) }
	for i := 0; i+32 <= len(data); i += 8 {
		last, ids, hash := word(i), word(i+16), word(i+24)
		if last < 200 || last > 1<<28 || !pointer(word(i+8)) || !pointer(ids) || !pointer(hash) {
			continue
		}
		if v.word(ids)&rubyTypeMask == rubyTypeArray && v.word(hash)&rubyTypeMask == rubyTypeHash {
			v.symbols = from + uint64(i)
			return
		}
	}
}

// pointer reports whether a value may point to an object.
func pointer(a uint64) bool { return a > 1<<12 && a < 1<<47 && a%8 == 0 }

// bytes reads memory; nil if it cannot be read.
func (v *rubyVM) bytes(address, size uint64) []byte {
	if size == 0 || size > 1<<24 {
		return nil
	}
	out := make([]byte, size)
	if !memoryOf(v.pid)(address, out) {
		return nil
	}
	return out
}

// word reads a word; 0 if it cannot be read.
func (v *rubyVM) word(address uint64) uint64 {
	if b := v.bytes(address, 8); b != nil && pointer(address) {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// method returns the name of a method for its entry, such as "Thread::Mutex#synchronize"; "" if it cannot be
// determined.
func (v *rubyVM) method(entry uint64) string {
	if name, ok := v.methods[entry]; ok {
		return name
	}
	name := v.id(v.word(v.word(entry+entryDefinition) + definitionID))
	if owner := v.class(v.word(entry + entryOwner)); name != "" && owner != "" {
		name = owner + name
	}
	if len(v.methods) >= maxMethods {
		clear(v.methods)
	}
	v.methods[entry] = name
	return name
}

// class returns the name of a class or module, including the separator before a method's name.
func (v *rubyVM) class(a uint64) string {
	flags := v.word(a)
	switch {
	case flags&rubyTypeMask == rubyTypeIClass:
		a = v.word(a + classOf)
	case flags&rubyTypeMask == rubyTypeClass && flags&v.of.singleton != 0:
		if of := v.path(v.attached(a)); of != "" {
			return of + "."
		}
		return ""
	}
	if path := v.path(a); path != "" {
		return path + "#"
	}
	return ""
}

// path returns the name of a class or module as a program writes it.
func (v *rubyVM) path(a uint64) string {
	switch v.word(a) & rubyTypeMask {
	case rubyTypeClass, rubyTypeModule:
		switch {
		case v.of.hiddenTable:
			return v.text(v.hidden(a, "__classpath__"))
		case v.of.path != 0:
			return v.text(v.word(a + v.of.path))
		}
		// A class is named when it is created, before it has other variables. A class that had no name then may have
		// another text there, so the text must look like a name.
		if name := v.text(v.word(v.word(a + v.of.firstVariable))); constant.MatchString(name) {
			return name
		}
	}
	return ""
}

// constant matches the name of a class as programs write it.
var constant = regexp.MustCompile(`^[A-Z]\w*(::[A-Z]\w*)*$`)

// attached returns the object to which a singleton class belongs.
func (v *rubyVM) attached(class uint64) uint64 {
	switch {
	case v.of.hiddenTable:
		return v.hidden(class, "__attached__")
	case v.of.attached != 0:
		return v.word(class + v.of.attached)
	}
	return v.word(v.word(class + v.of.firstVariable))
}

// hidden reads a variable of a class that programs cannot see.
func (v *rubyVM) hidden(class uint64, name string) uint64 {
	table := v.word(v.word(class+classExtension) + extensionHidden)
	if n := v.word(table + tableEntries); n == 0 {
		return 0
	}
	bound := min(v.word(table+tableBound), maxHiddenEntries)
	entries := v.bytes(v.word(table+tableList), bound*tableEntry)
	for i := 0; i+tableEntry <= len(entries); i += tableEntry {
		key := binary.LittleEndian.Uint64(entries[i+8:])
		if known, ok := v.keys[name]; ok && known == key || !ok && v.id(key) == name {
			v.keys[name] = key
			return binary.LittleEndian.Uint64(entries[i+16:])
		}
	}
	return 0
}

// id returns the text of one of Ruby's ids.
func (v *rubyVM) id(id uint64) string {
	if id > v.of.lastOperator {
		id >>= idShift
	}
	pages, n := v.array(v.word(v.symbols + 16))
	if id/idsPerPage >= n {
		return ""
	}
	page, n := v.array(v.word(pages + id/idsPerPage*8))
	if id%idsPerPage*2 >= n {
		return ""
	}
	return v.text(v.word(page + id%idsPerPage*2*8))
}

// array returns where an array's elements are, and their number.
func (v *rubyVM) array(a uint64) (contents, n uint64) {
	flags := v.word(a)
	if flags&rubyTypeMask != rubyTypeArray {
		return 0, 0
	}
	if flags&rubyEmbedded != 0 {
		return a + objectContents, flags >> 15 & 0x7f
	}
	return v.word(a + arrayAddress), v.word(a + arrayLength)
}

// text returns the characters of a string.
func (v *rubyVM) text(a uint64) string {
	flags := v.word(a)
	if flags&rubyTypeMask != rubyTypeString {
		return ""
	}
	var from, n uint64
	switch {
	case flags&rubyNotHere != 0:
		from, n = v.word(a+stringAddress), v.word(a+stringLength)
	case v.of.embeddedText != 0:
		from, n = a+v.of.embeddedText, v.word(a+stringLength)
	default:
		from, n = a+objectContents, flags>>14&0x1f
	}
	return string(v.bytes(from, min(n, maxRubyName)))
}
