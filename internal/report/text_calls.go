package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// callTable lists the calls that findings or the first lead name, then those that take most of the requests' time.
func callTable(p *page, r *Report) {
	list := inOrder(r)
	if len(list) == 0 || p.calls == 0 {
		return
	}
	of, rest := "Calls", " (%d of %s kinds, see --all)"
	if len(r.Endpoints) > 1 {
		of, rest = "Calls of all endpoints", " (%d of %s)"
	}
	if n := len(list); n > p.calls {
		of += fmt.Sprintf(rest, p.calls, thousands(int64(n)))
	}
	t := listing{head: of, columns: []column{{"a request", 11, 5}, {"new conn.", 12, 2}, {"p50", 10, 4}, {"p99", 10, 6}, {"max", 10, 1}, {"time in call", 14, 3}}}
	for _, c := range list[:min(len(list), p.calls)] {
		name := c.Peer
		if c.Operation != "" {
			name = c.Operation + " at " + c.Peer
		}
		t.add(name, each(c.Count+c.Cut, r.Requests.Count), percent(c.NewConnectionShare), human(c.P50), human(c.P99), human(c.Max), percent(c.TimeShare))
	}
	p.list(&t)
}

// inOrder returns the calls in the order in which they are listed.
func inOrder(r *Report) []*CallGroup {
	list := byTime(r.Calls)
	slices.SortStableFunc(list, func(a, b *CallGroup) int { return cmp.Compare(r.names(b), r.names(a)) })
	return list
}

// calledCalls is how many calls must be listed: those that a finding or the first lead names by what they ask, as far
// as a table goes.
func calledCalls(r *Report) (n int) {
	for i := range r.Calls {
		if r.names(&r.Calls[i]) == namesCall {
			n++
		}
	}
	return min(n, briefer[0].calls)
}

// How a finding or a lead names calls.
const (
	namesPeer = 1 + iota // only the peer
	namesCall            // what is asked of a peer
)

// names returns how the findings, or the first lead if there are none, name calls; 0: not at all.
func (r *Report) names(c *CallGroup) (how int) {
	of := r.Findings
	if order := leadsToTell(r); len(of) == 0 && len(order) > 0 {
		of = r.Leads[order[0] : order[0]+1]
	}
	for i := range of {
		text := of[i].Title + " " + of[i].Place + " " + of[i].Fix
		for _, e := range of[i].Evidence {
			text += " " + e.What
		}
		switch {
		case c.Operation != "" && mentions(text, c.Operation):
			return namesCall
		case mentions(text, c.Peer):
			how = namesPeer
		}
	}
	return how
}

// mentions reports whether a text contains a name that is not a part of a longer one.
func mentions(text, name string) bool {
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/_-{", r) }
	for from := 0; name != ""; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			break
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		behind, _ := utf8.DecodeRuneInString(text[at+len(name):])
		if !part(before) && !part(behind) {
			return true
		}
		from = at + 1
	}
	return false
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

// each is the number of calls per request.
func each(calls, requests int) string {
	if requests == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(calls)/float64(requests))
}

// toldUnconnected is how many addresses are named.
const toldUnconnected = 2

// notConnected says to which peers connections failed. Connections that the client itself gave up are reported only
// if they take time: if a client tries two addresses at once, it gives up one.
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

// listing is a table with a name and numbers in each row.
type listing struct {
	head    string
	columns []column
	rows    [][]string
}

// column is one of the numbers of a listing.
type column struct {
	head string
	wide int
	keep int // columns with the smallest keep are dropped first if there is no room
}

// shortestName is the minimum width of a name.
const shortestName = 16

func (t *listing) add(cells ...string) { t.rows = append(t.rows, cells) }

// list writes a listing with as many of its columns as there is room for. A name that is too long loses its middle,
// or gets a line of its own if everything is printed.
func (p *page) list(t *listing) {
	left, kept := p.width-2, make([]bool, len(t.columns))
	for {
		best := -1
		for i, c := range t.columns {
			if !kept[i] && (best < 0 || c.keep > t.columns[best].keep) {
				best = i
			}
		}
		if best < 0 || left-t.columns[best].wide < shortestName {
			break
		}
		kept[best] = true
		left -= t.columns[best].wide
	}
	row := func(cell func(i int) string) (text string) {
		for i, c := range t.columns {
			if kept[i] {
				text += pad(cell(i), -c.wide)
			}
		}
		return text
	}
	p.line(bold, "%s%s", pad(middle(t.head, left+2), left+2), row(func(i int) string { return t.columns[i].head }))
	for _, r := range t.rows {
		name := middle(r[0], left)
		if p.all && name != r[0] {
			p.wrap(plain, "  ", r[0], whole)
			name = ""
		}
		p.line(plain, "  %s%s", pad(name, left), row(func(i int) string { return r[i+1] }))
	}
}

// middle shortens a name to width runes by cutting out its middle: beginning and end distinguish it from others.
func middle(name string, width int) string {
	runes := []rune(name)
	if len(runes) <= width {
		return name
	}
	end := (width - 3) / 3
	return string(runes[:width-3-end]) + "..." + string(runes[len(runes)-end:])
}
