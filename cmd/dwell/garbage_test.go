package main

import "testing"

func TestGarbageIsBounded(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, 1 << 20: 100, 128 << 20: 100, 512 << 20: 25, 1 << 30: 12, 64 << 30: leastPercent} {
		if got := garbagePercentOf(live); got != want {
			t.Errorf("%d MB in use: %d %%, want %d", live>>20, got, want)
		}
	}
}
