package loopcalls

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/loops"
)

// askedAtOnce is the first of the calls that one callback asked for at once, as promises do
// whose functions run together: what is to write each is queued before any is written.
type askedAtOnce struct {
	turn    int64 // the last id given out before that turn
	exec    int64 // the id of the tick that wrote it
	counter int64 // the last id given out by then
	call    timeline.CallID
}

// askedBeside notes a call that was asked for in a turn by a promise. Node empties its queue
// of ticks after each callback: if the id of the tick that writes the call was given out
// before another call was written by such a tick, one callback asked for both. (What node:http
// writes takes an id of its own. Immediates, in which other clients write, do not run at once.)
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

// agree makes what is known of what followed calls that were asked for at once count for
// all of them: of those that a request waits for together only the last answer is followed
// by anything. One callback may also ask for calls of several requests, which all waited
// for the same: then the answers lead to several, or something follows one and not even
// that is known to lead anywhere.
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
