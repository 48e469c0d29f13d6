package timeline

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
