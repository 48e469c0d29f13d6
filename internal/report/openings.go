package report

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// NewConnections counts calls for which a connection was opened, by what had become of those that the process had
// to the same peer when the call began.
type NewConnections struct {
	First        int `json:"first"`          // there was none yet
	Busy         int `json:"busy"`           // all that there had ever been were in use
	Idle         int `json:"idle"`           // one stood open, unused
	ClosedByUs   int `json:"closed_by_us"`   // none was open and free; the latest to be closed was, by us
	ClosedByPeer int `json:"closed_by_peer"` // the same, by the peer
	Closed       int `json:"closed"`         // the same, it is not known by whom
}

// openings tells of each call for which a connection was opened why it was: which of the counts is to be one more.
// Where recording rested it is not known what was closed meanwhile: nil.
func openings(tl *timeline.Timeline) map[timeline.CallID]func(*NewConnections) {
	if len(tl.Windows) > 1 {
		return nil
	}
	type key struct {
		process recording.ProcessID
		peer    string
	}
	conns := make(map[recording.ConnID]*timeline.Conn, len(tl.Conns))
	for i := range tl.Conns {
		conns[tl.Conns[i].ID] = &tl.Conns[i]
	}
	pools := map[key]*pool{}
	for i := range tl.Calls {
		c := &tl.Calls[i]
		if c.Failed() {
			continue
		}
		k := key{c.Process, c.Peer}
		if pools[k] == nil {
			pools[k] = &pool{seen: map[recording.ConnID]bool{}}
		}
		pools[k].add(c, conns[c.Conn], tl.Start)
	}
	out := map[timeline.CallID]func(*NewConnections){}
	for _, p := range pools {
		p.replay(out)
	}
	return out
}

// pool is what a process has of connections to a peer: when each began to be there, was in use, and was closed.
type pool struct {
	seen                 map[recording.ConnID]bool
	opened, starts, ends []timeline.Time
	closed               []*timeline.Conn
	fresh                []*timeline.Call
}

func (p *pool) add(c *timeline.Call, conn *timeline.Conn, begin timeline.Time) {
	p.starts, p.ends = append(p.starts, c.Start), append(p.ends, c.End)
	if c.New {
		p.fresh = append(p.fresh, c)
	}
	if p.seen[c.Conn] {
		return
	}
	p.seen[c.Conn] = true
	from := c.Start
	if conn != nil && conn.Existing {
		from = begin - 1
	}
	p.opened = append(p.opened, from)
	if conn != nil && conn.Closed != recording.NoTime {
		p.closed = append(p.closed, conn)
	}
}

// replay goes through the calls that opened connections, in order.
func (p *pool) replay(out map[timeline.CallID]func(*NewConnections)) {
	for _, times := range [][]timeline.Time{p.opened, p.starts, p.ends} {
		slices.Sort(times)
	}
	slices.SortStableFunc(p.closed, func(a, b *timeline.Conn) int { return int(min(1, max(-1, a.Closed-b.Closed))) })
	slices.SortStableFunc(p.fresh, func(a, b *timeline.Call) int { return int(min(1, max(-1, a.Start-b.Start))) })
	opened, started, ended, closed := 0, 0, 0, 0
	for _, c := range p.fresh {
		opened = past(p.opened, opened, c.Start-1)
		started = past(p.starts, started, c.Start-1)
		ended = past(p.ends, ended, c.Start)
		for closed < len(p.closed) && p.closed[closed].Closed <= c.Start {
			closed++
		}
		switch busy := started - ended; {
		case opened == 0:
			out[c.ID] = func(n *NewConnections) { n.First++ }
		case opened <= busy:
			out[c.ID] = func(n *NewConnections) { n.Busy++ }
		case opened > busy+closed:
			out[c.ID] = func(n *NewConnections) { n.Idle++ }
		default:
			out[c.ID] = closedBy(p.closed[closed-1].By)
		}
	}
}

// past is how many of some times, in order, are not after one; n of them are known not to be.
func past(times []timeline.Time, n int, at timeline.Time) int {
	for n < len(times) && times[n] <= at {
		n++
	}
	return n
}

func closedBy(who recording.Closer) func(*NewConnections) {
	switch who {
	case recording.ClosedByUs:
		return func(n *NewConnections) { n.ClosedByUs++ }
	case recording.ClosedByPeer, recording.ClosedReset:
		return func(n *NewConnections) { n.ClosedByPeer++ }
	}
	return func(n *NewConnections) { n.Closed++ }
}
