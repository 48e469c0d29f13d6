package build

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/internal/timeline/loops"
	"github.com/getdwell/dwell/recording"
)

// Calls of tasks queue if something lets only so many through to a peer at once: a client's limit of connections, or a
// semaphore or lock of the service's own. No fact shows that wait directly. But each call that waited is sent once a
// call that was under way is answered, on the connection that becomes free: before the loop sleeps again or, if threads
// share tasks, as soon as a thread that was woken for it runs.

// wokenWithin is how long after an answer, in ns, a thread that was woken for it sends at most.
const wokenWithin = 1_000_000

// At least manyLined calls must have waited this way, and at least fewFree for each call that did not.
const (
	manyLined = 8
	fewFree   = 8
)

// lined are the calls of one process to one peer.
type lined struct {
	begun, over []recording.Time
	wander      bool              // threads share the tasks
	calls       []timeline.CallID // calls of tasks, on connections that were open
	before      []recording.Time  // for each: when its request was last seen to do something before it, or had been run
	late        []timeline.CallID // in order: calls that an id dates only to when they were sent; they are no evidence of calls that did not wait
}

// lining is what is known of the calls that may have waited.
type lining struct {
	t      *timeline.Timeline
	f      *facts.Facts
	calls  []exchange.Call
	wanted []recording.Time // by call, as far as ids tell
}

// lineUp moves the start of task calls back to when their requests had nothing else to do. This requires two things: at
// that time as many calls were under way as ever are at once, and nearly all calls wanted at such times were sent as
// another call was answered. A connection also counts as in use between two calls of one request on it: the request may
// hold it.
func (x lining) lineUp(l *loops.Turns) {
	t, calls := x.t, x.calls
	type key struct {
		process recording.ProcessID
		peer    string
	}
	groups := map[key]*lined{}
	any := false
	kept, own := x.kept()
	of := loops.CallsByRequest(t)
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.SendFrom == recording.NoTime {
			continue
		}
		k := key{c.Process, x.f.Conns[calls[i].Conn].Decl.Peer}
		g := lists.Entry(groups, k)
		g.wander = l.Wander[k.process]
		g.begun, g.over = append(g.begun, c.Start), append(g.over, max(c.Start, kept[i]))
		if own[i] || !x.mayWait(c) || c.New || c.Request == timeline.None || c.Strand == timeline.None || !t.Strands[c.Strand].Loop {
			continue
		}
		if !g.wander && holdsLoop(t, c) {
			continue
		}
		if at := l.IdleSince(c); at != recording.NoTime && at >= t.Requests[c.Request].FirstRead && (x.inTask(c) || !x.busySince(of.Of(int(c.Request)), c, at)) {
			g.calls, g.before, any = append(g.calls, c.ID), append(g.before, at), true
			if x.late(c) {
				g.late = append(g.late, c.ID)
			}
		}
	}
	if !any {
		return
	}
	freed := freedAt(t, x.f, calls)
	for _, g := range groups {
		g.lineUp(t, calls, freed)
	}
}

// ran returns when the loop of a call first slept after a time, and before it sent the call: by then it had run all tasks
// that it had queued, also those that took the last free connections. The time itself if it did not sleep.
func ran(t *timeline.Timeline, c *timeline.Call, at recording.Time) recording.Time {
	own := t.Strands[c.Strand].Poll
	for _, iv := range timeline.Clipped(t.Strands[c.Strand].Intervals, at, c.SendFrom) {
		if own.Waits(iv) {
			return max(at, iv.From)
		}
	}
	return at
}

// inTask reports whether a call belongs to a task, so that no fact shows when it was asked for.
func (x lining) inTask(c *timeline.Call) bool {
	return c.Why == timeline.WhyContext || c.Why == timeline.WhyLoopChain
}

