package timeline

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline/lists"
)

// OrderCalls puts the calls in order of their start and renumbers them everywhere.
func (t *Timeline) OrderCalls() {
	calls := t.Calls
	sortCalls(calls)
	renumber := make([]CallID, len(calls))
	counts := make([]int32, len(t.Requests))
	for i := range calls {
		renumber[calls[i].ID] = CallID(i)
		calls[i].ID = CallID(i)
		if r := calls[i].Request; r != None {
			counts[r]++
		}
	}
	for i := range calls {
		if b := calls[i].Behind; b != None {
			calls[i].Behind = renumber[b]
		}
	}
	t.Goroutines.renumber(t, renumber)
	t.overruled = t.overruled.renumber(renumber)
	of := lists.Sized[CallID](counts)
	for i := range calls {
		if r := calls[i].Request; r != None {
			of[r] = append(of[r], CallID(i))
		}
	}
	for i, list := range of {
		if len(list) > 0 {
			t.Requests[i].More().Calls = list
		}
	}
	t.ChangeCalled(func(s *Segment) { s.Call = renumber[s.Call] })
}

// sortCalls orders calls by their start; those of equal start by connection and ordinal.
func sortCalls(calls []Call) {
	lists.SortByTime(calls, func(c *Call) Time { return c.Start })
	for i := 0; i < len(calls); {
		k := i + 1
		for k < len(calls) && calls[k].Start == calls[i].Start {
			k++
		}
		if k > i+1 {
			slices.SortFunc(calls[i:k], func(a, b Call) int {
				return cmp.Or(cmp.Compare(a.Conn, b.Conn), cmp.Compare(a.Ordinal, b.Ordinal))
			})
		}
		i = k
	}
}
