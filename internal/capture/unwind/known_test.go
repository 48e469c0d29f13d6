//go:build linux && (amd64 || arm64)

package unwind

import (
	"strings"
	"testing"
)

func TestFirstCode(t *testing.T) {
	const maps = `55d0c0a00000-55d0c0a01000 r--p 00000000 fe:00 131 /usr/bin/java
7f00deada000-7f00deadb000 r-xp 00000000 00:00 0
7f00deadb000-7f00deadc000 r-xp 00001000 fe:00 131 /usr/bin/java
7f00deaf0000-7f00deaf1000 r-xp 00001000 fe:00 140 /usr/lib/libc.so.6
`
	if a, err := firstCode(strings.NewReader(maps)); err != nil || a != 0x7f00deadb000 {
		t.Errorf("0x%x, %v; want that of /usr/bin/java", a, err)
	}
	if _, err := firstCode(strings.NewReader("")); err == nil {
		t.Error("a process without code has a first address of code")
	}
}
