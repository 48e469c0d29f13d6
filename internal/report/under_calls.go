package report

import (
	"cmp"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// underCalls finds the calls that were made beneath a function: its thread had a stack beneath the function when it
// waited for the call.
type underCalls struct {
	tl     *timeline.Timeline
	f      *function
	state  map[timeline.CallID]callSeen // of the current request
	groups map[[2]string]*UnderCall
	opaque int // calls without any stack
}

// callSeen is what the stacks of a call's waits show.
type callSeen int8

const (
	callOutside callSeen = iota + 1
	callBeneath
)

func (f *function) newCalls(tl *timeline.Timeline) *underCalls {
	return &underCalls{tl: tl, f: f, state: map[timeline.CallID]callSeen{}, groups: map[[2]string]*UnderCall{}}
}

func (c *underCalls) see(p *charge) {
	id := p.segment.Call
	switch {
	case id == timeline.None || p.stack == timeline.None:
	case c.f.has(p.stack):
		c.state[id] = callBeneath
	case c.state[id] == 0:
		c.state[id] = callOutside
	}
}

// end counts the calls of a request.
func (c *underCalls) end(r *timeline.Request) {
	for _, id := range r.Calls {
		call := &c.tl.Calls[id]
		switch c.state[id] {
		case callBeneath:
			k := [2]string{call.Peer, call.Operation}
			if c.groups[k] == nil {
				c.groups[k] = &UnderCall{Peer: call.Peer, Operation: call.Operation}
			}
			c.groups[k].Count++
			c.groups[k].Total += call.End.Sub(call.Start)
		case callOutside:
		default:
			c.opaque++
		}
	}
	clear(c.state)
}

func (c *underCalls) list() []UnderCall {
	out := []UnderCall{}
	for _, g := range c.groups {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b UnderCall) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Operation, b.Operation))
	})
	return out
}
