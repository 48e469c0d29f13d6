package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// leads lists what may be worth fixing but is not proven, with what would decide it. Of each hypothesis it describes
// the most valuable lead and names the others' endpoints; with --all it describes all leads.
func leads(p *page, r *Report) {
	if len(r.Leads) == 0 {
		return
	}
	if len(r.Findings) == 0 {
		p.raw("")
	}
	var more []*Finding
	told := map[string]bool{}
	for _, i := range leadsToTell(r) {
		f := &r.Leads[i]
		switch {
		case told[f.ID] && !p.all:
		case f.ID == itself && !p.all && len(told) > 0:
			continue
		case len(told) >= max(p.leads, 1-len(r.Findings)) && !p.all:
			more = append(more, f)
		default:
			p.wrap(yellow, "lead  ", f.ID+ofOne(r, f)+": "+f.Title+".", whole)
			p.wrap(plain, "      ", sentence(f.Why)+atTimes(r, f)+". "+p.atBest(r, f)+elsewhere(p, r, i)+". To decide: "+p.decide(f)+".", whole)
		}
		told[f.ID] = true
	}
	if more != nil {
		moreLeads(p, r, more, len(told) > len(more))
	}
}

// moreLeads lists leads that are not described at length, by their maximum saving. If there is room, each has a line
// that says what it is.
func moreLeads(p *page, r *Report, more []*Finding, further bool) {
	head, after, sum := "Lead", "", ""
	if len(more) > 1 {
		head, sum = "Leads", "; they overlap"
	}
	switch {
	case further && len(more) == 1:
		head = "One more lead"
	case further:
		head = "More leads"
	}
	if len(r.Findings) > 0 {
		after = ", after the findings"
	}
	slices.SortStableFunc(more, func(a, b *Finding) int { return cmp.Compare(b.Impact.MeanSaving, a.Impact.MeanSaving) })
	of := "mean / slow requests"
	if p.tight == loose {
		of, after = "", " (could save at most"+after+": "+of+sum+")"
	} else {
		of, after = " ("+of+", at most)", ""
	}
	head = p.paint(yellow, head) + ", not proven" + after
	if p.spread && p.tight == loose {
		p.hang(plain, head, "", whole)
		for _, f := range more {
			name := f.ID + ofOne(r, f) + seldom(f)
			room := p.width - 25 - utf8.RuneCountInString(name)
			if what := clause(f.Title, room, r.mechanism(f.ID)); what != "" {
				name += ": " + what
				if at := ", in " + f.Place; what == r.mechanism(f.ID) && strings.HasSuffix(at, ")") && utf8.RuneCountInString(what+at) <= room {
					name += at
				}
			}
			p.line(plain, "  %s %s", pad(most(f), 20), name)
		}
		return
	}
	var list []string
	for _, f := range more {
		list = append(list, f.ID+" "+most(f)+ofOne(r, f)+seldom(f))
	}
	p.hang(plain, head+": ", strings.Join(list, ", ")+of, whole)
}

// seldom says when something happened that occurred only a few times.
func seldom(f *Finding) string {
	if len(f.When) == 0 {
		return ""
	}
	return " (" + f.Why + ")"
}

// clause returns as many complete parts of a title as there is room for, or other if that is longer. It returns "" if
// neither fits.
func clause(title string, room int, other string) string {
	best := ""
	for i := range title {
		for _, end := range []string{", ", "; ", " ("} {
			if strings.HasPrefix(title[i:], end) && utf8.RuneCountInString(title[:i]) <= room && strings.Count(title[:i], "(") == strings.Count(title[:i], ")") {
				best = title[:i]
			}
		}
	}
	if utf8.RuneCountInString(title) <= room {
		best = title
	}
	if len(best) < len(other) && utf8.RuneCountInString(other) <= room {
		return other
	}
	return best
}

// itself is the hypothesis that dwell itself slows requests down. Its cost is printed next to the cost of recording.
const itself = "dwell-itself"

// ownCost is the most that dwell may have cost a request, if that was seen and is not a finding.
func (r *Report) ownCost() string {
	for _, list := range [][]Finding{r.Leads, r.Minor} {
		for i := range list {
			if im := &list[i].Impact; list[i].ID == itself && im.MeanSaving > 0 {
				return " and added up to " + human(im.MeanSaving) + " to a request (included here)"
			}
		}
	}
	for _, f := range r.Refuted {
		if f.ID == itself && f.Time > 0 {
			return " and at most " + percent(f.Time) + " of a request's time (included here)"
		}
	}
	return ""
}

