package report

import (
	"fmt"
	"strings"
)

// callTable lists the calls that take most of the requests' time.
func callTable(p *page, r *Report) {
	list := byTime(r.Calls)
	if len(list) == 0 {
		return
	}
	wide := p.width - len("  a request   new conn.       p50       p99       max   of time")
	of := "Calls"
	if len(r.Endpoints) > 1 {
		of = "Calls of all endpoints"
	}
	p.line(bold, "%s a request   new conn.       p50       p99       max   of time", pad(of, wide))
	for _, c := range list[:min(len(list), p.calls)] {
		name := c.Peer
		if c.Operation != "" {
			name = c.Operation + " at " + c.Peer
		}
		p.line(plain, "  %s %9s   %9s %9s %9s %9s   %7s", pad(clip(name, wide-2), wide-2), each(c.Count, r.Requests.Count),
			percent(c.NewConnectionShare), human(c.P50), human(c.P99), human(c.Max), percent(c.TimeShare))
	}
	if n := len(list) - p.calls; n > 0 {
		p.line(dim, "  and %s", plural(n, "more kind")+" of calls")
	}
}

// byTime sorts calls by the time that requests spend on them.
func byTime(calls []CallGroup) []*CallGroup {
	var list []*CallGroup
	for i := range calls {
		at := len(list)
		for at > 0 && list[at-1].TimeShare < calls[i].TimeShare {
			at--
		}
		list = append(list, nil)
		copy(list[at+1:], list[at:])
		list[at] = &calls[i]
	}
	return list
}

// each is how many calls there are to a request.
func each(calls, requests int) string {
	if requests == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(calls)/float64(requests))
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
