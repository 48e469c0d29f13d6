package hypotheses

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// pools holds the connections to one peer that belong to a pool which lives no longer than a request.
type pools struct {
	peerCalls
	opened  int                      // connections to it that requests opened
	conns   []recording.ConnID       // those of a pool for one request
	churned map[timeline.CallID]bool // calls that opened them
	calls   int                      // calls on these
	ended   int                      // of conns: closed by us as the request ended
	beside  int                      // of conns: opened while another one was open and idle
	fetches []timeline.CallID        // credential calls of the requests that have such a pool
}

// lingers is how long after a request a client that was built for it may still close its connections.
const lingers = diagnosis.Time(10 * milli)

// privatePools finds the pools of each peer. Each process builds clients of its own; the costs are added up.
func privatePools(c *diagnosis.Case) []*pools {
	out := ofPeers(c, privatePoolsOf, func(to **pools, of *pools) {
		all := *to
		all.peerCalls.calls, all.conns = append(all.peerCalls.calls, of.peerCalls.calls...), append(all.conns, of.conns...)
		maps.Copy(all.churned, of.churned)
		all.opened, all.calls, all.ended, all.beside = all.opened+of.opened, all.calls+of.calls, all.ended+of.ended, all.beside+of.beside
	})
	for _, p := range out {
		p.fetches = p.fetching(c)
	}
	return out
}

// privatePoolsOf finds connections that a call opened needlessly and that served one request only: a client that
// outlives the request would have used them again. A client that keeps no connection at all is of another kind: its
// connections carry one call each, and none stays open.
func privatePoolsOf(c *diagnosis.Case, p peerCalls) *pools {
	out := &pools{peerCalls: p, churned: map[timeline.CallID]bool{}}
	of := map[recording.ConnID][]timeline.CallID{}
	for _, id := range p.calls {
		of[c.Calls[id].Conn] = append(of[c.Calls[id].Conn], id)
	}
	needless, idle, keeps := findChurn(c, p).churned, idleBeside(c, of), keepsSome(c, of)
	for _, id := range p.calls {
		call := &c.Calls[id]
		if !call.New || call.Request == timeline.None {
			continue
		}
		out.opened++
		if !needless[id] || slices.ContainsFunc(of[call.Conn], func(k timeline.CallID) bool { return c.Calls[k].Request != call.Request }) {
			continue
		}
		cn := &c.Conns[connIndex(c, call.Conn)]
		ended := len(of[call.Conn]) > 1 && (!keeps || asksOf(c, of[call.Conn]) > 1) && cn.By == recording.ClosedByUs && cn.Closed <= c.Requests[call.Request].End+lingers
		beside := idle(cn.Opened)
		if !ended && !beside {
			continue
		}
		out.conns = append(out.conns, call.Conn)
		out.churned[id] = true
		out.calls += len(of[call.Conn])
		if ended {
			out.ended++
		}
		if beside {
			out.beside++
		}
	}
	if 2*len(out.conns) < out.opened {
		return &pools{peerCalls: p, opened: out.opened, churned: map[timeline.CallID]bool{}} // most are shared, and so is the client
	}
	return out
}

// keepsSome reports whether at least one in twenty of the connections that requests open serves others, too. Then their
// client outlives them, and keeps fewer connections than it opens.
func keepsSome(c *diagnosis.Case, of map[recording.ConnID][]timeline.CallID) bool {
	opened, shared := 0, 0
	for _, calls := range of {
		if first := &c.Calls[calls[0]]; first.New && first.Request != timeline.None {
			opened++
			if slices.ContainsFunc(calls, func(id timeline.CallID) bool { return c.Calls[id].Request != first.Request }) {
				shared++
			}
		}
	}
	return 20*shared >= opened
}

// asksOf counts the calls on a connection that ask for something. In a session of a database, calls that open it or
// prepare a statement belong to the statement that follows.
func asksOf(c *diagnosis.Case, calls []timeline.CallID) (n int) {
	for _, id := range calls {
		call := &c.Calls[id]
		if !opensSession(call) && !(call.Protocol.SQL() && strings.HasPrefix(call.Operation, "PREPARE")) {
			n++
		}
	}
	return n
}

