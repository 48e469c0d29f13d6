package main

import (
	"os"
	"strings"
	"testing"
)

func TestUseHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil || !mayReserve() {
		t.Skip("this kernel has no huge pages, or memory may not be reserved:", err)
	}
	asked := func() int {
		maps, err := os.ReadFile("/proc/self/smaps")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(maps)) {
			if strings.HasPrefix(line, "VmFlags:") && strings.Contains(line, " hg") {
				n++
			}
		}
		return n
	}
	before := asked()
	if useHugePages(smallRecording); asked() != before {
		t.Errorf("asked for a small recording: %d mappings, were %d", asked(), before)
	}
	if useHugePages(smallRecording + 1); asked() == before {
		t.Errorf("no mapping was asked for in huge pages: %d", before)
	}
}
