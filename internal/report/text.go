package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

const (
	shownEndpoints = 4
	shownFindings  = 3
	shownRows      = 5
	shownMissing   = 2
)

// Text writes the report so that it fits one screen.
func Text(w io.Writer, r *Report, o TextOptions) error {
	p := newPage(o)
	p.line(bold, "dwell: %s, %s s%s, %s", who(r), seconds(r.Recording.Seconds), since(r), plural(r.Requests.Count, "request"))
	if r.Recording.Truncated {
		p.line(yellow, "The recording was not closed: what is whole of it is diagnosed.")
	}
	if w := r.Recording.Windows; w != nil {
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
		whereItGoes(p, r)
		callTable(p, r)
		minor(p, r)
		ruledOut(p, r)
		undecided(p, r)
	}
	footer(p, r)
	return p.flush(w)
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
	if n := len(r.Endpoints) - len(shown); n > 0 {
		p.line(dim, "  and %s (--endpoint 'GET /x' shows one alone)", plural(n, "more endpoint"))
	}
}

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

func whereItGoes(p *page, r *Report) {
	e := focus(r)
	list := rows(e)
	var ord, slow []Decimal
	for _, l := range list {
		ord, slow = append(ord, l.ordinary), append(slow, l.slow)
	}
	p.raw("")
	p.raw(p.paint(bold, pad(clip("Where the time goes: "+e.Name, 42), 42)) + p.paint(bold, pad("ordinary (near p50)", 29)+"slow (near p99)"))
	to, ts := tenths(ord), tenths(slow)
	for i, l := range list {
		p.raw("  " + pad(l.label, 30) + l.cell(p, e.ordinary, ord[i], to[i]) + "   " + l.cell(p, e.slow, slow[i], ts[i]))
	}
	p.raw(p.paint(dim, "  "+pad("total", 30)+pad(human(e.ordinary), -9)+pad("100.0 %", -9)+strings.Repeat(" ", 11)+"   "+
		pad(human(e.slow), -9)+pad("100.0 %", -9)))
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
func rows(e *Endpoint) (list []timeLine) {
	add := func(label, cause string, a, b Decimal) {
		list = append(list, timeLine{label, cause, a, b})
	}
	var otherA, otherB Decimal
	for _, c := range e.Causes {
		if len(list) < shownRows && (c.P50Share >= unit/100 || c.P99Share >= unit/100) {
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

// ruledOut lists what was ruled out with the time that was seen of it; with all, each has
// its sentence, and one all of which the same is said.
func ruledOut(p *page, r *Report) {
	if len(r.Refuted) == 0 {
		return
	}
	if p.all {
		p.raw("")
		p.line(bold, "Ruled out")
		var whys, ids []string
		for _, o := range r.Refuted {
			whys, ids = append(whys, o.Why), append(ids, o.ID)
		}
		reasons(p, plain, whys, ids)
		return
	}
	var list []string
	for _, o := range r.Refuted {
		if o.Time > 0 {
			list = append(list, o.ID+" "+percent(o.Time))
		}
	}
	for _, o := range r.Refuted {
		if o.Time == 0 {
			list = append(list, o.ID)
		}
	}
	p.hang(plain, p.paint(bold, "Ruled out")+" (share of the time; --all): ", strings.Join(list, ", "), 5)
}

// undecided gives a line to each thing that was missing; what takes another recording comes
// last, with --all.
func undecided(p *page, r *Report) {
	var whys, ids []string
	for _, o := range r.Undecided {
		if !o.another || p.all {
			whys, ids = append(whys, o.Missing), append(ids, o.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	if !p.all {
		for i := range ids {
			ids[i] += " (" + whys[i] + ")"
		}
		p.hang(yellow, p.paint(bold, "Undecided")+", for want of facts (--all says which): ", strings.Join(ids, "; "), 2)
		return
	}
	p.raw("")
	p.line(bold, "Undecided, for want of facts")
	reasons(p, yellow, whys, ids)
}

// reasons lists what each reason holds for: what has its own first.
func reasons(p *page, s style, whys, ids []string) {
	of := map[string][]string{}
	for i, why := range whys {
		of[why] = append(of[why], ids[i])
	}
	for i, why := range whys {
		if len(of[why]) == 1 {
			p.wrap(s, "  "+pad(ids[i], 19)+" ", why, 3)
		}
	}
	for i, why := range whys {
		if len(of[why]) > 1 && of[why][0] == ids[i] {
			p.wrap(s, "  ", why+": "+strings.Join(of[why], ", "), 3)
		}
	}
}

func footer(p *page, r *Report) {
	rec := &r.Recording
	calls := "no outgoing calls"
	if r.Seen.Calls > 0 {
		calls = percent(r.Requests.AssociatedShare) + " of " + plural(r.Seen.Calls, "call") + " associated"
		if r.Requests.InferredShare > 0 {
			calls += " (" + percent(r.Requests.InferredShare) + " by order or habit, not by a fact)"
		}
	}
	stacks := ""
	if w := rec.WaitStacks; w != nil {
		stacks = fmt.Sprintf("; of the time in waits of 1 ms and more %s has its own stack, %s that of others at its place", percent(w.Own), percent(w.Borrowed))
	}
	p.wrap(dim, "", fmt.Sprintf("Recorded %s, %s lost; dwell used %s of a core; %s; %s cut, %d excluded; %s of the time unaccounted%s.",
		plural(rec.Events, "event"), thousands(rec.Lost), percent(rec.OverheadCPUShare), calls,
		plural(r.Requests.Cut, "request"), r.Requests.Excluded, percent(r.Requests.UnaccountedShare), stacks), 3)
	shown, limit := shownMissing, 1
	if p.all {
		shown, limit = len(r.Seen.Missing), 3
	}
	for i, m := range r.Seen.Missing {
		if left := len(r.Seen.Missing) - i; i >= shown && left > 1 {
			p.line(dim, "Not seen: %s more", thousands(int64(left)))
			break
		}
		p.wrap(dim, "Not seen: ", m, limit)
	}
}
