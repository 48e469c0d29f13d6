package build

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// askedInTurns are the rules under which the turn in which a call was asked for is known.
var askedInTurns = []string{
	timeline.WhyAsync, timeline.WhyAsyncHint, timeline.WhyTurnTold, timeline.WhyTurn,
	timeline.WhyInLine, timeline.WhyShared, timeline.WhyAwaited, timeline.WhyAwaitedSet,
}

// queueCalls moves the start of a loop's calls back to when they were wanted: to the end of the turn that asked for
// them. Until a socket or a resolver was free they were queued.
func queueCalls(t *timeline.Timeline, calls []exchange.Call, l *loops.Turns, wanted []recording.Time) {
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Request == timeline.None || !slices.Contains(askedInTurns, c.Why) || wanted[i] == recording.NoTime {
			continue
		}
		u := l.Asking(c.Request, wanted[i])
		if u == nil || u.To >= c.Start || u.To < t.Requests[c.Request].FirstRead {
			continue
		}
		c.Start = u.To
		exchange.Settle(c, &calls[i].Bounds)
	}
}

// resolveElsewhere gives the new calls of loops their look-ups, which ran on another thread. Such a look-up gave the
// peer's address, between the reading of the request and the connect. Look-ups are answered roughly in the order of the
// questions, so the oldest one that is not yet taken is chosen. In Go the look-up may run on any thread: see resolveGo.
func resolveElsewhere(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call, all []exchange.Resolution) {
	resolveGo(t, f, calls, all)
	byAddress := map[string]*resolved{}
	for i := range all {
		for _, a := range exchange.Addresses(all[i].Addrs) {
			r := lists.Entry(byAddress, a)
			r.list, r.taken = append(r.list, i), append(r.taken, false)
		}
	}
	if len(byAddress) == 0 {
		return
	}
	for _, i := range lists.Sorted(len(t.Calls), func(i int) recording.Time { return t.Calls[i].ConnectFrom }) {
		c := &t.Calls[i]
		if !c.New || c.Request == timeline.None || c.DNSFrom != recording.NoTime || c.Strand == timeline.None || !t.Strands[c.Strand].Loop {
			continue
		}
		r := byAddress[peers.Host(f.Conns[calls[i].Conn].Decl.Peer)]
		if r == nil {
			continue
		}
		since := t.Requests[c.Request].FirstRead
		k := sort.Search(len(r.list), func(k int) bool { return all[r.list[k]].From >= since })
		for k < len(r.list) && r.taken[k] {
			k++
		}
		if k == len(r.list) {
			continue
		}
		if d := &all[r.list[k]]; d.Open == 0 && d.To <= c.ConnectFrom && f.SameProcess(d.Thread, c.Process) {
			r.taken[k] = true
			exchange.ResolvedBy(c, d)
			exchange.Settle(c, &calls[i].Bounds)
		}
	}
}

// resolved lists the resolutions that gave one address, in order of start.
type resolved struct {
	list  []int
	taken []bool // by a call
}

// resolveGo gives new calls of Go the resolution that ended right before they connected: separate goroutines made it,
// on any thread. A goroutine that wants a name which is already being looked up waits for that look-up.
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
