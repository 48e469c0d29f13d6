package build

import (
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

// askedInTurns are the rules by which it is known in which turn a call was asked for.
var askedInTurns = []string{timeline.WhyAsync, timeline.WhyAsyncHint, timeline.WhyInLine, timeline.WhyShared, timeline.WhyAwaited}

// queueCalls lets the calls of loops begin when they were wanted: at the end of the
// turn that asked for them. Until a socket or a resolver was free they were queued.
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

// resolveElsewhere gives the new calls of loops their look-ups, which ran on another
// thread: one that gave the peer's address, between the request's being read and the
// connect. Look-ups are answered about in the order in which they were asked for, so
// the oldest that nobody took is it. Go does so on any of its threads.
func resolveElsewhere(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call, all []exchange.Resolution) {
	resolveGo(t, f, calls, all)
	byAddress := map[string]*resolved{}
	for i := range all {
		for _, a := range exchange.Addresses(all[i].Addrs) {
			r := lists.Entry(byAddress, a)
			r.list, r.free = append(r.list, i), append(r.free, len(r.free))
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
		k := r.oldest(sort.Search(len(r.list), func(k int) bool { return all[r.list[k]].From >= since }))
		if k == len(r.list) {
			continue
		}
		if d := &all[r.list[k]]; d.Open == 0 && d.To <= c.ConnectFrom && f.SameProcess(d.Thread, c.Process) {
			r.free[k] = k + 1
			exchange.ResolvedBy(c, d)
			exchange.Settle(c, &calls[i].Bounds)
		}
	}
}

// resolved are the resolutions that gave one address, in order of their start. Free
// leads from each to the next that nobody took.
type resolved struct {
	list []int
	free []int
}

// oldest returns the first untaken resolution from the k-th on; len(list) if none.
func (r *resolved) oldest(k int) int {
	end := k
	for end < len(r.free) && r.free[end] != end {
		end = r.free[end]
	}
	for k < len(r.free) && r.free[k] != k && r.free[k] != end {
		k, r.free[k] = r.free[k], end
	}
	return end
}
