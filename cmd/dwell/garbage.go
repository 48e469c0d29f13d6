package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// mostGarbage is how many bytes of garbage may lie where much is in use. Where less than
	// that is, as much as that, as is usual in Go: a collection takes as long as there is in use.
	mostGarbage = 128 << 20
	// leastPercent bounds from below how much may lie, in percent of what is in use.
	leastPercent = 5
)

// boundGarbage keeps to mostGarbage from now on.
func boundGarbage() {
	runtime.SetFinalizer(new([16]byte), afterCollection)
}

// afterCollection sets when the next collection is to begin, after each.
func afterCollection(again *[16]byte) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(garbagePercentOf(live[0].Value.Uint64()))
	runtime.SetFinalizer(again, afterCollection)
}

// garbagePercentOf is how much garbage may lie, in percent of what is in use.
func garbagePercentOf(live uint64) int {
	return int(min(100, max(leastPercent, mostGarbage*100/max(live, 1))))
}
