package report

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// NewConnections counts calls for which a connection was opened, by the state of the connections that the process had
// to the same peer when the call began.
type NewConnections struct {
	First        int `json:"first"`          // there had been none
	Busy         int `json:"busy"`           // all connections that there had ever been were in use
	Idle         int `json:"idle"`           // one was open and unused
	ClosedByUs   int `json:"closed_by_us"`   // none was open and free; we closed the latest to be closed
	ClosedByPeer int `json:"closed_by_peer"` // the same, but the peer closed it
	Closed       int `json:"closed"`         // the same, but it is not known who closed it
}

// openings returns, for each call for which a connection was opened, a function that adds one to the count of its
// reason. It returns nil if recording rested, because then connections that were closed meanwhile are not known.
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

// pool holds a process's connections to one peer: when each was opened, used and closed.
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

// past returns how many of times, which are in order, are not after at. The first n are known not to be.
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

// Unconnected is a peer to which connections failed.
type Unconnected struct {
	Peer      string  `json:"peer"`
	Address   string  `json:"address"`
	Count     int     `json:"count"`
	Of        int     `json:"of"`      // connections attempted to this address
	Refused   int     `json:"refused"` // the part of Count that the peer or a proxy refused
	Reset     int     `json:"reset"`   // by the peer, before it answered
	GivenUp   int     `json:"given_up"`
	TimeShare Decimal `json:"time_share"`     // of all request time
	Then      string  `json:"then,omitempty"` // the address that most of these requests reached right after
}

// failure is the way in which a connection failed.
type failure string

const (
	failedRefused failure = "refused"
	failedReset   failure = "reset by the peer"
	failedGivenUp failure = "given up"
	failedUnknown failure = "not known why"
)

// howFailed says in which way the connection of a call failed.
func howFailed(tl *timeline.Timeline, c *timeline.Call) failure {
	i := slices.IndexFunc(tl.Conns, func(k timeline.Conn) bool { return k.ID == c.Conn })
	if i < 0 {
		return failedUnknown
	}
	return failureOf(c, tl.Conns[i].By)
}

func failureOf(c *timeline.Call, by recording.Closer) failure {
	switch {
	case c.Proxy != "" || by == recording.ClosedRefused:
		return failedRefused
	case by == recording.ClosedReset || by == recording.ClosedByPeer:
		return failedReset
	case by == recording.ClosedByUs:
		return failedGivenUp
	}
	return failedUnknown
}

// unconnected lists the addresses to which connections failed; those that took most time come first.
func unconnected(d *diagnosis.Diagnosis, tl *timeline.Timeline) (out []Unconnected) {
	if !slices.ContainsFunc(tl.Calls, func(c timeline.Call) bool { return c.Failed() }) {
		return nil
	}
	tried, failed := map[string]int{}, map[string][]*timeline.Call{}
	for i := range tl.Calls {
		c := &tl.Calls[i]
		if !c.New || !ofEndpoint(d, tl, c) {
			continue
		}
		tried[c.Address]++
		if c.Failed() {
			failed[c.Address] = append(failed[c.Address], c)
		}
	}
	closers := make(map[recording.ConnID]recording.Closer, len(tl.Conns))
	for i := range tl.Conns {
		closers[tl.Conns[i].ID] = tl.Conns[i].By
	}
	times, all := callTimes(d, tl), int64(0)
	for _, id := range d.Overall.ByID() {
		all += int64(tl.Requests[id].Duration())
	}
	for address, calls := range failed {
		u := Unconnected{Peer: calls[0].Peer, Address: address, Of: tried[address]}
		took, then := int64(0), map[string]int{}
		for _, c := range calls {
			u.count(failureOf(c, closers[c.Conn]))
			took += times[c.ID]
			if at := reachedAfter(tl, c); at != "" {
				if then[at]++; 2*then[at] > len(calls) {
					u.Then = at
				}
			}
		}
		u.TimeShare = share(took, all)
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b Unconnected) int {
		return cmp.Or(cmp.Compare(b.TimeShare, a.TimeShare), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Address, b.Address))
	})
	return out
}

// callTimes sums, by call, the segments of measured requests that are spent on it.
func callTimes(d *diagnosis.Diagnosis, tl *timeline.Timeline) map[timeline.CallID]int64 {
	took := map[timeline.CallID]int64{}
	if len(tl.Calls) == 0 {
		return took
	}
	for _, id := range d.Overall.ByID() {
		for s := tl.Requests[id].Segments(); s.Next(); {
			if s.Call != timeline.None {
				took[s.Call] += int64(s.To.Sub(s.From))
			}
		}
	}
	return took
}

// ofEndpoint reports whether a call belongs to the only diagnosed endpoint; if all are diagnosed, every call does.
func ofEndpoint(d *diagnosis.Diagnosis, tl *timeline.Timeline, c *timeline.Call) bool {
	e := d.Options.Endpoint
	return e == "" || c.Request != timeline.None && tl.Requests[c.Request].Endpoint == e
}

func (u *Unconnected) count(how failure) {
	u.Count++
	switch how {
	case failedRefused:
		u.Refused++
	case failedReset:
		u.Reset++
	case failedGivenUp:
		u.GivenUp++
	}
}

// reachedAfter returns the address of the next call of the same request if that has the same port, another address,
// and was reached; else "".
func reachedAfter(tl *timeline.Timeline, c *timeline.Call) string {
	if c.Request == timeline.None {
		return ""
	}
	calls := tl.Requests[c.Request].Calls // in order of start
	i, _ := slices.BinarySearchFunc(calls, c.End, func(id timeline.CallID, t timeline.Time) int { return cmp.Compare(tl.Calls[id].Start, t) })
	if i == len(calls) {
		return ""
	}
	next := &tl.Calls[calls[i]]
	if next.Failed() || next.Address == c.Address {
		return ""
	}
	was, err := netip.ParseAddrPort(c.Address)
	if is, other := netip.ParseAddrPort(next.Address); err != nil || other != nil || is.Port() != was.Port() {
		return ""
	}
	return next.Address
}
