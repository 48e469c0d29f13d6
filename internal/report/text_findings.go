package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

func showFindings(p *page, r *Report) {
	if len(r.Findings) == 0 {
		return
	}
	p.raw("")
	for i := range r.Findings {
		f, head := &r.Findings[i], fmt.Sprintf("%d ", i+1)
		saves, fix := saving(f, r.Findings[:i]), f.Fix
		if p.tight < tidied {
			saves += f.made()
		}
		if i >= p.findings {
			p.outline(r, f, head, saves)
			continue
		}
		p.wrap(red, head, f.ID+": "+f.Title+".", whole)
		p.wrap(plain, "  ", saves+".", whole)
		if p.tight < tidied {
			lines := 2 - int(p.tight)
			p.wrap(plain, "  because  ", phrases(f.Evidence, lines*(p.width-13)-10*lines), whole)
			fix += whatIfWords(f.WhatIf, f.p99-f.Impact.P99Saving)
		}
		p.wrap(green, "  fix      ", fix, whole)
	}
}

// outline writes a finding without its evidence, and without its fix if there is no room for that.
func (p *page) outline(r *Report, f *Finding, head, saves string) {
	if saves += "."; !p.fixes {
		saves += " (--all has its fix.)"
	}
	if p.places {
		p.wrap(plain, head, f.ID+" at "+f.Place+": "+r.mechanism(f.ID)+". "+saves, whole)
	} else {
		p.wrap(red, head, f.ID+": "+f.Title+".", whole)
		p.wrap(plain, "  ", saves, whole)
	}
	if p.fixes {
		p.wrap(green, "  fix      ", f.Fix, whole)
	}
}

// saving says what remains without a finding: see changes.
func saving(f *Finding, earlier []Finding) string {
	if after(f, earlier) {
		return "If fixed too: " + changes(f, earlier, f.Impact.AtLeast)
	}
	return "If fixed: " + changes(f, earlier, f.Impact.AtLeast)
}

// changes says what the mean and quantiles would become. After earlier findings at the same endpoint it says by how
// much they would fall further. If the saving is a lower bound, it says that too. The last sentence lacks its full
// stop.
func changes(f *Finding, earlier []Finding, atLeast bool) string {
	further := after(f, earlier)
	least := ""
	if atLeast { // the rest of the saving cannot be separated
		least = ", or better"
		if further {
			least = ", or more"
		}
	}
	share := "; that is " + percent(f.Impact.Share) + " of the time of " + orAll(f.Endpoint)
	if len(earlier) == 0 {
		share = "" // the answer states it
	}
	var text []string
	by := " falls by another "
	last := -1 // the last one that changes
	for i, x := range []struct {
		name       string
		was, saved Duration
	}{{"mean", f.mean, f.Impact.MeanSaving}, {"p50", f.p50, f.Impact.P50Saving}, {"p99", f.p99, f.Impact.P99Saving}} {
		words := f.becomes(x.name, x.was, x.saved)
		if human(x.was-x.saved) != human(x.was) {
			last = i
			if further {
				words, by = x.name+by+human(x.saved), " by "
			}
		}
		text = append(text, words)
	}
	if last >= 0 {
		text[last] += least
	}
	if !further {
		share += f.remains()
	}
	return strings.Join(text, ", ") + share
}

// after reports whether there are earlier findings of the same endpoint.
func after(f *Finding, earlier []Finding) bool {
	return slices.ContainsFunc(earlier, func(e Finding) bool { return e.Endpoint == f.Endpoint })
}

// made says which kinds of time a finding's saving of the mean consists of, if its title does not show it.
func (f *Finding) made() string {
	list, whole := f.Impact.told.portions, f.Impact.MeanSaving
	if len(list) < 2 || 5*list[0].Mean >= 4*whole && (!list[0].Turn || f.names(&list[0])) {
		return ""
	}
	var parts []string
	for i := range list {
		if 10*list[i].Mean >= whole || i == 0 {
			parts = append(parts, human(list[i].Mean)+" "+portionWords(&list[i]))
		}
	}
	return ". Saved of the mean: " + strings.Join(parts, ", ")
}

