package target

import (
	"debug/elf"
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/capture/processor"
)

func x86Code(t *testing.T) processor.GoCode {
	t.Helper()
	p, err := processor.Of(&elf.File{FileHeader: elf.FileHeader{Machine: elf.EM_X86_64}})
	if err != nil {
		t.Fatal(err)
	}
	return p.GoCode
}

// A function that calls another one and returns at two places; code after an invalid byte is not examined.
func TestTakeApart(t *testing.T) {
	code := []byte{
		0x85, 0xc0, // test eax, eax
		0x74, 0x06, // je to the second return
		0xe8, 0x0b, 0x00, 0x00, 0x00, // call 0x1014
		0xc3,       // ret
		0x48, 0xc3, // ret, with a prefix
		0x06, // invalid in 64-bit mode
		0xc3,
	}
	c := takeApart(x86Code(t), code, GoFunction{Address: 0x1000, Offset: 0x200})
	calls, after := c.Calls(GoFunction{Address: 0x1014})
	if !slices.Equal(calls, []uint64{0x204}) || !slices.Equal(after, []uint64{0x209}) {
		t.Errorf("calls at %#x, goes on at %#x", calls, after)
	}
	if !slices.Equal(c.Returns, []uint64{0x209, 0x20a}) {
		t.Errorf("returns at %#x", c.Returns)
	}
}
