package loops

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Settled is a promise that was resolved.
type Settled struct {
	At     recording.Time
	Exec   int64 // the callback that resolved it
	Waiter int64 // the address of what finally waits for it; 0, or 1 for nothing: not known
	Moved  int64 // if not 0, nothing was resolved: what waits is at this address from now on
}

// CallsByRequest lists the calls that each request may have waited for: those that ended before the request did.
func CallsByRequest(t *timeline.Timeline) lists.Groups[timeline.CallID] {
	of := lists.Grouped[timeline.CallID](len(t.Requests), len(t.Calls), func(i int) int {
		if c := &t.Calls[i]; c.Request != timeline.None && c.End <= t.Requests[c.Request].End {
			return int(c.Request)
		}
		return timeline.None
	})
	for r := range t.Requests {
		lists.SortByTime(of.Of(r), func(id *timeline.CallID) recording.Time { return t.Calls[*id].Start })
	}
	return of
}

// Wandering finds the processes whose loops answer what other loops have read. These are threads that carry virtual
// threads, each of which continues wherever there is room. A process counts if more than one answer in
// causality.Exceptions comes from another loop.
func Wandering(t *timeline.Timeline, requests []exchange.Request) map[recording.ProcessID]bool {
	answered := causality.Tallies[recording.ProcessID]{}
	for i := range requests {
		s := &requests[i]
		if s.Reader == timeline.None || s.Writer == timeline.None || !t.Strands[s.Reader].Loop {
			continue
		}
		answered.Add(t.Requests[i].Process, s.Writer != s.Reader && t.Strands[s.Writer].Loop)
	}
	wander := map[recording.ProcessID]bool{}
	for p, n := range answered {
		wander[p] = n.Odd*causality.Exceptions > n.All
	}
	return wander
}
