package target

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/capture/elffile"
	"github.com/getdwell/dwell/internal/capture/processor"
)

// GoCode is a function's machine code. Go moves stacks, so a probe that replaces a return address, as the kernel's
// return probes do, would crash the program. Therefore the ends of a function are found in its code.
type GoCode struct {
	Returns []uint64 // offset in the file of each return instruction
	calls   map[uint64][]uint64

	callLength uint64
}

// CodeOf reads and analyses the code of one of the program's functions.
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
	m, err := processorOf(file)
	if err != nil {
		return GoCode{}, err
	}
	return takeApart(m.GoCode, code, f), nil
}

// processorOf returns the processor for which an opened program is made.
func processorOf(opened io.ReaderAt) (processor.Processor, error) {
	file, err := elffile.New(opened)
	if err != nil {
		return processor.Processor{}, err
	}
	m, err := processor.Of(file)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return m, err
}

// maxFunction bounds how much code of a function is read, in bytes.
const maxFunction = 1 << 16

// takeApart finds the returns and the calls in a function's code, up to the first instruction that is not understood.
func takeApart(m processor.GoCode, code []byte, f GoFunction) GoCode {
	c := GoCode{calls: map[uint64][]uint64{}, callLength: m.CallLength}
	returns, calls := m.Apart(code)
	for _, at := range returns {
		c.Returns = append(c.Returns, f.Offset+uint64(at))
	}
	for _, at := range slices.Sorted(maps.Keys(calls)) {
		callee := f.Address + uint64(calls[at])
		c.calls[callee] = append(c.calls[callee], f.Offset+uint64(at))
	}
	return c
}

// Calls returns the file offsets where the code calls a function, and where it continues after that.
func (c *GoCode) Calls(f GoFunction) (calls, after []uint64) {
	for _, at := range c.calls[f.Address] {
		calls = append(calls, at)
		after = append(after, at+c.callLength)
	}
	return calls, after
}
