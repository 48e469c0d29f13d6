package arm64

import (
	"encoding/binary"
	"maps"
	"slices"
	"testing"
)

// code assembles instruction words.
func code(words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

const (
	nop      = 0xd503201f
	ret      = 0xd65f03c0
	call3    = 0x94000003 // BL, 3 instructions on
	callBack = 0x97ffffff // BL, 1 instruction back
	limit    = 0xf9400b90 // LDR X16, [X28, #16]
	compare  = 0xeb3063ff // CMP SP, X16
	more     = 0x54000229 // B.LS
	frame    = 0xf81d0ffe // STR X30, [SP, #-48]!
)

func TestApart(t *testing.T) {
	returns, calls := Apart(code(call3, nop, callBack, ret, nop, ret))
	if !slices.Equal(returns, []int{12, 20}) {
		t.Errorf("returns at %v", returns)
	}
	if !maps.Equal(calls, map[int]int64{0: 12, 8: 4}) {
		t.Errorf("calls %v", calls)
	}
}

// The beginnings of functions as Go 1.26 generates them.
func TestProbeAt(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want uint64
	}{
		{"small frame", code(limit, compare, more, frame), 12},
		{"large frame", code(limit, 0xd10203f1 /* SUB X17, SP, #128 */, 0xeb10023f /* CMP X17, X16 */, more, frame), 16},
		{"no check of the stack", code(frame, nop, more), 0},
		{"cut", code(limit, compare), 0},
		{"empty", nil, 0},
	} {
		if got := ProbeAt(c.code); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestFirstRead(t *testing.T) {
	const (
		begins = 0x10000
		page   = 0xb0001a3b // ADRP X27, 0x345 pages on
		back   = 0xf0ffffdb // ADRP X27, 5 pages back
		load   = 0xb9414b60 // LDR W0, [X27, #328]
		other  = 0xb9414b40 // LDR W0, [X26, #328]
		whole  = 0xf940a760 // LDR X0, [X27, #328], 64 bits
	)
	for _, c := range []struct {
		name string
		code []byte
		want uint64
	}{
		{"on", code(nop, page, whole, other, load), begins + 0x345<<12 + 328},
		{"back", code(back, load), begins - 5<<12 + 328},
		{"with its sign", code(page, 0xb9814b60 /* LDRSW X0, [X27, #328] */), begins + 0x345<<12 + 328},
		{"none", code(page, whole, other), 0},
	} {
		if got := FirstRead(c.code, begins); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}

func TestSyscall(t *testing.T) {
	for nr, want := range map[int]string{63: "read", 98: "futex", 73: "ppoll", 1 << 20: ""} {
		if got := Syscall(nr); got != want {
			t.Errorf("%d: %q, want %q", nr, got, want)
		}
	}
}

func TestCalls(t *testing.T) {
	const jump = 0x14000002 // B, 2 instructions on
	if got := Calls(code(call3, nop, jump, callBack, ret)); !slices.Equal(got, []int64{12, 16, 8}) {
		t.Errorf("calls and jumps to %v", got)
	}
}

func TestStubSlot(t *testing.T) {
	const (
		page    = 0xb0001010 // ADRP X16, 0x201 pages on
		load    = 0xf9400611 // LDR X17, [X16, #8]
		add     = 0x91002210 // ADD X16, X16, #8
		goThere = 0xd61f0220 // BR X17
		landing = 0xd503245f // BTI C
	)
	for _, c := range []struct {
		name string
		code []byte
		want uint64
	}{
		{"stub", code(page, load, add, goThere), 0x10000 + 0x201<<12 + 8},
		{"with a landing", code(landing, page, load, add, goThere), 0x10000 + 0x201<<12 + 8},
		{"its second half", code(load, add, goThere, page), 0},
		{"cut", code(page), 0},
	} {
		if got := StubSlot(c.code, 0x10000); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}
