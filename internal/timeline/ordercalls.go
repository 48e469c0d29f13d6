package timeline

import (
	"github.com/getdwell/dwell/internal/timeline/lists"
)

// OrderCalls puts the calls in order of their start, those of equal start in that of their
// connections, and renumbers them everywhere.
func (t *Timeline) OrderCalls() {
	calls := t.Calls
	lists.SortByTime(calls, func(c *Call) Time { return c.Start })
	renumber := make([]CallID, len(calls))
	for i := range calls {
		renumber[calls[i].ID] = CallID(i)
		calls[i].ID = CallID(i)
	}
	for i := range calls {
		if b := calls[i].Behind; b != None {
			calls[i].Behind = renumber[b]
		}
	}
	t.Goroutines.renumber(t, renumber)
	t.overruled = t.overruled.renumber(renumber)
	for i, list := range lists.Grouped[CallID](len(t.Requests), len(calls), func(i int) int { return int(calls[i].Request) }) {
		if len(list) > 0 {
			t.Requests[i].More().Calls = list
		}
	}
	t.ChangeCalled(func(s *Segment) { s.Call = renumber[s.Call] })
}
