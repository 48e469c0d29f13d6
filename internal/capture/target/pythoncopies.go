package target

import (
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// PythonCopies says where a Python process copies the current context, for probes.
type PythonCopies struct {
	File    CodeFile
	Returns []uint64 // in the file: the instructions that return a copy, or something else
	Type    uint64   // address of the type of contexts in the process: a returned object of this type is a copy
}

// FindPythonCopies finds these places. It fails with ErrUnsupported if they are not exported, or if not all code
// that copies contexts calls that function.
func (f *Files) FindPythonCopies(pid int) (PythonCopies, error) {
	const function, object = "PyContext_CopyCurrent", "PyContext_Type"
	found, err := f.loadedImage(pid, imageKind{"Python", pythonLibrary})
	if err != nil {
		return PythonCopies{}, fmt.Errorf("find where process %d copies contexts: %w", pid, err)
	}
	c := PythonCopies{File: found.file}
	if at, ok := found.values[object]; ok {
		c.Type = at + found.bias
	}
	if at, ok := found.values[function]; ok {
		w, err := waysOf(found, at)
		if err != nil {
			return c, fmt.Errorf("find where process %d copies contexts: %w", pid, err)
		}
		c.Returns = w.returns
	}
	if _, within := found.values[builtInAsyncio]; within {
		return c, fmt.Errorf("find where process %d copies contexts: %w: asyncio is built into %s", pid, ErrUnsupported, found.name)
	}
	if c.Type == 0 || len(c.Returns) == 0 {
		return c, fmt.Errorf("find where process %d copies contexts: %w: %s does not export %s (as Python 3.7 and later do)", pid, ErrUnsupported, found.name, function)
	}
	return c, nil
}

// pythonLibrary reports whether a mapped file is Python built as a library.
func pythonLibrary(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "libpython") && strings.Contains(base, ".so")
}

// maxInstructions bounds how many instructions of a function are decoded.
const maxInstructions = 1000

// ways are the paths through the code of a C function, and through functions to which it jumps at its end and which
// are not exported. Addresses are those that the file itself uses.
type ways struct {
	seen    map[uint64]bool // instructions
	calls   map[uint64]bool // functions that are called directly
	returns []uint64        // instructions that return, as offsets in the file
}

// waysOf follows these paths. It is not known where functions end.
func waysOf(in image, function uint64) (ways, error) {
	w := ways{seen: map[uint64]bool{}, calls: map[uint64]bool{}}
	if err := in.onlyX86(); err != nil {
		return w, err
	}
	file, err := in.file.Open()
	if err != nil {
		return w, err
	}
	defer file.Close()
	exported := map[uint64]bool{}
	for _, at := range in.values {
		exported[at] = true
	}
	todo := []uint64{function}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !w.seen[at] && len(w.seen) < maxInstructions {
			w.seen[at] = true
			i, offset, ok := instructionAt(file, in, at)
			if !ok {
				break
			}
			next := at + uint64(i.Len)
			to, direct := i.Args[0].(x86asm.Rel)
			target := next + uint64(int64(to))
			switch {
			case i.Op == x86asm.RET:
				w.returns = append(w.returns, offset)
			case i.Op == x86asm.JMP && direct && !exported[target]:
				todo = append(todo, target)
			case i.Op == x86asm.JMP, i.Op == x86asm.UD2, i.Op == x86asm.HLT:
			case direct && i.Op == x86asm.CALL:
				w.calls[target] = true
				at = next
			default:
				if direct {
					todo = append(todo, target)
				}
				at = next
			}
		}
	}
	return w, nil
}

// instructionAt decodes one instruction, and returns its offset in the file.
func instructionAt(file io.ReaderAt, in image, at uint64) (i x86asm.Inst, offset uint64, ok bool) {
	const longest = 15
	var code [longest]byte
	offset, ok = in.fileOffset(at)
	if !ok {
		return i, 0, false
	}
	n, _ := file.ReadAt(code[:], int64(offset))
	if string(code[:min(n, 4)]) == "\xf3\x0f\x1e\xfa" { // ENDBR64, which the decoder does not know
		return x86asm.Inst{Op: x86asm.NOP, Len: 4}, offset, true
	}
	i, err := x86asm.Decode(code[:n], 64)
	return i, offset, err == nil && i.Len > 0
}
