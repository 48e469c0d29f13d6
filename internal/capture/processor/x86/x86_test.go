package x86

import (
	"slices"
	"testing"
)

// The beginnings of functions, as compilers of several versions generate them.
func TestProbeAt(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       uint64
	}{
		{"leaf", "\x55\x48\x89\xe5", 0},
		{"small frame", "\x49\x3b\x66\x10\x76\x39\x55\x48\x89\xe5", 6},
		{"large frame", "\x4c\x8d\xa4\x24\x00\xfe\xff\xff\x4d\x3b\x66\x10\x0f\x86\x11\x22\x00\x00\x55\x48", 18},
		{"before Go 1.21", "\x49\x3b\x66\x10\x0f\x86\x11\x22\x00\x00\x48\x83\xec\x20", 4},
		{"no check of the stack", "\x48\x83\xec\x20\xc3", 0},
		{"cut", "\x49\x3b\x66\x10\x0f\x86\x11\x22", 0},
	} {
		if got := ProbeAt([]byte(c.code)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestCalls(t *testing.T) {
	const code = "\xe8\x05\x00\x00\x00" + "\x90" + "\xeb\x02" + "\xff\xe0" + "\xc3" // call, nop, jmp, jmp *rax, ret
	if got := Calls([]byte(code)); !slices.Equal(got, []int64{10, 10}) {
		t.Errorf("calls and jumps to %v", got)
	}
}

func TestStubSlot(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       uint64
	}{
		{"stub", "\xff\x25\x10\x00\x00\x00\x68\x01\x00\x00\x00\xe9\x00\x00\x00\x00", 0x1016},
		{"with a landing", "\xf3\x0f\x1e\xfa\xf2\xff\x25\x10\x00\x00\x00\x0f\x1f\x44\x00\x00", 0x101b},
		{"jump elsewhere", "\xe9\x00\x00\x00\x00", 0},
		{"empty", "", 0},
	} {
		if got := StubSlot([]byte(c.code), 0x1000); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}
