package loops

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Settled is a promise that was resolved.
type Settled struct {
	At     recording.Time
	Exec   int64 // the callback that did it
	Waiter int64 // what waits for that at last; nothing, or 0: not known
	Moved  int64 // nothing was: what waits is there from now on
}

// CallsByRequest lists the calls of each request that it may have waited for: those
// that ended before it did.
func CallsByRequest(t *timeline.Timeline) lists.Packed[timeline.CallID] {
	counts := make([]int32, len(t.Requests))
	within := func(c *timeline.Call) bool { return c.Request != timeline.None && c.End <= t.Requests[c.Request].End }
	for i := range t.Calls {
		if c := &t.Calls[i]; within(c) {
			counts[c.Request]++
		}
	}
	p := lists.Pack[timeline.CallID](counts)
	for i := range t.Calls {
		if c := &t.Calls[i]; within(c) {
			p.Add(int(c.Request), timeline.CallID(i))
		}
	}
	for r := range t.Requests {
		slices.SortStableFunc(p.Of(r), func(a, b timeline.CallID) int { return cmp.Compare(t.Calls[a].Start, t.Calls[b].Start) })
	}
	return p
}

// Wandering finds the processes whose loops answer what others have read: threads that
// carry virtual ones, of which each goes on wherever there is room. A few exceptions are
// let pass.
func Wandering(t *timeline.Timeline, requests []exchange.Request) map[recording.ProcessID]bool {
	all, odd := map[recording.ProcessID]int{}, map[recording.ProcessID]int{}
	for i := range requests {
		s := &requests[i]
		if s.Reader == timeline.None || s.Writer == timeline.None || !t.Strands[s.Reader].Loop {
			continue
		}
		p := t.Requests[i].Process
		all[p]++
		if s.Writer != s.Reader && t.Strands[s.Writer].Loop {
			odd[p]++
		}
	}
	wander := map[recording.ProcessID]bool{}
	for p, n := range odd {
		wander[p] = n*causality.Exceptions > all[p]
	}
	return wander
}
