package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// chains are sets of calls that belong to one request, whichever that is: each was
// made when the one before was answered. Evidence about any of them counts for all.
// Hints are weaker: they count only where one from before a call and one from after it
// say the same.
type chains struct {
	real    int     // how many calls there are; what is beyond stands for somebody (someone.go)
	index   []int32 // by call: its place in the lists below, plus 1
	calls   []timeline.CallID
	parent  []int
	claimed []timeline.RequestID // by root: None, or who claims the set
	odds    []bool               // by root: claimed by two
	before  []loops.Owner        // hint: whose turn the call was made in
	after   []loops.Owner        // hint: what was done when it was answered
	doubted []loops.Owner        // hint: who else it may be made for
	groups  map[int][]int        // by place of the first: the places of calls that were asked for at once
}

// newChains returns chains for so many calls, in no set yet.
func newChains(calls int) *chains { return &chains{real: calls, index: make([]int32, calls)} }

// reset forgets all sets.
func (c *chains) reset() {
	for _, id := range c.calls {
		c.index[id] = 0
	}
	c.index = c.index[:c.real]
	c.calls, c.parent, c.claimed, c.odds = c.calls[:0], c.parent[:0], c.claimed[:0], c.odds[:0]
	c.before, c.after, c.doubted = c.before[:0], c.after[:0], c.doubted[:0]
	clear(c.groups)
}

// find returns the place of a call; not ok if it is in no set.
func (c *chains) find(id timeline.CallID) (place int, ok bool) {
	i := int(c.index[id])
	return i - 1, i > 0
}

