package report

import (
	"fmt"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

// answer says in a sentence or two where the time of an ordinary and of a slow request goes, and whether something is
// wrong.
func answer(p *page, r *Report) {
	p.named = map[string]bool{}
	where, text, s := sentences(r, p.named)
	p.raw("")
	p.wrap(plain, "", where, whole)
	p.wrap(s, "", text, whole)
}

// sentences returns the answer: where the time is, and whether something is wrong. Slow requests are those within 5
// percentile points of p99. The causes that it names are added to named.
func sentences(r *Report, named map[string]bool) (where, text string, s style) {
	e := focus(r)
	where = fmt.Sprintf("An ordinary %s takes %s: %s. The %s %s: %s.",
		requestOf(e), human(e.Ordinary), mostOf(e, named, func(c CauseRow) Decimal { return c.P50Share }),
		slowest(e), slowTake(e), mostOf(e, named, func(c CauseRow) Decimal { return c.P99Share }))
	text, s = wrong(r)
	if e.ids.few && r.Requests.singles == nil {
		text += " " + plural(e.Count, "request") + " of " + requestOf(e) + " prove no cause."
	}
	if open := strings.TrimSpace(unknown(e) + " " + unexplained(e, named)); open != "" {
		text += " " + open
		if s == green {
			s = yellow
		}
	}
	return where, text, s
}

// slowest says how many slow requests there are.
func slowest(e *Endpoint) string {
	if n := len(e.ids.slow); n != 1 {
		return "slowest " + thousands(int64(n))
	}
	return "slowest"
}

// slowTake says how long they take, as the rest of a sentence about the slowest.
func slowTake(e *Endpoint) string {
	if len(e.ids.slow) == 1 {
		return "takes " + human(e.Slow)
	}
	return "take " + human(e.Slow) + " on average"
}

func requestOf(e *Endpoint) string {
	if e.Name == "" {
		return "request"
	}
	return clip(e.Name, 40)
}

// toldCauses bounds how many causes the sentence names; each has at least a tenth of the time.
const toldCauses = 3

// mostOf names the causes that take most of a request.
func mostOf(e *Endpoint, named map[string]bool, of func(CauseRow) Decimal) string {
	var sums [timeline.NumCauses]Decimal
	for _, c := range e.Causes {
		for k := range timeline.NumCauses {
			if c.Cause == k.String() {
				sums[k] += of(c)
			}
		}
	}
	var told []string
	for len(told) < toldCauses {
		most := timeline.Cause(0)
		for k := range timeline.NumCauses {
			if sums[k] > sums[most] {
				most = k
			}
		}
		if sums[most] < unit/10 {
			break
		}
		told = append(told, percent(sums[most])+" "+inWords(most, named))
		sums[most] = 0
	}
	if len(told) == 0 {
		return "no cause has a tenth of it"
	}
	return strings.Join(told, ", ")
}

// wrong says whether something is wrong: a finding, a dominant mechanism that is no finding, or nothing.
func wrong(r *Report) (string, style) {
	if len(r.Findings) > 0 {
		f := &r.Findings[0]
		text := fmt.Sprintf("Something is wrong: %s (%s, finding 1): %s of the time of %s.", r.mechanism(f.ID), f.ID, percent(f.Impact.Share), orAll(f.Endpoint))
		if n := len(r.Findings) - 1; n > 0 {
			text = strings.TrimSuffix(text, ".") + " and " + plural(n, "more finding") + "."
		}
		d := besides(r)
		if l := moreThanFound(r); l != nil && (d == nil || l.ID != d.ID) {
			text += " More time is elsewhere (a lead below): " + r.mechanism(l.ID) + " (" + l.ID + "), " + human(l.Impact.MeanSaving) + " of the mean at best."
		}
		if d != nil {
			text += " Not proven, but look at it, too (" + r.toldAs(d.ID) + " below): " + r.dominates(d) + "."
		}
		return text, red
	}
	if r.Requests.singles != nil {
		return tooFew(r), yellow
	}
	if d := besides(r); d != nil {
		if r.second(d) {
			text := "No finding, but look at " + r.Leads[0].ID + " first: that is most of what the service does itself. Besides, "
			if d.others {
				text += "others have its processors: "
			}
			return text + r.dominates(d) + ".", yellow
		}
		return "No finding, but look at this first: " + r.dominates(d) + r.undecided(d) + ".", yellow
	}
	missing := 0
	for _, u := range r.Undecided {
		if !u.another {
			missing++
		}
	}
	text, s := "Nothing stands out", green
	if len(r.Dominant) > 0 {
		alike := ", slow and ordinary ones alike"
		if e := focus(r); e.Slow >= 2*e.Ordinary {
			text, alike = text+": no cause is half of what slow requests take longer, and", " as a rule"
		} else {
			text += ":"
		}
		text += " " + r.dominates(&r.Dominant[0]) + alike
	} else if r.Requests.Count > 0 {
		text += ": no mechanism explains half of a request, or of the extra time of slow ones"
	}
	if missing > 0 {
		text, s = text+"; on "+suspects(missing)+" facts are missing", yellow
	}
	if text += r.chance() + "."; len(r.Leads) > 0 {
		text += " The leads say what could be quicker all the same."
	}
	return text, s
}

// chance names a minor result that may be half of p99 but may also be chance.
func (r *Report) chance() string {
	for i := range r.Minor {
		if f := &r.Minor[i]; f.Impact.Unsure && f.p99 > 0 && 2*f.Impact.P99High >= f.p99 {
			return "; " + f.ID + " (" + f.bounds() + ") may be chance"
		}
	}
	return ""
}

// besides returns what dominates besides the findings and is not a consequence of one.
func besides(r *Report) *Dominant {
	said := map[string]bool{}
	for _, f := range r.Findings {
		said[f.ID] = true
	}
	for _, f := range r.Minor {
		said[f.ID] = said[f.ID] || f.ExplainedBy != ""
	}
	for i := range r.Dominant {
		if d := &r.Dominant[i]; !d.Steady && !said[d.ID] {
			return d
		}
	}
	return nil
}

// undecided says, for a dominant mechanism that is not described below, where it was seen and what prevents it from
// being a lead.
func (r *Report) undecided(d *Dominant) string {
	for i := range r.Undecided {
		if u := &r.Undecided[i]; u.ID == d.ID {
			return ", at " + d.Place + " (undecided: " + u.Missing + ")"
		}
	}
	return ""
}

// second reports whether a dominant mechanism comes after a lead of another kind, as waiting for a processor may.
func (r *Report) second(d *Dominant) bool {
	return (d.others || d.chance) && len(r.Leads) > 0 && r.Leads[0].ID != d.ID
}

// moreThanFound returns the first lead if it may save twice as much of all requests' time as all findings do, and a
// quarter of what they leave of the mean at its endpoint; otherwise nil.
func moreThanFound(r *Report) *Finding {
	if len(r.Findings) == 0 || len(r.Leads) == 0 {
		return nil
	}
	var here, found Duration // here: of the endpoint's mean; found: of all requests' time
	l := &r.Leads[0]
	for i := range r.Findings {
		f := &r.Findings[i]
		found += r.ofAll(f)
		if f.Endpoint == l.Endpoint {
			here += f.Impact.MeanSaving
		}
	}
	if r.ofAll(l) < 2*found || 4*l.Impact.MeanSaving < l.mean-here {
		return nil
	}
	return l
}

// ofAll returns what is saved of all requests of the endpoint together.
func (r *Report) ofAll(f *Finding) Duration {
	for i := range r.Endpoints {
		if e := &r.Endpoints[i]; e.Name == f.Endpoint {
			return f.Impact.MeanSaving * Duration(e.Count)
		}
	}
	return f.Impact.MeanSaving * Duration(r.Requests.Count)
}

func suspects(n int) string {
	if n == 1 {
		return "1 suspect"
	}
	return thousands(int64(n)) + " suspects"
}

// mechanism returns a hypothesis's title, in the form for the middle of a sentence.
func (r *Report) mechanism(id string) string {
	title := r.Seen.titles[id]
	if len(title) > 1 && title[1] >= 'a' && title[1] <= 'z' || strings.HasPrefix(title, "A ") {
		title = strings.ToLower(title[:1]) + title[1:]
	}
	return title
}

// dominates says how much a mechanism takes, and of which requests.
func (r *Report) dominates(d *Dominant) string {
	text := r.mechanism(d.ID) + " (" + d.ID + ")"
	if d.MeanShare < unit/2 {
		return text + ": " + percent(min(unit, d.SlowShare)) + " of the extra time of slow requests of " + orAll(d.Endpoint)
	}
	if len(d.With) > 0 {
		text += ", and " + strings.Join(d.With, " and ") + " because of it"
	}
	return text + ": " + percent(d.MeanShare) + " of the time of " + orAll(d.Endpoint)
}

// mostlyOpen is the share of time without a known cause from which on the first lines mention it.
const mostlyOpen Decimal = unit / 10

// unknown says how much of a request has no known cause, if that is much.
func unknown(e *Endpoint) string {
	open := e.Unaccounted
	for _, c := range e.Causes {
		if c.Cause == timeline.CauseUnknown.String() {
			open.P50Share += c.P50Share
			open.P99Share += c.P99Share
		}
	}
	if max(open.P50Share, open.P99Share) < mostlyOpen {
		return ""
	}
	return "For " + ofRequest(open) + " no cause is known; a fault may hide there."
}

// unexplained says what takes half of a request and is no mechanism's.
func unexplained(e *Endpoint, named map[string]bool) string {
	var list []string
	for _, x := range e.Open {
		text := "For " + ofRequest(x.Pair) + " it is " + inWords(x.is, named)
		list = append(list, text+inPlace(x.Place)+", which no mechanism here explains: dwell show REC --slowest 3 shows what goes on meanwhile.")
	}
	return strings.Join(list, " ")
}

// ofRequest is the larger of two shares, with what it is of.
func ofRequest(share Pair) string {
	if share.P50Share >= share.P99Share {
		return percent(share.P50Share) + " of an ordinary request's time"
	}
	return percent(share.P99Share) + " of a slow request's time"
}

// eachRequest lists every request, if there are only few.
func eachRequest(p *page, r *Report) {
	if r.Requests.singles == nil {
		return
	}
	p.raw("")
	p.line(bold, "Each request, the slowest first (dwell show REC --slowest %d draws them)", len(r.Requests.singles))
	for i := range r.Requests.singles[:min(p.rows, len(r.Requests.singles))] {
		s := &r.Requests.singles[i]
		p.wrap(plain, "  "+pad(human(s.Ordinary), -7)+"  ", fmt.Sprintf("%s at +%s: %s", requestOf(&s.Endpoint), human(s.at), mostOf(&s.Endpoint, p.named, func(c CauseRow) Decimal { return c.P50Share })), 2)
	}
	if n := len(r.Requests.singles) - p.rows; n > 0 {
		p.line(dim, "  and %s (--all lists more)", plural(n, "quicker one"))
	}
}

// tooFew says what to look at if there are too few requests to prove anything.
func tooFew(r *Report) string {
	text := plural(r.Requests.Count, "request") + " prove no cause"
	d := besides(r)
	if d == nil && len(r.Dominant) > 0 {
		d = &r.Dominant[0]
	}
	switch {
	case d != nil:
		text += ", but look at this first: " + r.dominates(d)
	case len(r.Leads) > 0:
		text += ", but look at " + r.Leads[0].ID + " first"
	}
	return text + "."
}
