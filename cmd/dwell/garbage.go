package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// mostGarbage is how many bytes of garbage there may be in addition to memory in use. If less memory than that is in
// use, there may be as much garbage as memory in use, as is usual in Go. A bound in percent alone either costs much
// memory if much is in use, or much time if little is. The bound grows with a fraction of the memory in use if that
// is larger, so that collection time grows linearly with the size of the analysis, not with its square.
const (
	mostGarbage    = 240 << 20
	garbageOfInUse = 8 // the fraction is one in this many
)

const (
	// expands is the minimum factor by which an analysis uses more memory than its recording, and
	expands = 32
	// leastTaken and mostTaken bound the result, in bytes.
	leastTaken, mostTaken = 16 << 20, 512 << 20
)

// takes returns the minimum memory, in bytes, that the analysis of a recording of stored bytes needs.
func takes(stored int64) int64 { return max(leastTaken, min(stored, mostTaken/expands)*expands) }

// usualPercent is GOGC at the time when the first recording was read.
var usualPercent = sync.OnceValue(func() int { return debug.SetGCPercent(-1) })

// boundGarbage keeps garbage within mostGarbage from now on: after each collection it sets the amount of memory at
// which the next one starts, which never decreases. The first is due when the memory is used that the analysis of a
// recording of stored bytes needs in any case.
func boundGarbage(stored int64) {
	most, percent := uint64(takes(stored)), usualPercent()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(int64(most))
	var collected func(*[16]byte)
	collected = func(again *[16]byte) {
		most = max(most, limitFor(readMemory()))
		debug.SetMemoryLimit(int64(most))
		debug.SetGCPercent(percent)
		runtime.SetFinalizer(again, collected)
	}
	runtime.SetFinalizer(new([16]byte), collected)
}

// memory is what the runtime holds, in bytes.
type memory struct{ live, objects, free, released, total uint64 }

func readMemory() (m memory) {
	fields := []*uint64{&m.live, &m.objects, &m.free, &m.released, &m.total}
	all := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/total:bytes"},
	}
	metrics.Read(all)
	for i, s := range all {
		*fields[i] = s.Value.Uint64()
	}
	return m
}

// limitFor returns the total memory at which the next collection begins: memory in use, memory that is neither
// objects nor space for them, and the garbage.
func limitFor(m memory) uint64 {
	return m.live + (m.total - m.objects - m.free - m.released) + max(mostGarbage, m.live/garbageOfInUse)
}
