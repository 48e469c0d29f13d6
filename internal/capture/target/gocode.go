package target

import (
	"fmt"

	"golang.org/x/arch/x86/x86asm"
)

// GoCode is a function's machine code. Go moves stacks, and a probe that replaces a
// return address, as the kernel's do, would crash the program: where a function ends is
// found in its code.
type GoCode struct {
	Returns []uint64 // in the file: of each instruction that returns
	calls   map[uint64][]uint64
}

// CodeOf reads the code of one of the program's functions and takes it apart.
func (p *GoProgram) CodeOf(name string) (GoCode, error) {
	f, ok := p.Functions[name]
	if !ok {
		return GoCode{}, fmt.Errorf("%w: the program has no %s", ErrUnsupported, name)
	}
	file, err := p.File.Open()
	if err != nil {
		return GoCode{}, fmt.Errorf("read the code of %s: %w", name, err)
	}
	defer file.Close()
	code := make([]byte, min(f.Size, maxFunction))
	if _, err := file.ReadAt(code, int64(f.Offset)); err != nil {
		return GoCode{}, fmt.Errorf("read the code of %s: %w", name, err)
	}
	return takeApart(code, f), nil
}

// maxFunction bounds how much code of a function is looked at, in bytes.
const maxFunction = 1 << 16

// takeApart finds the returns and the calls in a function's code, up to an instruction
// that is not understood.
func takeApart(code []byte, f GoFunction) GoCode {
	c := GoCode{calls: map[uint64][]uint64{}}
	for at := 0; at < len(code); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil || in.Len == 0 {
			return c
		}
		next := at + in.Len
		switch in.Op {
		case x86asm.RET:
			c.Returns = append(c.Returns, f.Offset+uint64(at))
		case x86asm.CALL:
			if to, direct := in.Args[0].(x86asm.Rel); direct {
				callee := f.Address + uint64(next) + uint64(int64(to))
				c.calls[callee] = append(c.calls[callee], f.Offset+uint64(at))
			}
		}
		at = next
	}
	return c
}

// callLength is that of a direct call, in bytes.
const callLength = 5

// Calls returns, in the file, where the code calls a function, and where it goes on.
func (c *GoCode) Calls(f GoFunction) (calls, after []uint64) {
	for _, at := range c.calls[f.Address] {
		calls = append(calls, at)
		after = append(after, at+callLength)
	}
	return calls, after
}
