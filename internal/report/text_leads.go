package report

import "fmt"

// shownLeads bounds how many leads get lines of their own.
const shownLeads = 3

// leads lists what is worth having and not proven, with what would decide it.
func leads(p *page, r *Report) {
	if len(r.Leads) == 0 {
		return
	}
	p.raw("")
	p.line(bold, "%s: time worth having, whose cause lies elsewhere or is not proven", plural(len(r.Leads), "lead"))
	for i := range r.Leads {
		f := &r.Leads[i]
		if i >= shownLeads {
			p.wrap(plain, "  ", fmt.Sprintf("%s at %s: at most %s of the mean; decided by: %s", f.ID, f.Place, human(f.Impact.MeanSaving), f.Decide), 2)
			continue
		}
		p.wrap(yellow, "- ", f.Title+".", 3)
		p.wrap(plain, "  ", f.ID+", "+f.Why+"; at most "+mostly(f)+".", 2)
		p.wrap(plain, "  decide   ", f.Decide, 2)
	}
}

// mostly says the most that a lead could save.
func mostly(f *Finding) string {
	return fmt.Sprintf("the mean %s -> %s, p99 %s -> %s", human(f.mean), human(f.mean-f.Impact.MeanSaving), human(f.p99), human(f.p99-f.Impact.P99Saving))
}

// minor gives a few lines to each thing that was seen and is worth little here.
func minor(p *page, r *Report) {
	if len(r.Minor) == 0 {
		return
	}
	p.raw("")
	p.line(bold, "Minor here")
	var whys, ids []string
	for _, f := range r.Minor {
		whys, ids = append(whys, f.Why), append(ids, f.ID)
	}
	reasons(p, plain, whys, ids)
}
