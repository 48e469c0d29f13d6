package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// leads lists what is worth having and not proven, with what would decide it.
func leads(p *page, r *Report) {
	if len(r.Leads) == 0 {
		return
	}
	if len(r.Findings) == 0 {
		p.raw("")
	}
	var more []string
	for i, f := range inOrder(r) {
		if i >= max(p.leads, 1-len(r.Findings)) {
			more = append(more, f.ID+" "+percent(f.Impact.Share)+ofOne(r, f))
			continue
		}
		p.wrap(yellow, "lead  ", f.ID+": "+f.Title+".", whole)
		p.wrap(plain, "      ", sentence(f.Why)+atTimes(r, f)+"; without it at most "+mostly(f)+ofOne(r, f)+". To decide: "+f.Decide+".", whole)
	}
	if more != nil {
		p.hang(plain, p.paint(yellow, "leads")+" to look at, by their share of the time (--all tells more): ", strings.Join(more, ", "), whole)
	}
}

// ofOne names the endpoint that a lead is of, where there are others.
func ofOne(r *Report, f *Finding) string {
	if f.Endpoint == "" || len(r.Endpoints) < 2 {
		return ""
	}
	return " of " + f.Endpoint
}

// firstLead is the index of the lead that the answer names, or else 0.
func firstLead(r *Report) int {
	if named := besides(r); named != nil {
		return max(0, slices.IndexFunc(r.Leads, func(f Finding) bool { return f.ID == named.ID }))
	}
	return 0
}

// inOrder are the leads, first the one that the answer names.
func inOrder(r *Report) []*Finding {
	first := firstLead(r)
	list := []*Finding{&r.Leads[first]}
	for i := range r.Leads {
		if i != first {
			list = append(list, &r.Leads[i])
		}
	}
	return list
}

// sentence begins a text as a sentence does.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// atTimes is when it happened as time of day, where that is known and told.
func atTimes(r *Report, f *Finding) string {
	if len(f.When) == 0 || r.Recording.Wall == 0 {
		return ""
	}
	var times []string
	for _, t := range f.When {
		times = append(times, timeOfDay(r.Recording.Wall+int64(t)))
	}
	return " (" + strings.Join(times, ", ") + " UTC)"
}

// mostly says the most that a lead could save.
func mostly(f *Finding) string {
	return fmt.Sprintf("mean %s -> %s, p99 %s -> %s", human(f.mean), human(f.mean-f.Impact.MeanSaving), human(f.p99), human(f.p99-f.Impact.P99Saving))
}

// upTo says between what bounds a saving lies.
func upTo(low, high Duration) string {
	if human(low) == human(high) {
		return human(high)
	}
	return human(max(0, low)) + " to " + human(high)
}

// minor lists what was seen and is worth little here: what goes with which finding, and what
// else there is.
func minor(p *page, r *Report) {
	if len(r.Minor) == 0 {
		return
	}
	if p.all {
		var list []reason
		for _, f := range r.Minor {
			list = append(list, reason{f.ID, f.Why})
		}
		reasons(p, plain, "Seen, and worth little here", list)
		return
	}
	var list []string
	goes := map[string][]string{}
	for _, f := range r.Minor {
		switch {
		case f.ExplainedBy != "":
			goes[f.ExplainedBy] = append(goes[f.ExplainedBy], f.ID)
		case !p.names:
			list = append(list, f.ID)
		case f.Impact.MeanSaving < f.Impact.P99Saving:
			list = append(list, f.ID+" ("+upTo(f.Impact.P99Low, f.Impact.P99High)+" of p99)")
		default:
			list = append(list, f.ID+" ("+upTo(f.Impact.MeanLow, f.Impact.MeanHigh)+" of the mean)")
		}
	}
	var text []string
	if list != nil {
		text = append(text, strings.Join(list, ", "))
	}
	for _, id := range slices.Sorted(maps.Keys(goes)) {
		verb := " go with "
		if len(goes[id]) == 1 {
			verb = " goes with "
		}
		text = append(text, strings.Join(goes[id], ", ")+verb+id)
	}
	p.hang(plain, p.paint(bold, "Seen, and worth little: "), strings.Join(text, "; "), whole)
}
