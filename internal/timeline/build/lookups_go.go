package build

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// resolvers tell which look-ups may belong together: those of a thread, of which it makes
// one after the other. Goroutines change threads, and several resolve at once.
type resolvers struct {
	f   *facts
	one map[recording.ProcessID]recording.ThreadID // of each process of Go, any of its threads
}

// atOnceResolved is how many names a process of Go may resolve at once.
const atOnceResolved = 16

// of returns what stands for the thread that asks, or is answered, and how many of its last
// resolutions a look-up may belong to.
func (r *resolvers) of(th recording.ThreadID) (thread recording.ThreadID, recent int) {
	i := r.f.threadIndex.Get(th)
	if i == timeline.None {
		return th, 1
	}
	p := r.f.threads[i].process
	if r.f.runtime(p) != recording.RuntimeGo {
		return th, 1
	}
	if _, ok := r.one[p]; !ok {
		r.one[p] = th
	}
	return r.one[p], atOnceResolved
}

// goDials is how long after the answer a goroutine begins to connect, at most.
const goDials recording.Duration = 5_000_000

// resolveGo gives new calls of Go the resolution that ended right before they connected:
// goroutines of their own made it, on any thread. Who wants a name that is being looked up
// waits for that one.
func resolveGo(t *timeline.Timeline, f *facts, calls []made, all []resolution) {
	byAddress := map[string][]int{}
	for i := range all {
		if all[i].open == 0 && f.runtimeOf(all[i].thread) == recording.RuntimeGo {
			for _, a := range splitAddrs(all[i].addrs) {
				byAddress[a] = append(byAddress[a], i)
			}
		}
	}
	for _, list := range byAddress {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(all[a].to, all[b].to) })
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if !c.New || c.Request == timeline.None || c.DNSFrom != recording.NoTime {
			continue
		}
		list := byAddress[peers.Host(f.conns[calls[i].conn].decl.Peer)]
		n := sort.Search(len(list), func(k int) bool { return all[list[k]].to > c.ConnectFrom })
		if n == 0 {
			continue
		}
		d, since := all[list[n-1]], t.Requests[c.Request].FirstRead
		if c.ConnectFrom.Sub(d.to) > goDials || d.to <= since || !f.sameProcess(d.thread, c.Process) {
			continue
		}
		d.from = max(d.from, since)
		resolvedBy(c, &d)
		settle(c, &calls[i].bounds)
	}
}