// leadsToTell returns the leads by index, beginning with those that the first lines name.
func leadsToTell(r *Report) []int {
	order := namedLeads(r)
	for i := range r.Leads {
		if !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	return order
}

// namedLeads returns the leads that the first lines name, by index, in the order in which they name them, or with the
// recommended one first.
func namedLeads(r *Report) (list []int) {
	add := func(i int) {
		if i >= 0 && !slices.ContainsFunc(list, func(k int) bool { return r.Leads[k].ID == r.Leads[i].ID }) {
			list = append(list, i)
		}
	}
	d := besides(r)
	if d != nil && len(r.Findings) == 0 && r.second(d) {
		add(0)
	}
	if d != nil && r.toldAs(d.ID) == "a lead" {
		add(firstLead(r))
	}
	if moreThanFound(r) != nil {
		add(0)
	}
	return list
}

// elsewhere says at which other endpoints the same hypothesis is a lead, if those are not described.
func elsewhere(p *page, r *Report, of int) string {
	var rest []*Finding
	for i := range r.Leads {
		if i != of && r.Leads[i].ID == r.Leads[of].ID {
			rest = append(rest, &r.Leads[i])
		}
	}
	if len(rest) == 0 || p.all {
		return ""
	}
	where := ofOne(r, rest[0])
	if where == "" || rest[0].Endpoint == r.Leads[of].Endpoint {
		where = " at " + rest[0].Place
	}
	text := " (also" + where + ": " + human(rest[0].Impact.MeanSaving) + " of the mean, " + human(rest[0].Impact.told.slow) + " of slow requests"
	if n := len(rest) - 1; n > 0 {
		text += "; and in " + plural(n, "more place")
	}
	return text + ")"
}

// most is the maximum saving of a lead, of the mean and of the mean of the slow requests: leads are sorted by these.
func most(f *Finding) string {
	return human(f.Impact.MeanSaving) + " / " + human(f.Impact.told.slow)
}

// toldAs returns how a dominant mechanism is listed.
func (r *Report) toldAs(id string) string {
	if slices.ContainsFunc(r.Leads, func(f Finding) bool { return f.ID == id }) {
		return "a lead"
	}
	return "minor"
}

// ofOne names a lead's endpoint if there are several endpoints.
func ofOne(r *Report, f *Finding) string {
	if f.Endpoint == "" || len(r.Endpoints) < 2 {
		return ""
	}
	return " at " + f.Endpoint
}

// firstLead is the index of the lead that the answer names, with the same endpoint if there is one, or else 0.
func firstLead(r *Report) int {
	named := besides(r)
	if named == nil {
		return 0
	}
	at := slices.IndexFunc(r.Leads, func(f Finding) bool { return f.ID == named.ID && f.Endpoint == named.Endpoint })
	if at < 0 {
		at = slices.IndexFunc(r.Leads, func(f Finding) bool { return f.ID == named.ID })
	}
	return max(0, at)
}

// sentence capitalises the beginning of a text.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// atTimes says at which times of day it happened, if these are known and reported.
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

// becomes says what is left of a latency. p99 is the latency of one request. If p99 does not fall, or falls by less
// than half of what the slow requests gain on average, it says that too.
func (f *Finding) becomes(name string, was, saved Duration) string {
	slow := ""
	if s := f.Impact.told.slow; name == "p99" && 10*s >= was && s > 0 && 2*saved < s {
		slow = fmt.Sprintf("that is a single request; the slowest %s get %s faster on average", thousands(int64(f.Impact.told.slowest)), human(s))
	}
	switch stays := human(was-saved) == human(was); {
	case stays && slow != "":
		return name + " stays as it is (" + human(was) + ", " + slow + ")"
	case stays:
		return name + " stays as it is (" + human(was) + ")"
	case slow != "":
		return name + " " + human(was) + " -> " + human(was-saved) + " (" + slow + ")"
	}
	return name + " " + human(was) + " -> " + human(was-saved)
}

// atBest says the most that a lead could save; after findings at the same endpoint, how much further latencies would
// fall. If room is short, it says only what would be saved of the mean and of the slow requests.
func (p *page) atBest(r *Report, f *Finding) string {
	words := "If all of it were gone"
	if after(f, r.Findings) {
		words += " after the findings"
	}
	if p.tight > loose {
		return words + ": " + human(f.Impact.MeanSaving) + " less on average, slow requests " + human(f.Impact.told.slow) + " less"
	}
	return words + ": " + changes(f, r.Findings, false) + f.made()
}

// decide says what would decide a lead; only what comes first of that if room is very short.
func (p *page) decide(f *Finding) string {
	if p.tight < terse {
		return f.Decide
	}
	first, rest, _ := strings.Cut(f.Decide, "; ")
	if rest == "" || strings.Count(first, "(") != strings.Count(first, ")") {
		return f.Decide
	}
	return first + " (--all says more)"
}

// minor lists what was seen but is worth little here, or may be chance: what belongs to which finding, and the rest.
// If the answer recommends looking at one of them first, it is printed completely.
func minor(p *page, r *Report) {
	if len(r.Minor) == 0 {
		return
	}
	if p.all {
		var little, unsure []reason
		for _, f := range r.Minor {
			if f.Impact.Unsure {
				unsure = append(unsure, reason{f.ID, f.Why})
			} else {
				little = append(little, reason{f.ID, f.Why})
			}
		}
		if unsure != nil {
			reasons(p, plain, "Seen, but may be chance (record for "+r.longer()+")", unsure)
		}
		if little != nil {
			reasons(p, plain, "Minor: seen, and worth little here", little)
		}
		return
	}
	var little []string
	var unsure []*Finding
	goes := map[string][]string{}
	first := besides(r)
	for i := range r.Minor {
		f := &r.Minor[i]
		switch {
		case f.ID == itself && (first == nil || f.ID != first.ID):
		case first != nil && f.ExplainedBy == "" && slices.Contains(first.With, f.ID):
			goes[first.ID] = append(goes[first.ID], f.ID)
		case first != nil && f.ID == first.ID && f.ExplainedBy == "":
			p.minorFirst(f)
		case f.ExplainedBy != "":
			goes[f.ExplainedBy] = append(goes[f.ExplainedBy], f.ID)
		case f.Impact.Unsure:
			unsure = append(unsure, f)
		default:
			little = append(little, p.saves(f))
		}
	}
	var text []string
	if little != nil {
		text = append(text, strings.Join(little, ", "))
		if !p.names { // else each says in brackets what it is worth
			text[0] += " (worth little here)"
		}
	}
	for _, id := range slices.Sorted(maps.Keys(goes)) {
		text = append(text, strings.Join(goes[id], ", ")+" (mostly part of "+id+")")
	}
	if text != nil {
		p.hang(plain, p.paint(bold, "Minor: "), strings.Join(text, "; "), whole)
	}
	mayBeChance(p, r, unsure, len(r.Findings) == 0)
}

// minorFirst prints a minor result that the answer recommends to look at.
func (p *page) minorFirst(f *Finding) {
	p.wrap(yellow, "minor ", f.ID+": "+f.Title+".", whole)
	p.wrap(plain, "      ", sentence(f.Why)+". If it is that: "+f.Fix+".", whole)
}

// mayBeChance lists savings that would be worth having but may be chance, where and with their bounds. If there is only
// one, and nothing was found, it says what takes the time.
func mayBeChance(p *page, r *Report, unsure []*Finding, alone bool) {
	var list []string
	for _, f := range unsure {
		list = append(list, f.ID+" ("+f.Place+": "+f.bounds()+")")
	}
	if alone && len(unsure) == 1 {
		list[0] = unsure[0].ID + ": " + unsure[0].Why
	}
	if list != nil {
		p.hang(plain, p.paint(bold, "May be chance, record for "+r.longer()+": "), strings.Join(list, ", "), whole)
	}
}

// saves names a minor finding, with the bounds of its saving.
func (p *page) saves(f *Finding) string {
	if !p.names {
		return f.ID
	}
	return f.ID + " (" + f.bounds() + ")"
}

// bounds gives the bounds of a minor finding's saving, for the quantity that it reduces more.
func (f *Finding) bounds() string {
	switch im := &f.Impact; {
	case max(im.P99High, im.MeanHigh) <= 0:
		return "next to nothing"
	case im.MeanSaving < im.P99Saving:
		return "p99" + now(f.p99) + " would fall by " + between(im.P99Low, im.P99High)
	}
	return "the mean" + now(f.mean) + " would fall by " + between(f.Impact.MeanLow, f.Impact.MeanHigh)
}

// now says what a latency is, if that is known.
func now(d Duration) string {
	if d == 0 {
		return ""
	}
	return ", now " + human(d) + ","
}
