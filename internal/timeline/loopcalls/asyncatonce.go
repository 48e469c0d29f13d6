package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// askedAtOnce is the first of several calls that one callback asked for at once, as promises do whose functions run
// together: the ticks that write the calls are all queued before any call is written.
type askedAtOnce struct {
	turn    int64 // the last id given out before that turn
	exec    int64 // the id of the tick that wrote it
	counter int64 // the last id given out by that time
	call    timeline.CallID
}

// askedBeside notes a call that a promise asked for in a turn. Node empties its queue of ticks after each callback.
// So if the id of the tick that writes the call was given out before such a tick wrote another call, one callback
// asked for both. This excludes node:http, whose writes take ids of their own, and immediates, in which other clients
// write: they do not run at once.
func (w *asyncWalk) askedBeside(m *loops.Move) {
	if m.Exec == 0 {
		return
	}
	first := &w.firstAsked
	if first.turn == w.turn.counter && m.Exec > first.exec && m.Exec <= first.counter && m.Counter > first.counter {
		w.chains.beside(m.Call, first.call)
		return
	}
	*first = askedAtOnce{w.turn.counter, m.Exec, m.Counter, m.Call}
}

// beside says that a call was asked for at once with another.
func (c *chains) beside(id, first timeline.CallID) {
	i, head := c.add(id), c.add(first)
	if c.groups[head] == nil {
		c.groups[head] = append(c.groups[head], head)
	}
	c.groups[head] = append(c.groups[head], i)
}

// agree applies what is known of the continuation of one call to all calls that were asked for at once with it. If a
// request waits for all of them, only the last answer is followed by anything. But one callback may also ask for
// calls of several requests that all waited for the same event. Then the answers lead to several requests, or one of
// them leads to something whose request is unknown. In both cases nothing is concluded.
func (h *hinted) agree(members []int) {
	whose := timeline.RequestID(timeline.None)
	for _, i := range members {
		switch to := h.to[h.c.Root(i)]; {
		case to == timeline.None && h.c.after[i] != loops.Nobody, to != timeline.None && whose != timeline.None && to != whose:
			return
		case to != timeline.None:
			whose = to
		}
	}
	if whose == timeline.None {
		return
	}
	for _, i := range members {
		h.to[h.c.Root(i)] = whose
	}
}
