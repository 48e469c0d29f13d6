package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
)

// tables holds byte offsets in the headers of ELF files of one width: those in the file header, and those in a
// section header.
type tables struct {
	sections, count, names int // of the file
	size, from, long       int // of a section: size of its header, its position, its length
	word                   func(b []byte) uint64
}

// checkNames fails with ErrTooLarge if the names of a file's sections need too much memory. Each name is copied, and
// names may overlap, so a small file can have gigabytes of them. Files that are not ELF are left to other checks.
func checkNames(file io.ReaderAt) error {
	var head [64]byte
	if n, _ := file.ReadAt(head[:], 0); n < len(head) || string(head[:4]) != elf.ELFMAG {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		order = binary.BigEndian
	}
	t := tables{0x28, 0x3c, 0x3e, 64, 0x18, 0x20, order.Uint64}
	if head[elf.EI_CLASS] == byte(elf.ELFCLASS32) {
		t = tables{0x20, 0x30, 0x32, 40, 0x10, 0x14, func(b []byte) uint64 { return uint64(order.Uint32(b)) }}
	}
	at, count, names := t.word(head[t.sections:]), int(order.Uint16(head[t.count:])), int(order.Uint16(head[t.names:]))
	if at == 0 {
		return nil
	}
	if stride := int(order.Uint16(head[t.count-2:])); count == 0 || count > maxSections || count > 0 && stride != t.size {
		return ErrTooLarge // then the first section contains the number of sections, which is more than 65,000
	}
	if names >= count {
		return nil
	}
	all := make([]byte, count*t.size)
	if n, _ := file.ReadAt(all, int64(at)); n < len(all) {
		return nil
	}
	return t.checkTexts(file, all, order, all[names*t.size:])
}

// checkTexts adds up the names of all sections; own is the section that contains them.
func (t *tables) checkTexts(file io.ReaderAt, all []byte, order binary.ByteOrder, own []byte) error {
	const flags = 8
	size := t.word(own[t.long:])
	if size > maxNames || t.word(own[flags:])&uint64(elf.SHF_COMPRESSED) != 0 {
		return ErrTooLarge
	}
	texts := make([]byte, size)
	if n, _ := file.ReadAt(texts, int64(t.word(own[t.from:]))); n < len(texts) {
		return nil
	}
	for sum := 0; len(all) > 0; all = all[t.size:] {
		at := order.Uint32(all)
		if uint64(at) >= size {
			continue
		}
		n := bytes.IndexByte(texts[at:], 0)
		if n < 0 {
			return nil // the reader of the headers refuses it
		}
		if sum += n; sum > maxNames {
			return ErrTooLarge
		}
	}
	return nil
}
