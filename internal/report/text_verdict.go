package report

import (
	"strings"
)

// wrong says whether something is wrong: a finding, a dominant mechanism that is no finding, or nothing.
func wrong(r *Report) (string, style) {
	if len(r.Findings) > 0 {
		return found(r), red
	}
	if r.Requests.singles != nil {
		return tooFew(r), yellow
	}
	if d := besides(r); d != nil {
		if r.second(d) {
			l, also := &r.Leads[0], " Look at this next: "
			if d.others {
				also = " Look at this next, as other programs use the processors: "
			}
			return first + r.mechanism(l.ID) + " (" + l.ID + "), up to " + human(l.Impact.MeanSaving) + " of the mean." + also + r.dominates(d) + ".", yellow
		}
		return first + r.dominates(d) + r.undecided(d) + ".", yellow
	}
	missing := 0
	for _, u := range r.Undecided {
		if !u.another {
			missing++
		}
	}
	text, s := r.nothing(), green
	if missing > 0 {
		text, s = text+"; for "+suspects(missing)+" facts are missing", yellow
	}
	if text += r.chance() + "."; len(r.Leads) > 0 {
		text += " The leads say what could still be quicker."
	}
	return text, s
}

// first begins the answer if there is no finding, but something to look at.
const first = "Nothing is proven; look at this first: "

// found names the first finding, and what must be looked at besides the findings.
func found(r *Report) string {
	f := &r.Findings[0]
	text := "Something is wrong: " + r.mechanism(f.ID) + " (" + f.ID + ", finding 1). Fixing it would save " + percent(f.Impact.Share) + " of the time of " + orAll(f.Endpoint) + "."
	switch n := len(r.Findings) - 1; {
	case n == 1:
		text += " There is one more finding."
	case n > 1:
		text += " There are " + plural(n, "more finding") + "."
	}
	d := besides(r)
	if l := moreThanFound(r); l != nil && (d == nil || l.ID != d.ID) {
		text += " A lead below may save more, but is not proven: " + r.mechanism(l.ID) + " (" + l.ID + "), up to " + human(l.Impact.MeanSaving) + " of the mean."
	}
	if d != nil {
		text += " Look at this too, not proven (" + r.toldAs(d.ID) + " below): " + r.dominates(d) + "."
	}
	return text
}

// nothing says what is true if there is no finding and nothing has to be looked at: what takes most of the time, if
// that is one mechanism.
func (r *Report) nothing() string {
	const stands = "Nothing stands out: no "
	switch {
	case len(r.Dominant) == 0 && r.Requests.Count > 0:
		return stands + "suspect explains half of a request's time, or half of what makes slow requests slower"
	case len(r.Dominant) == 0:
		return "Nothing stands out"
	}
	takes := r.dominates(&r.Dominant[0])
	if e := focus(r); e.Slow >= 2*e.Ordinary {
		return stands + "suspect explains half of what makes slow requests slower. As a rule " + takes
	}
	return "No problem found: " + takes + ", in slow and ordinary requests alike"
}

// chance names minor results that may be half of p99 but may also be chance, the first with its bounds.
func (r *Report) chance() (text string) {
	for i := range r.Minor {
		switch f := &r.Minor[i]; {
		case !f.Impact.Unsure || f.p99 == 0 || 2*f.Impact.P99High < f.p99:
		case text == "":
			text = "; " + f.ID + " (" + f.bounds() + ")"
		default:
			text += " and " + f.ID
		}
	}
	if text != "" {
		text += " may be chance"
	}
	return text
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
		return text + ", " + percent(min(unit, d.SlowShare)) + " of what makes slow requests of " + orAll(d.Endpoint) + " slower than ordinary ones"
	}
	if len(d.With) > 0 {
		text += ", together with " + strings.Join(d.With, " and ")
	}
	return text + ", " + percent(d.MeanShare) + " of the time of " + orAll(d.Endpoint)
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
		text += ", but look at this first: " + r.mechanism(r.Leads[0].ID) + " (" + r.Leads[0].ID + ")"
	}
	return text + "."
}
