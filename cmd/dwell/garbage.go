package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// mostGarbage is how many bytes of garbage may lie beside what is in use, once that is as much; below, it may
// be as much as is in use, as is usual in Go. A bound in percent alone costs either much memory where
// much is in use, or much time where little is. A part of what is in use, once that is more, lets the time
// of collections grow with what is analysed, and not with its square.
const (
	mostGarbage    = 240 << 20
	garbageOfInUse = 8 // a part of that many
)

const (
	// expands is how much more memory an analysis takes than its recording, at least, and
	expands = 32
	// leastTaken and mostTaken bound that, in bytes.
	leastTaken, mostTaken = 16 << 20, 512 << 20
)

// takes is how much memory, in bytes, the analysis of a recording of so many bytes takes at least.
func takes(stored int64) int64 { return max(leastTaken, min(stored, mostTaken/expands)*expands) }

// usualPercent is GOGC, as it was when the first recording was read.
var usualPercent = sync.OnceValue(func() int { return debug.SetGCPercent(-1) })

// boundGarbage keeps to mostGarbage from now on: after each collection it is said when memory, of which no
// less was taken before, calls for the next. The first is due once as much is taken as is going to be in any case,
// by the analysis of a recording of so many bytes.
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

// limitFor is how much there may be in all when the next collection begins: what is in use, what is
// neither objects nor room for them, and the garbage.
func limitFor(m memory) uint64 {
	return m.live + (m.total - m.objects - m.free - m.released) + max(mostGarbage, m.live/garbageOfInUse)
}
