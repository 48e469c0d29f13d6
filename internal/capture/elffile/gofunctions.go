package elffile

import "encoding/binary"

// goHeader is the minimum length of the head of Go's table of functions, in bytes.
const goHeader = 72

// Formats of Go's table of functions.
const (
	goNone = iota
	goWide // of Go 1.16: addresses of eight bytes
	goNow  // of Go 1.18 and later: four bytes, relative to the start of the code
)

func goForm(table []byte) int {
	switch binary.LittleEndian.Uint32(table) {
	case 0xfffffffa:
		return goWide
	case 0xfffffff0, 0xfffffff1:
		return goNow
	}
	return goNone
}

// goFunctions is Go's table of functions, as far as it is checked.
type goFunctions struct {
	wide      bool
	count     int
	values    []byte // values that change within functions
	functions []byte
	steps     int
}

// checkGoFunctions fails with ErrUnsound if a table of functions refers to data outside the table. It fails with
// ErrTooLarge if the table describes more than is possible without functions sharing descriptions. A table of an
// unknown format passes, because nothing reads it.
func checkGoFunctions(table []byte) error {
	if len(table) < goHeader || goForm(table) == goNone || table[7] != 8 || binary.LittleEndian.Uint16(table[4:]) != 0 {
		return nil
	}
	g, err := parseGoFunctions(table)
	if err != nil {
		return err
	}
	for i := range g.count {
		if err := g.check(g.entry(i)); err != nil {
			return err
		}
	}
	return nil
}

// parseGoFunctions splits a table into its parts.
func parseGoFunctions(table []byte) (*goFunctions, error) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(table[8+8*i:]) }
	first := 3 // before the parts: the number of functions and files, and where the code begins
	g := &goFunctions{wide: goForm(table) == goWide}
	if g.wide {
		first = 2
	}
	at := word(first)
	for i := first + 1; i < first+5; i++ {
		if word(i) <= at {
			return nil, ErrUnsound
		}
		at = word(i)
	}
	if at >= uint64(len(table)) {
		return nil, ErrUnsound
	}
	g.values, g.functions = table[word(first+3):at], table[at:]
	count := word(0)
	if count > maxSymbols {
		return nil, ErrTooLarge
	}
	g.count = int(count)
	if (g.count+1)*g.width() > len(g.functions) {
		return nil, ErrUnsound
	}
	return g, nil
}

// width returns the size of a function's entry in the list, in bytes.
func (g *goFunctions) width() int {
	if g.wide {
		return 16
	}
	return 8
}

// entry returns where a function begins, and where its description is.
func (g *goFunctions) entry(i int) (pc, at uint64) {
	e := g.functions[i*g.width():]
	if g.wide {
		return binary.LittleEndian.Uint64(e), binary.LittleEndian.Uint64(e[8:])
	}
	return uint64(binary.LittleEndian.Uint32(e)), uint64(binary.LittleEndian.Uint32(e[4:]))
}

// check checks the description of a function.
func (g *goFunctions) check(pc, at uint64) error {
	const told = 32
	own := uint64(g.width() / 2) // its address, repeated
	if at > uint64(len(g.functions)) || uint64(len(g.functions))-at < own+told {
		return ErrUnsound
	}
	f := g.functions[at:]
	again := uint64(binary.LittleEndian.Uint32(f))
	if g.wide {
		again = binary.LittleEndian.Uint64(f)
	}
	if again != pc {
		return ErrUnsound
	}
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(f[own+uint64(4*i):]) }
	const stack, file, line = 3, 4, 5
	for _, values := range []int{stack, file, line} {
		if uint64(field(values)) >= uint64(len(g.values)) {
			return ErrUnsound
		}
	}
	if field(stack) != 0 {
		return g.walk(g.values[field(stack):])
	}
	return nil
}

// walk counts how often a value changes within a function.
func (g *goFunctions) walk(values []byte) error {
	for len(values) > 0 && values[0] != 0 {
		if g.steps++; g.steps > maxSteps {
			return ErrTooLarge
		}
		values = afterNumber(afterNumber(values))
	}
	return nil
}

// afterNumber returns what follows a number of variable length.
func afterNumber(b []byte) []byte {
	for i, v := range b {
		if v&0x80 == 0 {
			return b[i+1:]
		}
	}
	return nil
}
