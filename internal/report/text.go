package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

const shownEndpoints = 4

// Text writes the report so that it fits one screen, unless everything is requested.
func Text(w io.Writer, r *Report, o TextOptions) error {
	if o.All {
		return write(r, o, everything).flush(w)
	}
	var p *page
	for _, b := range ladder(r) {
		if p = write(r, o, b); p.fits() {
			break
		}
	}
	return fuller(r, o, p).flush(w)
}

func write(r *Report, o TextOptions, b brevity) *page {
	p := newPage(o)
	p.brevity = b
	p.wrap(bold, "", fmt.Sprintf("dwell: %s, %s s%s, %s", who(r, b.tight < tidied), seconds(r.Recording.Seconds), since(r), howMany(r)), 2)
	if r.Recording.Truncated {
		p.line(yellow, "The recording was not closed: what is whole of it is diagnosed.")
	}
	if x := r.Recording.Excerpt; x != nil {
		p.wrap(plain, "  ", x.Text(), 2)
	} else if w := r.Recording.Windows; w != nil {
		p.wrap(plain, "  ", fmt.Sprintf("Recorded were %s s of it, in %s: all of it would have cost the service more than it can spare (--windows=off takes all).",
			seconds(w.Seconds), plural(w.Count, "window")), 2)
	}
	if n := r.Requests.Unwatched; n > 0 {
		p.wrap(plain, "  ", fmt.Sprintf("Left out are %s (p50 %s) during which goroutines that wait were not watched, as that would have cost the service too much (--go-probes=20%% watches more).",
			plural(n, "request"), human(r.Requests.UnwatchedP50)), 2)
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
		if p.tight < terse {
			minor(p, r)
			ruledOut(p, r)
			undecided(p, r)
		} else {
			countOthers(p, r)
		}
	}
	footer(p, r)
	return p
}

// From this many requests on: hundred, p99 is not just the slowest one's time; afew, p99 rests on more than a few
// requests; firm, on ten.
const (
	hundred = 100
	afew    = 300
	firm    = 1000
)

// howMany says how many requests were measured, and how often they came unless a table shows that.
func howMany(r *Report) string {
	text := plural(r.Requests.Count, "request")
	if len(r.Endpoints) > 1 {
		text += ", " + perSecond(r.Requests.PerSecond) + "/s"
	}
	switch n := r.Requests.Count; {
	case n > 1 && n < hundred:
		text += " (p99 is the slowest one's)"
	case n < afew && n > 1:
		text += " (too few for a firm p99)"
	}
	return text
}

// since says at which time of day the recording began, if known.
func since(r *Report) string {
	if r.Recording.Wall == 0 {
		return ""
	}
	return " from " + timeOfDay(r.Recording.Wall) + " UTC"
}

