package timeline

import "github.com/getdwell/dwell/internal/timeline/lists"

// Proposal is a rule's claim that a call belongs to a request.
type Proposal struct {
	Request RequestID
	Rule    string // a code as in Call.Why
}

// ledger keeps the proposals for calls that later rules overruled.
type ledger map[CallID][]Proposal

// Assign is the only way to give a call to a request, or to declare that it belongs to none. It takes a rule's
// proposal; rules run in the order of build, and the last one decides. An earlier proposal is kept if it named a
// different request.
func (t *Timeline) Assign(c *Call, r RequestID, rule string) {
	if c.Request != None && c.Request != r {
		if t.overruled == nil {
			t.overruled = ledger{}
		}
		t.overruled[c.ID] = append(t.overruled[c.ID], Proposal{c.Request, c.Why})
	}
	c.Request, c.Why = r, rule
}

// renumber replaces the calls' ids with their numbers in order of start.
func (l ledger) renumber(numbers []CallID) ledger {
	renumbered := make(ledger, len(l))
	for id, list := range l {
		renumbered[numbers[id]] = list
	}
	return renumbered
}

// Overruled returns the requests that rules proposed for a call before other rules decided, in the order of the
// proposals.
func (t *Timeline) Overruled(c CallID) []Proposal { return t.overruled[c] }

// OrderCalls sorts the calls by start, and calls with the same start by connection, and renumbers them everywhere.
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
	of := lists.Grouped[CallID](len(t.Requests), len(calls), func(i int) int { return int(calls[i].Request) })
	for i := range t.Requests {
		if list := of.Of(i); list != nil {
			t.Requests[i].More().Calls = list
		}
	}
	t.ChangeCalled(func(s *Segment) { s.Call = renumber[s.Call] })
}
