package report

import "fmt"

// callTable lists the calls that take most of the requests' time.
func callTable(p *page, r *Report) {
	list := byTime(r.Calls)
	if len(list) == 0 {
		return
	}
	wide := p.width - len("  a request   new conn.       p50       p99       max   of time")
	p.line(bold, "%s a request   new conn.       p50       p99       max   of time", pad("Calls", wide))
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