// mayWait reports whether a call may have waited. It does if it is inTask, or if it is a call of Node for which no fact
// shows when it was asked for, or only the turn in which it was sent: a client creates the object that has the id only
// then.
func (x lining) mayWait(c *timeline.Call) bool {
	return x.inTask(c) || slices.Contains(askedInTurns, c.Why) && (x.wanted[c.ID] == recording.NoTime || x.late(c))
}

func (x lining) late(c *timeline.Call) bool {
	at := x.wanted[c.ID]
	return at != recording.NoTime && c.Strand != timeline.None && at <= c.SendFrom && !timeline.Slept(x.t, c.Strand, at, c.SendFrom)
}

// busySince reports whether another call of a call's request was under way since a time. The argument calls lists the
// request's calls.
func (x lining) busySince(calls []timeline.CallID, c *timeline.Call, since recording.Time) bool {
	return slices.ContainsFunc(calls, func(id timeline.CallID) bool {
		k := &x.t.Calls[id]
		return id != c.ID && k.Start < c.SendFrom && k.End > since
	})
}

// kept returns, for each call, until when its connection is in use: until the next call of the same request on it, if
// there is one. It also returns whether the call is such a next one itself.
func (x lining) kept() (kept []recording.Time, own []bool) {
	kept, own = make([]recording.Time, len(x.t.Calls)), make([]bool, len(x.t.Calls))
	for i := range kept {
		kept[i] = x.t.Calls[i].End
	}
	for _, list := range loops.ByConn(x.f, nil, x.calls) {
		for k := 1; k < len(list); k++ {
			if next := &x.t.Calls[list[k]]; next.Request != timeline.None && next.Request == x.t.Calls[list[k-1]].Request {
				kept[list[k-1]], own[list[k]] = max(kept[list[k-1]], next.SendFrom), true
			}
		}
	}
	return kept, own
}

// holdsLoop reports whether a call's client blocks the loop while it waits for the answer. Then what comes before the
// call waits for the loop, and so would a turn to call.
func holdsLoop(t *timeline.Timeline, c *timeline.Call) bool {
	own, asleep := t.Strands[c.Strand].Poll, false
	for _, iv := range timeline.Clipped(t.Strands[c.Strand].Intervals, c.Sent, c.End) {
		if own.Waits(iv) {
			return false
		}
		asleep = asleep || iv.State == timeline.StateSleeping && iv.Off != nil
	}
	return asleep
}

// freedAt returns, for each call, when the previous call left its connection; NoTime: not known.
func freedAt(t *timeline.Timeline, f *facts.Facts, calls []exchange.Call) []recording.Time {
	freed := make([]recording.Time, len(t.Calls))
	for _, list := range loops.ByConn(f, nil, calls) {
		for k := 1; k < len(list); k++ {
			if before := &t.Calls[list[k-1]]; before.End <= t.Calls[list[k]].SendFrom {
				freed[list[k]] = before.End
			}
		}
	}
	return freed
}

func (g *lined) lineUp(t *timeline.Timeline, calls []exchange.Call, freed []recording.Time) {
	full := timeline.FullAt(g.begun, g.over)
	var waited []int
	others := 0
	for i, id := range g.calls {
		c := &t.Calls[id]
		if !g.wander && !full(g.before[i]) {
			g.before[i] = ran(t, c, g.before[i])
		}
		if at, free := g.before[i], freed[id]; full(at) {
			if free > at && (!timeline.Slept(t, c.Strand, free, c.SendFrom) || g.wander && c.SendFrom.Sub(free) < wokenWithin) {
				waited = append(waited, i)
			} else if _, late := slices.BinarySearch(g.late, id); !late {
				others++
			}
		}
	}
	if line := (causality.Tally{All: len(waited) + others, Odd: others}); !line.Holds(manyLined, fewFree) {
		return
	}
	for _, i := range waited {
		c := &t.Calls[g.calls[i]]
		c.Start = g.before[i]
		exchange.Settle(c, &calls[c.ID].Bounds)
	}
}
