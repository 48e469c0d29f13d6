package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/causality"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// chains are sets of calls that belong to one request, whichever that is: each call was made when the one before was
// answered. Evidence about one of them holds for all. Hints are weaker: they count only if a hint from before a call
// and a hint from after it agree.
type chains struct {
	causality.Sets[timeline.CallID, timeline.RequestID]
	before  []loops.Owner // hint, by place: the owner of the turn in which the call was made
	after   []loops.Owner // hint, by place: the owner of what was done first when the call was answered
	doubted []loops.Owner // hint, by place: another owner that the call may have been made for
	groups  map[int][]int // by place of the first: the places of calls that were asked for at once
}

// newChains returns chains for so many calls, none of which is in a set yet.
func newChains(calls int) *chains {
	return &chains{Sets: causality.NewSets[timeline.CallID, timeline.RequestID](calls), groups: map[int][]int{}}
}

// reset drops all sets and hints.
func (c *chains) reset() {
	c.Reset()
	c.before, c.after, c.doubted = c.before[:0], c.after[:0], c.doubted[:0]
	clear(c.groups)
}

// add puts a call into a set of its own if it is in none, and returns its place.
func (c *chains) add(id timeline.CallID) int {
	i := c.Add(id)
	if i == len(c.before) {
		c.before, c.after, c.doubted = append(c.before, loops.Nobody), append(c.after, loops.Nobody), append(c.doubted, loops.Nobody)
	}
	return i
}

// link says that a call belongs to the same request as another call, or to a request.
func (c *chains) link(id timeline.CallID, to loops.Owner) {
	if r, ok := to.Request(); ok {
		c.add(id)
		c.Claim(id, r)
	} else if other, ok := to.Call(); ok {
		c.add(id)
		c.add(other)
		c.Join(id, other)
	}
}

// hint says that a call was made in the turn of a request or of an answered call.
func (c *chains) hint(id timeline.CallID, turn loops.Owner) {
	c.before[c.add(id)] = turn
	if answered, ok := turn.Call(); ok {
		c.next(answered, loops.OfCall(id))
	}
}

// doubt says that a call with a hint may belong to another owner.
func (c *chains) doubt(id timeline.CallID, other loops.Owner) { c.doubted[c.add(id)] = other }

// resumed says that a response was written in the turn of an answered call. If responses to several requests were,
// other callbacks run in the turn unseen, and the turn shows nothing.
func (c *chains) resumed(answered timeline.CallID, r timeline.RequestID) {
	i := c.add(answered)
	if other, ok := c.after[i].Request(); ok && other != r || c.after[i] == loops.OfCall(answered) {
		c.after[i] = loops.OfCall(answered) // leads nowhere
		return
	}
	c.next(answered, loops.OfRequest(r))
}

// next keeps the first thing done when a call was answered: what comes later may belong to another callback.
func (c *chains) next(answered timeline.CallID, what loops.Owner) {
	if i := c.add(answered); c.after[i] == loops.Nobody {
		c.after[i] = what
	}
}

// same reports whether two owners are known to be the same request.
func (c *chains) same(a, b loops.Owner) bool {
	return a == b || c.known(a) != timeline.None && c.known(a) == c.known(b)
}

// known is the request that evidence shows for an owner, or None.
func (c *chains) known(a loops.Owner) timeline.RequestID {
	if id, ok := a.Call(); ok {
		return c.Owner(id)
	}
	r, _ := a.Request()
	return r
}

// settle writes the outcome into the calls. A call that began before its request was read does not belong to it,
// whatever the ids say.
func (c *chains) settle(t *timeline.Timeline, open *timeline.Open) {
	hints := c.hints(t, open)
	for i, id := range c.Work {
		if c.Made(id) {
			continue
		}
		call := &t.Calls[id]
		if call.Why != "" {
			continue
		}
		r, rule, root := c.known(loops.OfCall(id)), timeline.WhyAsync, c.Root(i)
		if r == timeline.None && !c.Odd(root) {
			r, rule = hints[i], timeline.WhyAsyncHint
		}
		if r == timeline.None || call.SendFrom < t.Requests[r].FirstRead {
			r, rule = timeline.None, timeline.WhyNoAsync
		}
		t.Assign(call, r, rule)
	}
}

// hints are the requests, by root, on which the hints from before and after a set's calls agree. If nothing shows in
// whose turn the calls were made, the hint from after suffices if only one request was open.
func (c *chains) hints(t *timeline.Timeline, open *timeline.Open) []timeline.RequestID {
	h := hinted{c: c, from: make([]timeline.RequestID, len(c.Work)), to: make([]timeline.RequestID, len(c.Work))}
	made := make([]bool, len(c.Work)) // by root: some hint shows in whose turn a call of the set was made
	alone := make([]bool, len(c.Work))
	for i := range c.Work {
		h.from[i], h.to[i], alone[i] = timeline.None, timeline.None, true
	}
	for i := len(c.Work) - 1; i >= 0; i-- { // against the order of sending, so that what comes after is known
		if root := c.Root(i); h.to[root] == timeline.None {
			h.to[root] = h.resolve(root, c.after[i], h.to)
		}
		if at := c.groups[i]; at != nil {
			h.agree(at)
		}
	}
	for i, id := range c.Work {
		root := c.Root(i)
		alone[root] = alone[root] && (c.Made(id) || open.At(t.Calls[id].Start) != timeline.None)
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
	agreed := make([]timeline.RequestID, len(c.Work))
	for i := range c.Work {
		root := c.Root(i)
		agreed[i] = timeline.None
		if h.from[root] == h.to[root] || !made[root] && alone[root] {
			agreed[i] = h.to[root]
		}
	}
	return agreed
}

// hinted holds the requests, by root, that hints show for sets of calls.
type hinted struct {
	c        *chains
	from, to []timeline.RequestID
}

// resolve returns the request that a hint about a set names: by evidence, or by what is known of the set that the
// hint leads to.
func (h *hinted) resolve(root int, what loops.Owner, known []timeline.RequestID) timeline.RequestID {
	if r := h.c.known(what); r != timeline.None {
		return r
	}
	if id, ok := what.Call(); ok {
		if i, ok := h.c.Find(id); ok && h.c.Root(i) != root {
			return known[h.c.Root(i)]
		}
	}
	return timeline.None
}
