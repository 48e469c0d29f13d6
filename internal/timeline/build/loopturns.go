package build

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// loopTurns are the turns of all loops, for each request in order of time.
type loopTurns struct {
	all []turn
	of  [][]int32 // by request: indexes in all

	wander map[recording.ProcessID]bool // whose threads share tasks
}

// buildTurns cuts what the loops did into turns, and tells owners about them.
func buildTurns(t *timeline.Timeline, moves []loopMoves, o timeline.Stints) *loopTurns {
	l := &loopTurns{wander: map[recording.ProcessID]bool{}}
	if len(moves) > 0 {
		l.all = make([]turn, 0, len(t.Requests)+len(t.Calls))
	}
	for _, loop := range moves {
		if loop.wander {
			l.wander[t.Strands[loop.strand].Process] = true
		}
		if len(loop.moves) == 0 {
			continue
		}
		before := len(l.all)
		l.all = appendTurns(l.all, t, loop)
		turns := l.all[before:]
		list := make([]timeline.Stint, 0, len(turns))
		for k := range turns {
			if u := &turns[k]; u.from < u.to {
				list = append(list, timeline.Stint{From: u.from, To: u.to, Request: u.request})
			}
		}
		o[loop.strand] = list
	}
	counts := make([]int32, len(t.Requests))
	for i := range l.all {
		counts[l.all[i].request]++
	}
	l.of = lists.Sized[int32](counts)
	for i := range l.all {
		r := l.all[i].request
		l.of[r] = append(l.of[r], int32(i))
	}
	for _, of := range l.of {
		l.inOrder(of)
	}
	l.addAnswers(t)
	return l
}

// inOrder sorts indexes of turns by when those began.
func (l *loopTurns) inOrder(of []int32) {
	slices.SortStableFunc(of, func(a, b int32) int { return cmp.Compare(l.all[a].from, l.all[b].from) })
}

// addAnswers adds turns for answers that were read together with another's, as on a
// connection that requests share: what the loop read it read for the first.
func (l *loopTurns) addAnswers(t *timeline.Timeline) {
	calls := callsByRequest(t)
	for r := range t.Requests {
		of := l.of[r]
		for _, id := range calls.Of(r) {
			c := &t.Calls[id]
			if c.Strand == timeline.None || c.FirstRead == recording.NoTime || !t.Strands[c.Strand].Loop || t.Requests[r].Strand != c.Strand {
				continue
			}
			n := sort.Search(len(l.of[r]), func(k int) bool { return l.all[l.of[r][k]].from > c.FirstRead })
			if n > 0 && l.all[l.of[r][n-1]].last >= c.FirstRead {
				continue
			}
			of = append(of, int32(len(l.all)))
			l.all = append(l.all, turn{from: c.FirstRead, to: c.FirstRead, last: c.FirstRead, request: c.Request, strand: c.Strand, how: resumeCall, ready: c.Arrived, call: id})
		}
		if len(of) > len(l.of[r]) {
			l.inOrder(of)
			l.of[r] = of
		}
	}
}

// asking returns the turn in which a request asked for something at or after since:
// its first turn that was not over by then; nil if there is none.
func (l *loopTurns) asking(r timeline.RequestID, since recording.Time) *turn {
	of := l.of[r]
	i := sort.Search(len(of), func(k int) bool { return l.all[of[k]].to >= since })
	if i == len(of) {
		return nil
	}
	return &l.all[of[i]]
}

// queueCalls lets the calls of loops begin when they were wanted: at the end of the
// turn that asked for them. Until a socket or a resolver was free they were queued.
func queueCalls(t *timeline.Timeline, f *facts.Facts, in segmentInput, wanted []recording.Time) {
	calls, l := in.calls, in.turns
	lineUp(t, f, calls, l)
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Request == timeline.None || c.Why != timeline.WhyAsync && c.Why != timeline.WhyAsyncHint && c.Why != timeline.WhyInLine && c.Why != timeline.WhyShared && c.Why != timeline.WhyAwaited || wanted[i] == recording.NoTime {
			continue
		}
		u := l.asking(c.Request, wanted[i])
		if u == nil || u.to >= c.Start || u.to < t.Requests[c.Request].FirstRead {
			continue
		}
		c.Start = u.to
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
	for _, i := range byConnect(t) {
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

// byConnect lists the calls in order of their connect.
func byConnect(t *timeline.Timeline) []timeline.CallID {
	list := make([]timeline.CallID, len(t.Calls))
	for i := range list {
		list[i] = timeline.CallID(i)
	}
	slices.SortStableFunc(list, func(a, b timeline.CallID) int { return cmp.Compare(t.Calls[a].ConnectFrom, t.Calls[b].ConnectFrom) })
	return list
}
