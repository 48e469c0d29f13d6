package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/peers"
	"github.com/getdwell/dwell/recording"
)

// Unconnected is a peer to which connections did not come up.
type Unconnected struct {
	Peer      string  `json:"peer"`
	Address   string  `json:"address"`
	Count     int     `json:"count"`
	Of        int     `json:"of"`      // connections that were tried to this address
	Refused   int     `json:"refused"` // of those that did not come up: by the peer, or by a proxy
	Reset     int     `json:"reset"`   // by the peer, before it answered
	GivenUp   int     `json:"given_up"`
	TimeShare Decimal `json:"time_share"`     // of all request time went into them
	Then      string  `json:"then,omitempty"` // the address that the same requests reached right after, for most
}

// failure is how a connection did not come up.
type failure string

const (
	failedRefused failure = "refused"
	failedReset   failure = "reset by the peer"
	failedGivenUp failure = "given up"
	failedUnknown failure = "not known why"
)

// howFailed says how the connection of a call did not come up.
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

// unconnected lists the addresses to which connections did not come up, those first that took most time.
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
	for _, id := range d.Overall.Requests {
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

// ofEndpoint reports a call of the endpoint that alone is diagnosed, or any if all are.
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

// reachedAfter is the address of the call that the same request made next, if that is another one
// with the same port, and was reached; else "".
func reachedAfter(tl *timeline.Timeline, c *timeline.Call) string {
	if c.Request == timeline.None {
		return ""
	}
	var next *timeline.Call
	for _, id := range tl.Requests[c.Request].Calls {
		if k := &tl.Calls[id]; k.Start >= c.End && (next == nil || k.Start < next.Start) {
			next = k
		}
	}
	if next == nil || next.Failed() || next.Address == c.Address {
		return ""
	}
	_, port := peers.SplitPort(c.Address)
	if _, other := peers.SplitPort(next.Address); other != port {
		return ""
	}
	return next.Address
}

// toldUnconnected is how many addresses are named.
const toldUnconnected = 2

// notConnected says to whom connections did not come up. What a client gave up itself is told
// where it takes time: of two addresses that are tried at once one is.
func notConnected(list []Unconnected) string {
	var told []string
	for i := range list {
		if u := &list[i]; u.Count > u.GivenUp || u.TimeShare >= unit/100 {
			told = append(told, u.text())
		}
	}
	if len(told) == 0 {
		return ""
	}
	if n := len(told) - toldUnconnected; n > 0 {
		told = append(told[:toldUnconnected], fmt.Sprintf("and some to %d other addresses", n))
	}
	return "not connected: " + strings.Join(told, "; ")
}

func (u *Unconnected) text() string {
	peer := u.Peer
	if peer != u.Address {
		peer += " (" + u.Address + ")"
	}
	var by []string
	for _, x := range []struct {
		how failure
		n   int
	}{{failedRefused, u.Refused}, {failedReset, u.Reset}, {failedGivenUp, u.GivenUp}, {failedUnknown, u.Count - u.Refused - u.Reset - u.GivenUp}} {
		switch x.n {
		case 0:
		case u.Count:
			by = append(by, string(x.how))
		default:
			by = append(by, thousands(int64(x.n))+" "+string(x.how))
		}
	}
	text := fmt.Sprintf("%s of %s to %s (%s; %s of all request time)", thousands(int64(u.Count)), plural(u.Of, "connection"), peer,
		strings.Join(by, ", "), percent(u.TimeShare))
	if u.Then != "" {
		text += ", and then " + u.Then + " is reached"
	}
	return text
}
