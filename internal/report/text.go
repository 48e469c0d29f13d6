package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

const shownEndpoints = 4

// Text writes the report so that it fits one screen, unless all is asked for.
func Text(w io.Writer, r *Report, o TextOptions) error {
	if o.All {
		return write(r, o, everything).flush(w)
	}
	var p *page
	for _, b := range briefer {
		if p = write(r, o, b); strings.Count(p.b.String(), "\n") <= screen {
			break
		}
	}
	return p.flush(w)
}

func write(r *Report, o TextOptions, b brevity) *page {
	p := newPage(o)
	p.brevity = b
	p.wrap(bold, "", fmt.Sprintf("dwell: %s, %s s%s, %s", who(r), seconds(r.Recording.Seconds), since(r), plural(r.Requests.Count, "request")), 2)
	if r.Recording.Truncated {
		p.line(yellow, "The recording was not closed: what is whole of it is diagnosed.")
	}
	if x := r.Recording.Excerpt; x != nil {
		p.wrap(plain, "  ", x.Text(), 2)
	} else if w := r.Recording.Windows; w != nil {
		p.wrap(plain, "  ", fmt.Sprintf("Recorded were %s s of it, in %s: all of it would have cost the service more than it can spare (--windows=off takes all).",
			seconds(w.Seconds), plural(w.Count, "window")), 2)
	}
	if r.Requests.Count == 0 {
		noRequests(p, r)
	} else {
		symptom(p, r)
		answer(p, r)
		showSLOs(p, r)
		showFindings(p, r)
		leads(p, r)
		eachRequest(p, r)
		whereItGoes(p, r)
		callTable(p, r)
		minor(p, r)
		ruledOut(p, r)
		undecided(p, r)
	}
	footer(p, r)
	return p
}

// since says at which time of day the recording began, where that is known.
func since(r *Report) string {
	if r.Recording.Wall == 0 {
		return ""
	}
	return " from " + timeOfDay(r.Recording.Wall) + " UTC"
}

// who names the processes that served requests, or those there are if none did.
func who(r *Report) string {
	list, silent := r.Seen.Processes, r.Seen.Silent
	text := strings.Join(list[:min(2, len(list))], ", ")
	if n := len(list) - 2; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if silent > 0 {
		text += fmt.Sprintf(" (and %s that served none)", processes(silent))
	}
	if r.Recording.Of != "" {
		text = r.Recording.Of + ": " + text
	}
	return text
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return thousands(int64(n)) + " processes"
}

func seconds(d Decimal) string {
	t := (int64(d) + 50_000) / 100_000
	return fmt.Sprintf("%d.%d", t/10, t%10)
}

// noRequests says what was seen instead of requests.
func noRequests(p *page, r *Report) {
	if r.Requests.Cut > 0 {
		p.line(red, "No request began and ended while it was recorded: nothing can be said about latency.")
		if r.Requests.Early == r.Requests.Cut {
			p.wrap(plain, "  ", plural(r.Requests.Cut, "request")+" came while the ids of the runtime were still looked for, by which calls are given to requests: record for longer.", 2)
			return
		}
		p.wrap(plain, "  ", plural(r.Requests.Cut, "request")+" cut by an end of the recording: record for longer. Should they never end, dwell threads REC shows what their threads wait for.", 2)
		return
	}
	p.line(red, "No request was recognised: nothing can be said about latency.")
	switch {
	case len(r.Seen.Protocols) > 0:
		p.wrap(plain, "  ", "Seen instead, from clients: "+strings.Join(r.Seen.Protocols, ", ")+
			". dwell reads HTTP/1.1 in plain text; where TLS ends in this process, record the one behind the proxy.", 3)
	case r.Seen.Outbound > 0:
		p.wrap(plain, "  ", "No client connected; "+plural(r.Seen.Outbound, "outgoing connection")+" seen. Send requests while recording.", 2)
	default:
		p.line(plain, "  No connection was seen. Is this the process that serves? Send requests while recording.")
	}
}

