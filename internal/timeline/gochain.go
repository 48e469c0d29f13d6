package timeline

import (
	"sort"

	"github.com/getdwell/dwell/recording"
)

// chainGo gives calls on pooled connections to a request where two things agree and a
// third does not object: the goroutine that ran on the thread right before the
// connection's own wrote the request; the one that ran there right after the answer
// was read; and that this goroutine was seen nowhere in between, for it waits.
func chainGo(t *Timeline, f *facts, g goRuns, x chainInput) {
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Why != WhyReused || x.calls[i].x.replied.none() {
			continue
		}
		conn := &f.conns[x.calls[i].conn]
		asked := conn.chunks[recording.Write][x.calls[i].x.asked.first]
		answered := conn.chunks[recording.Read][x.calls[i].x.replied.first]
		before := g.neighbour(f.strand(asked.Thread), asked.at, -1)
		after := g.neighbour(f.strand(answered.Thread), answered.at, 1)
		if before == recording.NoGoroutine || before != after {
			continue
		}
		strand, ok := x.strands[goKey{c.Process, before}]
		if !ok {
			continue
		}
		r := x.owners.at(strand, c.SendFrom)
		if r == None || x.owners.at(strand, c.FirstRead) != r {
			continue
		}
		if next := startsAfter(g.stints[goKey{c.Process, before}], c.Sent); next != recording.NoTime && next < answered.at {
			continue
		}
		c.Request, c.Why = r, WhyGoChain
	}
}

// chainInput is what chainGo needs besides the Timeline and the facts.
type chainInput struct {
	calls   []made
	owners  owners
	strands map[goKey]StrandID
}

// neighbour returns the goroutine that was seen on a thread before (-1) or after (1)
// the one seen there at a time, NoGoroutine if the thread was idle in between.
func (g goRuns) neighbour(thread StrandID, at Time, step int) recording.GoroutineID {
	if int(thread) >= len(g.sights) || thread == None {
		return recording.NoGoroutine
	}
	sights := g.sights[thread]
	i := sort.Search(len(sights), func(k int) bool { return sights[k].at >= at })
	if i == len(sights) || sights[i].at != at {
		return recording.NoGoroutine
	}
	self := sights[i].goroutine
	for ; i >= 0 && i < len(sights); i += step {
		if sights[i].goroutine != self {
			return sights[i].goroutine
		}
	}
	return recording.NoGoroutine
}

// startsAfter returns when the first stint that starts after a time starts, NoTime if
// there is none.
func startsAfter(list []goStint, at Time) Time {
	i := sort.Search(len(list), func(k int) bool { return list[k].from > at })
	if i == len(list) {
		return recording.NoTime
	}
	return list[i].from
}
