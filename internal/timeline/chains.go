package timeline

// chains are sets of calls that belong to one request, whichever that is: each was
// made when the one before was answered. Evidence about any of them counts for all.
type chains struct {
	index   map[CallID]int
	calls   []CallID
	parent  []int
	claimed []RequestID // by root: None, or who claims the set
	odds    []bool      // by root: claimed by two
}

func newChains() *chains { return &chains{index: map[CallID]int{}} }

// add makes a set of a call that is in none.
func (c *chains) add(id CallID) int {
	i, ok := c.index[id]
	if !ok {
		i = len(c.parent)
		c.index[id] = i
		c.calls = append(c.calls, id)
		c.parent = append(c.parent, i)
		c.claimed = append(c.claimed, None)
		c.odds = append(c.odds, false)
	}
	return i
}

func (c *chains) root(i int) int {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}

// join makes the sets of two calls one.
func (c *chains) join(a, b CallID) {
	i, j := c.root(c.add(a)), c.root(c.add(b))
	if i == j {
		return
	}
	c.parent[i] = j
	c.odds[j] = c.odds[j] || c.odds[i]
	if c.claimed[i] != None {
		c.claim(b, c.claimed[i])
	}
}

// claim says that a call belongs to a request.
func (c *chains) claim(id CallID, r RequestID) {
	i := c.root(c.add(id))
	if c.claimed[i] != None && c.claimed[i] != r {
		c.odds[i] = true
	}
	c.claimed[i] = r
}

// request returns who a call belongs to as far as is known, or None.
func (c *chains) request(id CallID) RequestID {
	i, ok := c.index[id]
	if !ok {
		return None
	}
	if i = c.root(i); c.odds[i] {
		return None
	}
	return c.claimed[i]
}

// settle writes the outcome into the calls. Calls that began before their request was
// read are not its own, whatever the ids say.
func (c *chains) settle(t *Timeline) {
	for _, id := range c.calls {
		call := &t.Calls[id]
		if call.Why != "" {
			continue
		}
		call.Request, call.Why = c.request(id), WhyAsync
		if r := call.Request; r == None || call.SendFrom < t.Requests[r].FirstRead {
			call.Request, call.Why = None, WhyNoAsync
		}
	}
}
