package build

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// resolveGo gives new calls of Go the resolution that ended right before they connected:
// goroutines of their own made it, on any thread. Who wants a name that is being looked up
// waits for that one.
func resolveGo(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call, all []exchange.Resolution) {
	byAddress := map[string][]int{}
	for i := range all {
		if all[i].Open == 0 && f.RuntimeOf(all[i].Thread) == recording.RuntimeGo {
			for _, a := range exchange.Addresses(all[i].Addrs) {
				byAddress[a] = append(byAddress[a], i)
			}
		}
	}
	for _, list := range byAddress {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(all[a].To, all[b].To) })
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if !c.New || c.Request == timeline.None || c.DNSFrom != recording.NoTime {
			continue
		}
		list := byAddress[peers.Host(f.Conns[calls[i].Conn].Decl.Peer)]
		n := sort.Search(len(list), func(k int) bool { return all[list[k]].To > c.ConnectFrom })
		if n == 0 {
			continue
		}
		d, since := all[list[n-1]], t.Requests[c.Request].FirstRead
		if c.ConnectFrom.Sub(d.To) > exchange.GoDials || d.To <= since || !f.SameProcess(d.Thread, c.Process) {
			continue
		}
		d.From = max(d.From, since)
		exchange.ResolvedBy(c, &d)
		exchange.Settle(c, &calls[i].Bounds)
	}
}
