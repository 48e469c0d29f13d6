package torture

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// GoProgram makes a hostile program of one for this kind of machine, which runs as before: its file has Go's table of
// so many functions, each of which tells of 2,000 steps of its stack, all the same ones. What it holds is some
// kilobytes, which begin a file of the size, the rest of which is a hole: functions whose entry is zero.
func GoProgram(program []byte, functions uint64) (begin []byte, size int64) {
	table := goTable(functions, elf.Machine(binary.LittleEndian.Uint16(program[0x12:])))
	names := []byte("\x00.gopclntab\x00.shstrtab\x00\x00\x00\x00")
	const sections = 3
	at := uint64(len(program)+7) &^ 7
	ownNames := at + sections*64
	ownTable := ownNames + uint64(len(names))
	long := uint64(len(table)) + 8*functions + 8
	var out bytes.Buffer
	out.Write(program)
	out.Write(make([]byte, at-uint64(len(program))))
	binary.Write(&out, binary.LittleEndian, []elf.Section64{
		{},
		{Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: ownTable, Size: long},
		{Name: 12, Type: uint32(elf.SHT_STRTAB), Off: ownNames, Size: uint64(len(names))},
	})
	out.Write(names)
	out.Write(table)
	begin = out.Bytes()
	binary.LittleEndian.PutUint64(begin[0x28:], at)
	binary.LittleEndian.PutUint16(begin[0x3a:], 64)
	binary.LittleEndian.PutUint16(begin[0x3c:], sections)
	binary.LittleEndian.PutUint16(begin[0x3e:], 2)
	return begin, int64(ownTable + long)
}

// goTable is the table of Go 1.20 and later, up to where its entries are all zero: what these refer to is at its
// beginning, in the place of the first ones.
func goTable(functions uint64, machine elf.Machine) []byte {
	const steps, fileValues, stackValues = 2000, 48, 64
	quantum := byte(1)
	if machine == elf.EM_AARCH64 {
		quantum = 4
	}
	values := make([]byte, stackValues)
	copy(values[fileValues:], []byte{2, 0x7f}) // of the first file
	for i := range steps {
		values = append(values, []byte{16, 15}[i%2], 1) // 8 up, 8 down
	}
	values = append(values, make([]byte, 8-len(values)%8)...)
	first := make([]byte, 80)
	binary.LittleEndian.PutUint32(first[16:], stackValues)
	binary.LittleEndian.PutUint32(first[20:], fileValues)
	binary.LittleEndian.PutUint32(first[48:], stackValues) // an entry, which refers to itself
	binary.LittleEndian.PutUint32(first[52:], fileValues)
	head := binary.LittleEndian.AppendUint32(nil, 0xfffffff1)
	head = append(head, 0, 0, quantum, 8)
	for _, v := range []uint64{functions, 1, 0x1000, 72, 80, 88, 96, 96 + uint64(len(values))} {
		head = binary.LittleEndian.AppendUint64(head, v)
	}
	file := []byte("x.s\x00\x00\x00\x00\x00") // machine code, of which steps are told
	return slices.Concat(head, make([]byte, 16), file, values, first)
}