// connIndex returns the index of a connection in a case.
func connIndex(c *diagnosis.Case, id recording.ConnID) int {
	index := c.Once("connections", func() any {
		m := map[recording.ConnID]int{}
		for i := range c.Conns {
			m[c.Conns[i].ID] = i
		}
		return m
	}).(map[recording.ConnID]int)
	return index[id]
}

// idleBeside returns a function that reports whether, at a time, some connection to a peer was open and had answered
// all that it was asked. Connections that the peer has closed do not count.
func idleBeside(c *diagnosis.Case, of map[recording.ConnID][]timeline.CallID) func(diagnosis.Time) bool {
	var first, closed, begun, over []diagnosis.Time // first answers and ends of connections; starts and ends of later calls
	for conn, calls := range of {
		cn := &c.Conns[connIndex(c, conn)]
		if cn.Closed != recording.NoTime && cn.By != recording.ClosedByUs {
			continue
		}
		slices.SortFunc(calls, func(a, b timeline.CallID) int { return cmp.Compare(c.Calls[a].Start, c.Calls[b].Start) })
		first = append(first, c.Calls[calls[0]].End)
		last := c.Calls[calls[len(calls)-1]].End
		closed = append(closed, max(c.SeenUntil(cn, last)-lingers, last))
		for _, id := range calls[1:] {
			begun, over = append(begun, c.Calls[id].Start), append(over, c.Calls[id].End)
		}
	}
	for _, list := range [][]diagnosis.Time{first, closed, begun, over} {
		slices.Sort(list)
	}
	until := func(list []diagnosis.Time, at diagnosis.Time) int {
		n, _ := slices.BinarySearch(list, at+1)
		return n
	}
	return func(at diagnosis.Time) bool {
		return until(first, at)-until(closed, at)-until(begun, at)+until(over, at) > 0
	}
}

// fetching returns the credential calls of the requests that have such a pool, if they go with it: nearly every such
// request makes some.
func (p *pools) fetching(c *diagnosis.Case) (out []timeline.CallID) {
	mine, with := map[diagnosis.RequestID]bool{}, map[diagnosis.RequestID]bool{}
	for id := range p.churned {
		mine[c.Calls[id].Request] = true
	}
	for _, f := range fetched(c) {
		for _, id := range f.calls {
			if r := c.Calls[id].Request; mine[r] {
				with[r] = true
				out = append(out, id)
			}
		}
	}
	if diagnosis.ShareOf(int64(len(with)), int64(len(mine))) < often {
		return nil
	}
	return out
}

// credentials returns what requests waited for the credentials that go with the pools.
func (p *pools) credentials(c *diagnosis.Case) []diagnosis.Span {
	of := map[timeline.CallID]bool{}
	for _, id := range p.fetches {
		of[id] = true
	}
	return c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Call != timeline.None && of[s.Call] })
}

// why says how it is known that the connections belong to one request.
func (p *pools) why() string {
	n := len(p.conns)
	if p.beside >= p.ended {
		return ", " + allOrSome(p.beside, n) + "opened while another one was open and idle"
	}
	if p.ended == n {
		return " and were closed with it, after several calls"
	}
	return ", " + allOrSome(p.ended, n) + "closed with it after several calls"
}

// allOrSome says how many of some connections the text after it is about.
func allOrSome(some, all int) string {
	if some == all {
		return "all of them "
	}
	return diagnosis.Thousands(int64(some)) + " of them "
}

// fix says how to keep connections of that kind.
func (p *pools) fix(c *diagnosis.Case) string {
	for _, id := range p.peerCalls.calls {
		if opensSession(&c.Calls[id]) {
			return sessionFix(runtimeOf(c, p.process))
		}
	}
	return clientFix(runtimeOf(c, p.process), "")
}
