package waits

import (
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// gcThreads are the threads of JVMs that stop the others or collect garbage.
type gcThreads struct {
	t          *timeline.Timeline
	f          *facts.Facts
	stops      map[timeline.StrandID]bool                  // lets stopped threads continue
	collectors map[recording.ProcessID][]timeline.StrandID // collect garbage while the others are stopped
	heap       map[lockKey]bool                            // mutexes under which threads request a collection
}

// collectors finds them by the names that HotSpot gives its own threads.
func collectors(t *timeline.Timeline, f *facts.Facts) gcThreads {
	g := gcThreads{t, f, map[timeline.StrandID]bool{}, map[recording.ProcessID][]timeline.StrandID{}, map[lockKey]bool{}}
	jvms := map[recording.ProcessID]bool{}
	for i := range t.Processes {
		jvms[t.Processes[i].ID] = t.Processes[i].Runtime == recording.RuntimeJVM
	}
	for i := range t.Strands {
		s := &t.Strands[i]
		if !jvms[s.Process] || s.Goroutine != recording.NoGoroutine {
			continue
		}
		switch {
		case s.Name == "VM Thread":
			g.stops[timeline.StrandID(i)] = true
		case strings.HasPrefix(s.Name, "ZDriver"), strings.HasPrefix(s.Name, "ZDirector"), strings.HasPrefix(s.Name, "Shenandoah Con"):
			g.stops[timeline.StrandID(i)] = true // threads stall on them when the heap is full
		case strings.HasPrefix(s.Name, "GC Thread#"), strings.HasPrefix(s.Name, "ParGC Thread#"), strings.HasPrefix(s.Name, "ZWorker"), strings.HasPrefix(s.Name, "Shenandoah GC"):
			g.collectors[s.Process] = append(g.collectors[s.Process], timeline.StrandID(i))
		}
	}
	return g
}

// released reports whether the JVM ended a sleep by letting its stopped threads continue: its VM thread did so, from
// inside a futex wake. No other thread wakes threads that way, and the VM thread wakes only threads that stopped or
// requested a stop.
func (g *gcThreads) released(x *sleepAt) bool {
	if len(g.stops) == 0 || x.off.Release != 1 || x.off.WakerKind != recording.WakerThread {
		return false
	}
	by := g.f.Strand(x.off.Waker)
	return by != timeline.None && g.stops[by] && g.t.Strands[by].Process == g.t.Strands[x.strand].Process &&
		!timeline.HotSpots(g.t.Strands[x.strand].Name)
}

// learn notes the mutexes that stacks show to be the heap's.
func (g *gcThreads) learn(all []sleepAt) {
	for i := range all {
		if x := &all[i]; x.verdict.code == "jvm-heap-lock" && x.off.Owner != recording.NoThread {
			g.heap[wordOf(g.t, x)] = true
		}
	}
}

// rule returns RuleGC if a collector ran while the thread was stopped, else RuleVMThread.
func (g *gcThreads) rule(x *sleepAt) string {
	for _, c := range g.collectors[g.t.Strands[x.strand].Process] {
		for _, iv := range timeline.Clipped(g.t.Strands[c].Intervals, x.from, x.to) {
			if iv.State == timeline.StateRunning {
				return timeline.RuleGC
			}
		}
	}
	return timeline.RuleVMThread
}
