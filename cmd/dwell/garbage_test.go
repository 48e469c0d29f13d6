package main

import (
	"runtime"
	"testing"
)

// 50 MB are in use, and the runtime itself needs 10 MB.
func TestGarbageIsBoundedInBytes(t *testing.T) {
	m := memory{live: 50 << 20, objects: 70 << 20, free: 20 << 20, released: 100 << 20, total: 200 << 20}
	if got, want := limitFor(m), uint64(60<<20+mostGarbage); got != want {
		t.Errorf("at most %d bytes in all, want %d", got, want)
	}
	m.live, m.objects, m.total = 4<<30, 4<<30, 4<<30+130<<20
	if got, want := limitFor(m), uint64(4<<30+10<<20+512<<20); got != want {
		t.Errorf("at most %d bytes in all of 4 GB in use, want %d", got, want)
	}
	runtime.GC()
	if m := readMemory(); m.live == 0 || m.objects == 0 || m.total < m.objects+m.free+m.released {
		t.Errorf("the runtime says %+v of itself", m)
	}
}

func TestAnAnalysisTakesAtLeast(t *testing.T) {
	for stored, want := range map[int64]int64{0: leastTaken, 1 << 20: 32 << 20, 50 << 20: mostTaken, 1 << 62: mostTaken} {
		if got := takes(stored); got != want {
			t.Errorf("of %d bytes %d, want %d", stored, got, want)
		}
	}
}
