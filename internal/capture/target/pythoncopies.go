package target

import (
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// PythonCopies says where a Python process copies the current context, for probes.
type PythonCopies struct {
	Path    string   // of the file to attach to, valid while the process lives
	Returns []uint64 // in the file: the instructions that return a copy, or something else
	Type    uint64   // address of the type of contexts in the process: what is of it is a copy
}

// FindPythonCopies finds them. It fails with ErrUnsupported where they are not exported, or
// where not all who copy contexts call that function.
func FindPythonCopies(pid int) (PythonCopies, error) {
	const function, object = "PyContext_CopyCurrent", "PyContext_Type"
	found, err := loadedImage(pid, imageKind{"Python", pythonLibrary})
	if err != nil {
		return PythonCopies{}, fmt.Errorf("find where process %d copies contexts: %w", pid, err)
	}
	c := PythonCopies{Path: found.path}
	if at, ok := found.values[object]; ok {
		c.Type = at + found.bias
	}
	if at, ok := found.values[function]; ok {
		if c.Returns, err = returnsOf(found, at); err != nil {
			return c, fmt.Errorf("find where process %d copies contexts: %w", pid, err)
		}
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

// maxInstructions bounds how much of a function is taken apart.
const maxInstructions = 1000

// returnsOf finds, in the file, the instructions by which a C function returns: its own, and
// those of functions that are not exported and to which it jumps at its end. Where the ends
// of functions are is not known: the ways through the code are followed.
func returnsOf(in image, function uint64) (returns []uint64, err error) {
	file, err := os.Open(in.path)
	if err != nil {
		return nil, procError(err)
	}
	defer file.Close()
	exported := map[uint64]bool{}
	for _, at := range in.values {
		exported[at] = true
	}
	seen, ways := map[uint64]bool{}, []uint64{function}
	for len(ways) > 0 {
		at := ways[len(ways)-1]
		ways = ways[:len(ways)-1]
		for !seen[at] && len(seen) < maxInstructions {
			seen[at] = true
			i, offset, ok := instructionAt(file, in, at)
			if !ok {
				break
			}
			next := at + uint64(i.Len)
			to, direct := i.Args[0].(x86asm.Rel)
			target := next + uint64(int64(to))
			switch {
			case i.Op == x86asm.RET:
				returns = append(returns, offset)
			case i.Op == x86asm.JMP && direct && !exported[target]:
				ways = append(ways, target)
			case i.Op == x86asm.JMP, i.Op == x86asm.UD2, i.Op == x86asm.HLT:
			default:
				if direct && i.Op != x86asm.CALL {
					ways = append(ways, target)
				}
				at = next
			}
		}
	}
	return returns, nil
}

// instructionAt decodes one instruction, and says where in the file it is.
func instructionAt(file *os.File, in image, at uint64) (i x86asm.Inst, offset uint64, ok bool) {
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
