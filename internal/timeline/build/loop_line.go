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

// Calls of tasks wait for their turn where something lets only so many to a peer at once: a
// client's limit of connections, or a semaphore or lock of the service's own. No fact tells of
// that wait itself. But each that waited is sent once one that was under way is answered, on
// the connection that this one leaves: before the loop sleeps again, or, where threads share
// tasks, as soon as one that was woken for it runs.

// wokenWithin is how long after an answer, in ns, a thread that was woken for it sends at most.
const wokenWithin = 1_000_000

// manyLined is how many calls must have waited so, and fewFree how many for each that did not.
const (
	manyLined = 8
	fewFree   = 8
)

// lined are the calls of one process to one peer.
type lined struct {
	begun, over []recording.Time
	wander      bool              // threads share the tasks
	calls       []timeline.CallID // of tasks, on connections that were open
	before      []recording.Time  // of each: when the request was last seen to do something before it
	late        []timeline.CallID // those, in order, of which an id tells when they were sent: that is no sign of one that did not wait
}

// lining is what is known of the calls that may have waited.
type lining struct {
	t      *timeline.Timeline
	f      *facts.Facts
	calls  []exchange.Call
	wanted []recording.Time // by call, as far as ids tell
}

// lineUp lets calls of tasks begin when their requests had nothing else to do, if
// as many as ever were under way then, and nearly all of those were sent as another one
// was answered. A connection is in use, too, between two calls on it of one request: that may hold it.
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
		if !x.mayWait(c) || c.New || c.Request == timeline.None || c.Strand == timeline.None || !t.Strands[c.Strand].Loop {
			continue
		}
		if !g.wander && holdsLoop(t, c) {
			continue
		}
		if at := l.IdleSince(c); at != recording.NoTime && at >= t.Requests[c.Request].FirstRead && (x.inTask(c) || !own[i] && !x.busySince(of.Of(int(c.Request)), c, at)) {
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

// inTask reports a call of a task that no fact tells when it was asked for.
func (x lining) inTask(c *timeline.Call) bool {
	return c.Why == timeline.WhyContext || c.Why == timeline.WhyLoopChain
}

// mayWait reports such a call, or one of Node of which that is not told either, or as late as the turn in which it is sent: a client makes
// what has an id only then.
func (x lining) mayWait(c *timeline.Call) bool {
	return x.inTask(c) || slices.Contains(askedInTurns, c.Why) && (x.wanted[c.ID] == recording.NoTime || x.late(c))
}

func (x lining) late(c *timeline.Call) bool {
	at := x.wanted[c.ID]
	return at != recording.NoTime && c.Strand != timeline.None && at <= c.SendFrom && !timeline.Slept(x.t, c.Strand, at, c.SendFrom)
}

// busySince reports that another call of a call's request, of which these are, was under way since a time.
func (x lining) busySince(calls []timeline.CallID, c *timeline.Call, since recording.Time) bool {
	return slices.ContainsFunc(calls, func(id timeline.CallID) bool {
		k := &x.t.Calls[id]
		return id != c.ID && k.Start < c.SendFrom && k.End > since
	})
}

// kept is, for each call, until when its connection is in use: to the next call on it of the same request, if there is one; and
// whether it is such a next one itself.
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

// holdsLoop reports a call whose client waits itself for the answer, in place of the loop: what comes before it waits for the loop, and so would a turn to call.
func holdsLoop(t *timeline.Timeline, c *timeline.Call) bool {
	own, asleep := t.Strands[c.Strand].Poll, false
	for _, iv := range timeline.Clipped(t.Strands[c.Strand].Intervals, c.Sent, c.End) {
		if iv.State != timeline.StateSleeping || iv.Off == nil {
			continue
		}
		if timeline.PollWait(iv.Off.Syscall) && own.Has(iv.Off) {
			return false
		}
		asleep = true
	}
	return asleep
}

// freedAt is, for each call, when its connection was left by the one before; NoTime: that
// is not known.
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
		if at, free := g.before[i], freed[id]; full(at) {
			if c := &t.Calls[id]; free > at && (!timeline.Slept(t, c.Strand, free, c.SendFrom) || g.wander && c.SendFrom.Sub(free) < wokenWithin) {
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