// add makes a set of a call that is in none.
func (c *chains) add(id timeline.CallID) int {
	i, ok := c.find(id)
	if !ok {
		i = len(c.parent)
		c.index[id] = int32(i) + 1
		c.calls = append(c.calls, id)
		c.parent = append(c.parent, i)
		c.claimed = append(c.claimed, timeline.None)
		c.odds = append(c.odds, false)
		c.before = append(c.before, loops.Nobody)
		c.after = append(c.after, loops.Nobody)
		c.doubted = append(c.doubted, loops.Nobody)
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

// link says that a call is of the same request as another, or of a request.
func (c *chains) link(id timeline.CallID, to loops.Owner) {
	if r, ok := to.Request(); ok {
		c.claim(c.root(c.add(id)), r)
		return
	}
	other, ok := to.Call()
	if !ok {
		return
	}
	i, j := c.root(c.add(id)), c.root(c.add(other))
	if i == j {
		return
	}
	c.parent[i] = j
	c.odds[j] = c.odds[j] || c.odds[i]
	if c.claimed[i] != timeline.None {
		c.claim(j, c.claimed[i])
	}
}

func (c *chains) claim(root int, r timeline.RequestID) {
	if c.claimed[root] != timeline.None && c.claimed[root] != r {
		c.odds[root] = true
	}
	c.claimed[root] = r
}

// hint says that a call was made in the turn of a request or of an answered call.
func (c *chains) hint(id timeline.CallID, turn loops.Owner) {
	c.before[c.add(id)] = turn
	if answered, ok := turn.Call(); ok {
		c.next(answered, loops.OfCall(id))
	}
}

// doubt says that a call, of which there is a hint, may be somebody else's.
func (c *chains) doubt(id timeline.CallID, other loops.Owner) { c.doubted[c.add(id)] = other }

// resumed says that a response was written in the turn of an answered call. If those to
// several requests were, other callbacks run in it unseen, and nothing is known of it.
func (c *chains) resumed(answered timeline.CallID, r timeline.RequestID) {
	i := c.add(answered)
	if other, ok := c.after[i].Request(); ok && other != r || c.after[i] == loops.OfCall(answered) {
		c.after[i] = loops.OfCall(answered) // leads nowhere
		return
	}
	c.next(answered, loops.OfRequest(r))
}

// next keeps the first thing done when a call was answered: what comes later may
// already be of another callback.
func (c *chains) next(answered timeline.CallID, what loops.Owner) {
	if i := c.add(answered); c.after[i] == loops.Nobody {
		c.after[i] = what
	}
}

// same reports whether two refs are known to be of one request.
func (c *chains) same(a, b loops.Owner) bool {
	return a == b || c.known(a) != timeline.None && c.known(a) == c.known(b)
}

// known is the request that an owner stands for by evidence, or None.
func (c *chains) known(a loops.Owner) timeline.RequestID {
	if r, ok := a.Request(); ok {
		return r
	}
	if id, ok := a.Call(); ok {
		if i, ok := c.find(id); ok {
			if i = c.root(i); !c.odds[i] {
				return c.claimed[i]
			}
		}
	}
	return timeline.None
}

// settle writes the outcome into the calls. Calls that began before their request was
// read are not its own, whatever the ids say.
func (c *chains) settle(t *timeline.Timeline, open *timeline.Open) {
	hints := c.hints(t, open)
	for i, id := range c.calls {
		if c.isPlaceholderCall(id) {
			continue
		}
		call := &t.Calls[id]
		if call.Why != "" {
			continue
		}
		r, rule, root := c.known(loops.OfCall(id)), timeline.WhyAsync, c.root(i)
		if r == timeline.None && !c.odds[root] {
			r, rule = hints[i], timeline.WhyAsyncHint
		}
		if r == timeline.None || call.SendFrom < t.Requests[r].FirstRead {
			r, rule = timeline.None, timeline.WhyNoAsync
		}
		t.Assign(call, r, rule)
	}
}

// hints are the requests, by root, that the hints from before and after a set's calls
// agree on. If nothing tells whose turn they were made in, the hint from after suffices
// where only one request was open.
func (c *chains) hints(t *timeline.Timeline, open *timeline.Open) []timeline.RequestID {
	h := hinted{c: c, from: make([]timeline.RequestID, len(c.calls)), to: make([]timeline.RequestID, len(c.calls))}
	made := make([]bool, len(c.calls)) // some hint tells whose turn a call of the set was made in
	alone := make([]bool, len(c.calls))
	for i := range c.calls {
		h.from[i], h.to[i], alone[i] = timeline.None, timeline.None, true
	}
	for i := len(c.calls) - 1; i >= 0; i-- { // against the order of sending: what is after is known
		if root := c.root(i); h.to[root] == timeline.None {
			h.to[root] = h.resolve(root, c.after[i], h.to)
		}
		if at := c.groups[i]; at != nil {
			h.agree(at)
		}
	}
	for i, id := range c.calls {
		root := c.root(i)
		alone[root] = alone[root] && (c.isPlaceholderCall(id) || open.At(t.Calls[id].Start) != timeline.None)
		made[root] = made[root] || c.before[i] != loops.Nobody
		turn := h.resolve(root, c.before[i], h.from)
		switch {
		case h.from[root] != timeline.None:
		case c.doubted[i] == loops.Nobody || h.to[root] == turn:
			h.from[root] = turn
		case h.to[root] == h.resolve(root, c.doubted[i], h.from):
			h.from[root] = h.to[root]
		}
	}
	agreed := make([]timeline.RequestID, len(c.calls))
	for i := range c.calls {
		root := c.root(i)
		agreed[i] = timeline.None
		if h.from[root] == h.to[root] || !made[root] && alone[root] {
			agreed[i] = h.to[root]
		}
	}
	return agreed
}

// hinted is who sets of calls belong to by their hints, by root.
type hinted struct {
	c        *chains
	from, to []timeline.RequestID
}

// resolve returns the request that a hint about a set names, by evidence or by what is
// known of the set it leads to.
func (h *hinted) resolve(root int, what loops.Owner, known []timeline.RequestID) timeline.RequestID {
	if r := h.c.known(what); r != timeline.None {
		return r
	}
	if id, ok := what.Call(); ok {
		if i, ok := h.c.find(id); ok && h.c.root(i) != root {
			return known[h.c.root(i)]
		}
	}
	return timeline.None
}
