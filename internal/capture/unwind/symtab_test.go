package unwind

import (
	"strings"
	"testing"
)

// names is a table of strings as a file has it.
const names = "\x00__mutex_lock\x00mutex_lock\x00inner\x00"

func table() *symbolTable {
	return &symbolTable{
		names: strings.NewReader(names),
		functions: []function{
			{address: 0x100, size: 0x40, name: 1},  // two names for one place
			{address: 0x100, size: 0x40, name: 14}, //
			{address: 0x200, size: 0x10, name: 25},
		},
		starts: []uint64{0x100, 0x180, 0x200},
	}
}

func TestNamesOfNativeCode(t *testing.T) {
	for address, want := range map[uint64]string{
		0x0ff: "",           // before all symbols
		0x100: "mutex_lock", // the name that its callers use
		0x13f: "mutex_lock",
		0x140: "", // behind the symbol's end: not by the nearest
		0x1ff: "",
		0x20f: "inner",
		0x210: "",
	} {
		if got := table().name(address); got != want {
			t.Errorf("0x%x is called %q, want %q", address, got, want)
		}
	}
}

func TestPlacesOfCodeWithoutName(t *testing.T) {
	for address, want := range map[uint64]uint64{0x80: 0x80, 0x180: 0x180, 0x1a3: 0x180, 0x5000: 0x200} {
		if got := table().start(address); got != want {
			t.Errorf("the function at 0x%x starts at 0x%x, want 0x%x", address, got, want)
		}
	}
}
