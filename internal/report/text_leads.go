package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// leads lists what is worth having and not proven, with what would decide it: of each hypothesis
// what is worth most, and where else it is; all of them if all is asked for.
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
			p.wrap(plain, "      ", sentence(f.Why)+atTimes(r, f)+"; "+atBest(r, f)+elsewhere(p, r, i)+". To decide: "+f.Decide+".", whole)
		}
		told[f.ID] = true
	}
	if more != nil {
		moreLeads(p, r, more, len(told) > len(more))
	}
}

// moreLeads lists leads that are not told at length, by what they save at best: in a line each, with what they are,
// where there is room.
func moreLeads(p *page, r *Report, more []*Finding, further bool) {
	head, of, sum := "lead", "", ""
	if len(more) > 1 {
		head, sum = "leads", "; they overlap"
	}
	switch {
	case further && len(more) == 1:
		head = "one more " + head
	case further:
		head = "more " + head
	}
	if len(r.Findings) > 0 {
		of = " after the findings"
	}
	slices.SortStableFunc(more, func(a, b *Finding) int { return cmp.Compare(b.Impact.MeanSaving, a.Impact.MeanSaving) })
	head = p.paint(yellow, head) + ", not proven (saved at best" + of + ", mean / slowest" + sum + ")"
	if p.spread {
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
	p.hang(plain, head+": ", strings.Join(list, ", "), whole)
}

// seldom says when something happened that did so a few times only.
func seldom(f *Finding) string {
	if len(f.When) == 0 {
		return ""
	}
	return " (" + f.Why + ")"
}

// clause is as much of a title, up to the end of a part of it, as there is room for; or else other words, if those are more. "" if
// there is room for neither.
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

// itself is the hypothesis that it is dwell that slows requests down: what it costs stands with what recording took.
const itself = "dwell-itself"

// ownCost is the most that dwell may have cost a request, where that was seen and is no finding.
func (r *Report) ownCost() string {
	for _, list := range [][]Finding{r.Leads, r.Minor} {
		for i := range list {
			if im := &list[i].Impact; list[i].ID == itself && im.MeanSaving > 0 {
				return " and up to " + human(im.MeanSaving) + " of a request (included here)"
			}
		}
	}
	return ""
}

// leadsToTell are the leads by index: the one that the first lines say to look at comes first.
func leadsToTell(r *Report) (order []int) {
	if d := besides(r); d != nil && !r.second(d) {
		order = append(order, firstLead(r))
	}
	for i := range r.Leads {
		if !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	return order
}

// namesLead reports whether the first lines name a lead beside findings: what is known of it matters more than the
// calls.
func namesLead(r *Report) bool {
	d := besides(r)
	return moreThanFound(r) != nil || d != nil && len(r.Findings) > 0 && r.toldAs(d.ID) == "a lead"
}

// elsewhere says where else there is a lead of the same hypothesis, if those are not told.
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
	text := " (the same" + where + ": of the mean / of the slowest " + most(rest[0])
	if n := len(rest) - 1; n > 0 {
		text += ", and in " + plural(n, "more place")
	}
	return text + ")"
}

// most says what a lead could save at most of the mean, and of the mean of the slow requests: by these leads are told.
func most(f *Finding) string {
	return human(f.Impact.MeanSaving) + " / " + human(f.Impact.told.slow)
}

// toldAs says as what something that dominates is told.
func (r *Report) toldAs(id string) string {
	if slices.ContainsFunc(r.Leads, func(f Finding) bool { return f.ID == id }) {
		return "a lead"
	}
	return "minor"
}

// ofOne names the endpoint that a lead is of, where there are others.
func ofOne(r *Report, f *Finding) string {
	if f.Endpoint == "" || len(r.Endpoints) < 2 {
		return ""
	}
	return " at " + f.Endpoint
}

// firstLead is the index of the lead that the answer names, of its endpoint if there is one, or else 0.
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

// becomes says what is left of a latency. p99 is that of one request: where it stays, or falls by less than half of what the
// slow ones lose on average, that is said, too.
func (f *Finding) becomes(name string, was, saved Duration) string {
	slow := ""
	if s := f.Impact.told.slow; name == "p99" && 10*s >= was && s > 0 && 2*saved < s {
		slow = fmt.Sprintf("one request's; the slowest %s take %s less on average", thousands(int64(f.Impact.told.slowest)), human(s))
	}
	switch stays := human(was-saved) == human(was); {
	case stays && slow != "":
		return name + " stays as it is (" + human(was) + ": " + slow + ")"
	case stays:
		return name + " stays as it is (" + human(was) + ")"
	case slow != "":
		return name + " " + human(was) + " -> " + human(was-saved) + " (" + slow + ")"
	}
	return name + " " + human(was) + " -> " + human(was-saved)
}

// atBest says the most that a lead could save: by how much more latencies fall, after findings at the same endpoint.
func atBest(r *Report, f *Finding) string {
	if after(f, r.Findings) {
		return "after the findings, if all of it went, " + changes(f, r.Findings, false)
	}
	return "if all of it went, " + changes(f, nil, false)
}

// upTo says between what bounds a saving lies.
func upTo(low, high Duration) string {
	if human(low) == human(high) {
		return human(high)
	}
	return human(max(0, low)) + " to " + human(high)
}

// minor lists what was seen and is worth little here, or may be: what goes with which finding, and what
// else there is. What a reader is told to look at first is said whole.
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
			reasons(p, plain, "Seen, and not told whether it is worth having (record for longer)", unsure)
		}
		if little != nil {
			reasons(p, plain, "Seen, and worth little here", little)
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
			p.wrap(yellow, "minor ", f.ID+": "+f.Title+".", whole)
			p.wrap(plain, "      ", sentence(f.Why)+". If it is that: "+f.Fix+".", whole)
		case f.ExplainedBy != "":
			goes[f.ExplainedBy] = append(goes[f.ExplainedBy], f.ID)
		case f.Impact.Unsure:
			unsure = append(unsure, f)
		default:
			little = append(little, p.saves(f))
		}
	}
	var text []string
	head := "Minor: "
	if little != nil {
		head, text = "Minor (worth little here): ", append(text, strings.Join(little, ", "))
	}
	for _, id := range slices.Sorted(maps.Keys(goes)) {
		text = append(text, strings.Join(goes[id], ", ")+": mostly part of "+id)
	}
	if text != nil {
		p.hang(plain, p.paint(bold, head), strings.Join(text, "; "), whole)
	}
	mayBeChance(p, unsure, len(r.Findings) == 0)
}

// mayBeChance tells what would be worth having, and is not told from chance: between what bounds it is, and what it takes where it
// is the only one, and nothing was found.
func mayBeChance(p *page, unsure []*Finding, alone bool) {
	var list []string
	for _, f := range unsure {
		list = append(list, f.ID+" ("+f.bounds()+")")
	}
	if alone && len(unsure) == 1 {
		list[0] = unsure[0].ID + ": " + unsure[0].Why
	}
	if list != nil {
		p.hang(plain, p.paint(bold, "May be chance (record for longer): "), strings.Join(list, ", "), whole)
	}
}

// saves names a minor finding, and says between what bounds its saving lies.
func (p *page) saves(f *Finding) string {
	if !p.names {
		return f.ID
	}
	return f.ID + " (" + f.bounds() + ")"
}

// bounds are those of what goes without a minor finding, of the quantity that loses more.
func (f *Finding) bounds() string {
	if im := &f.Impact; im.MeanSaving < im.P99Saving {
		return upTo(im.P99Low, im.P99High) + " of p99"
	}
	return upTo(f.Impact.MeanLow, f.Impact.MeanHigh) + " of the mean"
}
