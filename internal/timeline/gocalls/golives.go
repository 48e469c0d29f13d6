package gocalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/running"
	"github.com/getdwell/dwell/recording"
)

// Lives lists them. The ids of calls change once more, in OrderCalls.
func Lives(t *timeline.Timeline, f *facts.Facts, runs running.GoRuns, calls []exchange.Call) timeline.Goroutines {
	l := timeline.Goroutines{Stints: runs.Stints, Calls: map[timeline.StrandID][]timeline.CallID{}, LetGo: map[timeline.StrandID][]timeline.StackAt{}, Selects: selects(t, f)}
	index := facts.IndexGoroutines(t)
	for i := range t.Calls {
		c := &t.Calls[i]
		by := c.Strand
		if g := calls[i].Caller; g != recording.NoGoroutine {
			by = index.Of(timeline.GoroutineKey{Process: c.Process, Goroutine: g})
		} else if c.Why == timeline.WhyGoDial { // written by the connection's own goroutine
			by = t.Requests[c.Request].Strand
		}
		if by != timeline.None && t.Strands[by].Goroutine != recording.NoGoroutine {
			l.Calls[by] = append(l.Calls[by], timeline.CallID(i))
		}
	}
	for _, u := range f.Parks.Unparks {
		if i, s := f.Stacks.StackIndex.Get(u.Stack), index.Of(f.GoKeyOf(u.Thread, u.Goroutine)); i != timeline.None && s != timeline.None {
			l.LetGo[s] = append(l.LetGo[s], timeline.StackAt{Time: u.At, Stack: timeline.StackID(i), Goroutine: u.Goroutine})
		}
	}
	return l
}