func symptom(p *page, r *Report) {
	wide := 0
	shown := listed(r)
	for _, e := range shown {
		wide = max(wide, len([]rune(e.Name)))
	}
	wide = min(wide, 40)
	for _, e := range shown {
		p.line(plain, "  %s  %s   mean %s   p50 %s   p99 %s   max %s", pad(clip(e.Name, wide), wide), pad(plural(e.Count, "request"), -14),
			pad(human(e.Mean), -7), pad(human(e.P50), -7), pad(human(e.P99), -7), pad(human(e.Max), -7))
	}
	if text := failures(shown); text != "" {
		p.wrap(red, "  ", text, 2)
	}
	if text := notConnected(r.Requests.Unconnected); text != "" {
		p.wrap(yellow, "  ", text, 2)
	}
	if n := len(r.Endpoints) - len(shown); n > 0 {
		p.line(dim, "  and %s (--endpoint 'GET /x' shows one alone)", plural(n, "more endpoint"))
	}
}

// failures says how many requests of endpoints were answered with what tells that the server
// failed: those may be fast, or slow, by that alone.
func failures(list []*Endpoint) string {
	var told []string
	for _, e := range list {
		all := 0
		var by []string
		for _, a := range e.Failed {
			all += a.Count
			by = append(by, fmt.Sprintf("%s with %d", thousands(int64(a.Count)), a.Status))
		}
		switch {
		case all == 0:
			continue
		case len(by) == 1:
			by[0] = fmt.Sprintf("with %d", e.Failed[0].Status)
		case len(by) > toldFailures:
			by = append(by[:toldFailures], "...")
		}
		told = append(told, fmt.Sprintf("%s of %s (%s)", plural(all, "request"), requestOf(e), strings.Join(by, ", ")))
	}
	if len(told) == 0 {
		return ""
	}
	return "failed: " + strings.Join(told, "; ")
}

// toldFailures is how many statuses of an endpoint are named.
const toldFailures = 3

// listed are the endpoints that are named: the most frequent ones, always with the one whose
// time is shown and the slowest.
func listed(r *Report) []*Endpoint {
	slowest := &r.Endpoints[0]
	for i := range r.Endpoints {
		if e := &r.Endpoints[i]; e.P99 > slowest.P99 {
			slowest = e
		}
	}
	chosen := map[*Endpoint]bool{focus(r): true, slowest: true}
	for i := 0; i < len(r.Endpoints) && len(chosen) < shownEndpoints; i++ {
		chosen[&r.Endpoints[i]] = true
	}
	var list []*Endpoint
	for i := range r.Endpoints {
		if e := &r.Endpoints[i]; chosen[e] {
			list = append(list, e)
		}
	}
	return list
}

// focus is the endpoint whose time is shown: that of the first finding, else the one
// that takes the most time in all.
func focus(r *Report) *Endpoint {
	best := &r.Endpoints[0]
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		if len(r.Findings) > 0 && e.Name == r.Findings[0].Endpoint {
			return e
		}
		if e.total > best.total {
			best = e
		}
	}
	return best
}

// labelWide is as wide as the longest name of a phase and a cause.
const labelWide = 33

func whereItGoes(p *page, r *Report) {
	e := focus(r)
	list := rows(e, p.rows)
	var ord, slow []Decimal
	for _, l := range list {
		ord, slow = append(ord, l.ordinary), append(slow, l.slow)
	}
	p.raw("")
	p.raw(p.paint(bold, pad(clip("Where the time goes: "+e.Name, 44), 45)) + p.paint(bold, pad("ordinary (near p50)", 29)+"slow (near p99)"))
	to, ts := tenths(ord), tenths(slow)
	for i, l := range list {
		p.raw("  " + pad(l.label, labelWide) + l.cell(p, e.Ordinary, ord[i], to[i]) + "   " + l.cell(p, e.Slow, slow[i], ts[i]))
	}
	p.raw(p.paint(dim, "  "+pad("total", labelWide)+pad(human(e.Ordinary), -9)+pad("100.0 %", -9)+strings.Repeat(" ", 11)+"   "+
		pad(human(e.Slow), -9)+pad("100.0 %", -9)))
	if p.names {
		explain(p, list)
	}
}