// who names the processes that served requests, or all processes if none did; it counts the others if that is asked
// for.
func who(r *Report, others bool) string {
	list, silent := r.Seen.Processes, r.Seen.Silent
	text := strings.Join(list[:min(2, len(list))], ", ")
	if n := len(list) - 2; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if silent > 0 && others {
		text += fmt.Sprintf(" (and %s that served no requests)", processes(silent))
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
	shown := listed(r)
	t := listing{head: "Requests", columns: []column{{"count", 8, 6}, {"/s", 8, 4}, {"5xx", 7, 5}, {"mean", 9, 2}, {"p50", 9, 3}, {"p99", 9, 7}, {"max", 9, 1}}}
	for _, e := range shown {
		t.add(e.Name, thousands(int64(e.Count)), perSecond(e.PerSecond), e.failedCell(), human(e.Mean), human(e.P50), human(e.P99), human(e.Max))
	}
	p.list(&t)
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

// perSecond prints a rate with three digits, or as a whole number.
func perSecond(rate Decimal) string {
	switch {
	case rate >= 100*unit:
		return thousands(int64(rate+unit/2) / unit)
	case rate > 0 && rate < unit/100:
		return "<0.01"
	case rate > 0 && rate < unit:
		return fmt.Sprintf("0.%02d", (rate+unit/200)/(unit/100))
	}
	return quantity(rate, "per_second")
}

// failedCell is how many requests failed, or "-" if no answer's status is known.
func (t *Traffic) failedCell() string {
	if t.Unknown == t.Count {
		return "-"
	}
	return thousands(int64(t.failures()))
}

// failures says how many requests of endpoints were answered with a status that means that the server failed. Such
// answers may be fast, or slow, for that reason alone.
func failures(list []*Endpoint) string {
	var told []string
	for _, e := range list {
		all := e.failures()
		var by []string
		for _, a := range e.Failed {
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
		told = append(told, fmt.Sprintf("%s of %s (%s; %s)", plural(all, "request"), requestOf(e), percent(share(int64(all), int64(e.Count-e.Unknown))), strings.Join(by, ", ")))
	}
	if len(told) == 0 {
		return ""
	}
	return "failed: " + strings.Join(told, "; ")
}

// toldFailures is how many statuses of an endpoint are named.
const toldFailures = 3

// listed returns the endpoints that are named: the most frequent ones, always including the one whose time is shown
// and the slowest.
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

// focus returns the endpoint whose time is shown: that of the first finding, or else the one with the most time in
// total.
func focus(r *Report) *Endpoint {
	best := &r.Endpoints[0]
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		if len(r.Findings) > 0 && e.Name == r.Findings[0].Endpoint {
			return e
		}
		if e.ids.total > best.ids.total {
			best = e
		}
	}
	return best
}

// labelWide is the width of the longest name of a phase and a cause.
const labelWide = 33

func whereItGoes(p *page, r *Report) {
	e := focus(r)
	list := rows(e, p.rows, foundKinds(r)...)
	var ord, slow []Decimal
	for _, l := range list {
		ord, slow = append(ord, l.ordinary), append(slow, l.slow)
	}
	p.raw("")
	p.timeHead(e)
	to, ts := tenths(ord), tenths(slow)
	for i, l := range list {
		p.raw("  " + pad(l.label, labelWide) + l.cell(p, e.Ordinary, ord[i], to[i]) + "   " + l.cell(p, e.Slow, slow[i], ts[i]))
	}
	p.raw(p.paint(dim, "  "+pad("total", labelWide)+p.timeCell(human(e.Ordinary), "100.0 %", "")+"   "+p.timeCell(human(e.Slow), "100.0 %", "")))
	if p.legend {
		explain(p, list)
	}
}

// explain explains the phases whose names are not self-explanatory, and the causes that the text has not named.
func explain(p *page, list []timeLine) {
	var told []string
	for _, ph := range WebPhases() {
		if !slices.Contains([]string{timeline.PhaseQueue.String(), timeline.PhaseUnread.String(), timeline.PhasePickUp.String(), timeline.PhaseSend.String(), timeline.PhaseHandler.String()}, ph.Name) {
			continue
		}
		if slices.ContainsFunc(list, func(l timeLine) bool { return l.phase == ph.Name }) {
			told = append(told, ph.Name+": "+ph.Means)
		}
	}
	for c := range timeline.NumCauses {
		of := func(is func(l *timeLine) bool) bool {
			return slices.ContainsFunc(list, func(l timeLine) bool { return l.phase != "" && l.cause == c.String() && is(&l) })
		}
		if !of(func(*timeLine) bool { return true }) {
			continue
		}
		alone := func(l *timeLine) bool { return l.phase == l.cause && l.phase == timeline.PhaseRemote.String() }
		if of(alone) && of(func(l *timeLine) bool { return !alone(l) }) {
			told = append(told, c.String()+" alone: the peer has the call, and has not answered")
			continue
		}
		if words, is := strings.CutSuffix(inWords(c, p.named), " ("+c.String()+")"); is {
			told = append(told, c.String()+": "+words)
		}
	}
	if told != nil {
		p.wrap(dim, "  ", strings.Join(told, "; ")+".", whole)
	}
}

func (l *timeLine) cell(p *page, whole Duration, part Decimal, t int) string {
	d := Duration(int64(whole) / unit * int64(part))
	if whole < 1<<40 {
		d = Duration(int64(whole) * int64(part) / unit)
	}
	if d == 0 {
		return p.timeCell("-", "-", "")
	}
	return p.timeCell(human(d), fmt.Sprintf("%d.%d %%", t/10, t%10), p.paint(p.inks[l.cause], pad(bar(int64(part), unit, barWide), barWide)))
}

// The table of where the time goes shows bars and shares only from these widths on.
const (
	barWide      = 10
	roomForBars  = 96
	roomForShare = 74
)

// timeHead names the columns of that table.
func (p *page) timeHead(e *Endpoint) {
	const title, wide = "Where the time goes: ", 44
	if p.width >= roomForBars {
		p.raw(p.paint(bold, pad(title+middle(e.Name, wide-len(title)), wide+1)+pad("ordinary (near p50)", 29)+"slow ("+slowest(e)+")"))
		return
	}
	p.line(bold, "%s%s", title, middle(e.Name, p.width-len(title)))
	p.line(bold, "%s%s   %s", strings.Repeat(" ", 2+labelWide), p.timeCell("ordinary", "", ""), p.timeCell("slow", "", ""))
}

// timeCell prints how long something takes, its share, and the share as a bar.
func (p *page) timeCell(took, share, bar string) string {
	text := pad(took, -9)
	if p.width >= roomForShare {
		text += pad(share, -9)
	}
	if p.width >= roomForBars {
		text += " " + pad(bar, barWide)
	}
	return text
}

// reason is why a hypothesis has its verdict.
type reason struct{ id, why string }

// reasons lists, under a title, the hypotheses for each reason; hypotheses with a reason of their own come first.
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
