package timeline

import "github.com/getdwell/dwell/internal/timeline/lists"

// Proposal is what a rule said of a call: that it is of a request.
type Proposal struct {
	Request RequestID
	Rule    string // a code as in Call.Why
}

// ledger keeps what rules proposed for calls and later rules overruled.
type ledger map[CallID][]Proposal

// Assign is the only way in which a call comes to a request, or is said to be nobody's. It
// takes a rule's proposal; rules run in the order of build, and the last one decides. What
// another rule had proposed before is kept, if that was another request.
func (t *Timeline) Assign(c *Call, r RequestID, rule string) {
	if c.Request != None && c.Request != r {
		if t.overruled == nil {
			t.overruled = ledger{}
		}
		t.overruled[c.ID] = append(t.overruled[c.ID], Proposal{c.Request, c.Why})
	}
	c.Request, c.Why = r, rule
}

// renumber puts what is kept under the calls' numbers in order of their start.
func (l ledger) renumber(numbers []CallID) ledger {
	renumbered := make(ledger, len(l))
	for id, list := range l {
		renumbered[numbers[id]] = list
	}
	return renumbered
}

// Overruled are the requests that rules proposed for a call before others decided, in the
// order in which they were proposed.
func (t *Timeline) Overruled(c CallID) []Proposal { return t.overruled[c] }

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
	of := lists.Grouped[CallID](len(t.Requests), len(calls), func(i int) int { return int(calls[i].Request) })
	for i := range t.Requests {
		if list := of.Of(i); list != nil {
			t.Requests[i].More().Calls = list
		}
	}
	t.ChangeCalled(func(s *Segment) { s.Call = renumber[s.Call] })
}