// explain says what the phases are whose names do not.
func explain(p *page, list []timeLine) {
	var told []string
	for _, x := range [][2]string{{"unread-request", "it has arrived, and nobody has read it"}, {"pick-up", "the peer's answer has arrived, and nobody has read it"}} {
		if slices.ContainsFunc(list, func(l timeLine) bool { return strings.HasPrefix(l.label, x[0]+",") }) {
			told = append(told, x[0]+": "+x[1])
		}
	}
	if told != nil {
		p.wrap(dim, "  ", strings.Join(told, "; ")+".", 2)
	}
}

func (l *timeLine) cell(p *page, whole Duration, part Decimal, t int) string {
	d := Duration(int64(whole) / unit * int64(part))
	if whole < 1<<40 {
		d = Duration(int64(whole) * int64(part) / unit)
	}
	if d == 0 {
		return pad("-", -9) + pad("-", -9) + strings.Repeat(" ", 11)
	}
	return pad(human(d), -9) + pad(fmt.Sprintf("%d.%d %%", t/10, t%10), -9) + " " + p.paint(p.inks[l.cause], pad(bar(int64(part), unit, 10), 10))
}

// timeLine is a line of where the time goes.
type timeLine struct {
	label, cause   string
	ordinary, slow Decimal
}

// rows returns the largest causes, the rest together, and what is unaccounted for.
func rows(e *Endpoint, most int) (list []timeLine) {
	add := func(label, cause string, a, b Decimal) {
		list = append(list, timeLine{label, cause, a, b})
	}
	var otherA, otherB Decimal
	for _, c := range e.Causes {
		if len(list) < most && (c.P50Share >= unit/100 || c.P99Share >= unit/100) {
			add(c.Phase+", "+c.Cause, c.Cause, c.P50Share, c.P99Share)
			continue
		}
		otherA += c.P50Share
		otherB += c.P99Share
	}
	if otherA > 0 || otherB > 0 {
		add("other", timeline.CauseUnknown.String(), otherA, otherB)
	}
	if e.Unaccounted.P50Share > 0 || e.Unaccounted.P99Share > 0 {
		add("Unaccounted", Unaccounted, e.Unaccounted.P50Share, e.Unaccounted.P99Share)
	}
	return list
}

// tenths rounds shares that sum to one to tenths of a percent that sum to 1000.
func tenths(shares []Decimal) []int {
	out := make([]int, len(shares))
	left := 1000
	for i, s := range shares {
		out[i] = int(s / 1000)
		left -= out[i]
	}
	for ; left > 0; left-- {
		most := 0
		for i, s := range shares {
			if int64(s)-int64(out[i])*1000 > int64(shares[most])-int64(out[most])*1000 {
				most = i
			}
		}
		out[most]++
	}
	return out
}

// reason is why a hypothesis has the verdict that it has.
type reason struct{ id, why string }

// reasons lists, under a title, what each reason holds for: what has its own first.
func reasons(p *page, s style, title string, list []reason) {
	p.raw("")
	p.line(bold, "%s", title)
	of := map[string][]string{}
	for _, r := range list {
		of[r.why] = append(of[r.why], r.id)
	}
	for _, r := range list {
		if len(of[r.why]) == 1 {
			p.wrap(s, "  "+pad(r.id, 19)+" ", r.why, whole)
		}
	}
	for _, r := range list {
		if len(of[r.why]) > 1 && of[r.why][0] == r.id {
			p.wrap(s, "  ", r.why+": "+strings.Join(of[r.why], ", "), whole)
		}
	}
}