func portionWords(p *diagnosis.Portion) string {
	if p.Phase != timeline.PhaseHandler {
		return "in " + p.Phase.String()
	}
	return p.Cause.Words()
}

// names reports whether the title contains the word for a kind of waiting for turns, or says that requests wait and
// contains no such word.
func (f *Finding) names(p *diagnosis.Portion) bool {
	of := func(p *diagnosis.Portion) bool {
		words := portionWords(p)
		return strings.Contains(f.Title, words[strings.LastIndexByte(words, ' ')+1:])
	}
	return of(p) || strings.HasPrefix(f.Title, "Requests wait") &&
		!slices.ContainsFunc(f.Impact.told.portions, func(o diagnosis.Portion) bool { return o.Turn && of(&o) })
}

// remains says, if a finding saves less than half of the time that was seen of it, that the rest is not promised.
func (f *Finding) remains() string {
	if f.Impact.told.seen <= 2*f.Impact.MeanSaving {
		return ""
	}
	return fmt.Sprintf(". That is %s of the %s that it takes of the mean; the rest has other causes, or stays", human(f.Impact.MeanSaving), human(f.Impact.told.seen))
}

func orAll(endpoint string) string {
	if endpoint == "" {
		return "all endpoints"
	}
	return endpoint
}

// phrases puts evidence into words, as much as fits into width runes, but at least one item. It omits what never
// happened.
func phrases(ev []Evidence, width int) string {
	var b strings.Builder
	for _, e := range ev {
		t := phrase(e)
		if e.Value == 0 && (e.Unit != "share" || e.Bound != nil) {
			continue
		}
		if b.Len() > 0 {
			if utf8.RuneCountInString(b.String())+2+utf8.RuneCountInString(t) > width {
				continue
			}
			b.WriteString("; ")
		}
		b.WriteString(t)
	}
	return b.String()
}

func phrase(e Evidence) string {
	var t string
	n := quantity(e.Value, e.Unit)
	switch e.Unit {
	case "ns", "ratio":
		t = e.What + " " + n
	case "per_second":
		t = n + " " + e.What + " a second"
	case "count":
		t = n + " " + e.What
		if e.Value == unit {
			t = n + " " + singular(e.What)
		}
	default:
		t = n + " " + e.What
	}
	if e.Bound != nil {
		t += " (bound " + quantity(*e.Bound, e.Unit) + ")"
	}
	return t
}

// singular puts the first word of a counted thing into the singular.
func singular(what string) string {
	word, rest, _ := strings.Cut(what, " ")
	if short, ok := strings.CutSuffix(word, "sses"); ok {
		word = short + "ss"
	} else {
		word = strings.TrimSuffix(word, "s")
	}
	return strings.TrimSuffix(word+" "+rest, " ")
}

func quantity(v Decimal, u string) string {
	switch u {
	case "ns":
		return human(Duration(v / unit))
	case "share":
		return percent(v)
	case "count":
		return thousands(int64(v / unit))
	case "bytes":
		return diagnosis.Bytes(int64(v / unit))
	}
	t := (int64(v) + unit/20) / (unit / 10)
	return fmt.Sprintf("%s.%d", thousands(t/10), t%10)
}

// kind is one kind of time that must have a line of its own in the table: a phase, or a cause.
type kind struct{ phase, cause string }

func (k kind) has(l timeLine) bool {
	if l.size() == 0 {
		return false
	}
	return k.phase != "" && l.phase == k.phase || k.phase == "" && l.cause == k.cause
}

// foundKinds returns, for each finding of the shown endpoint, the kind of time that most of its saving is. Without
// findings it returns that of the first lead.
func foundKinds(r *Report) (list []kind) {
	of := r.Findings
	if order := leadsToTell(r); len(of) == 0 && len(order) > 0 {
		of = r.Leads[order[0] : order[0]+1]
	}
	name := focus(r).Name
	for i := range of {
		parts := of[i].Impact.told.portions
		if len(parts) == 0 || of[i].Endpoint != name && of[i].Endpoint != "" {
			continue
		}
		k := kind{cause: parts[0].Cause.String()}
		if parts[0].Phase != timeline.PhaseHandler {
			k = kind{phase: parts[0].Phase.String()}
		}
		if !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}
