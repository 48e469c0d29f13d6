package report

import (
	"fmt"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// single is one of so few requests that they prove nothing: what can be said is where each of them
// spent its time.
type single struct {
	at       Duration // it began, since the start of the recording
	Endpoint          // of it alone
}

// singles are those requests, the slowest first; nil where there are enough to decide.
func singles(d *diagnosis.Diagnosis, tl *timeline.Timeline) (list []single) {
	all := d.Overall.Requests
	if len(all) >= d.Options.MinRequests {
		return nil
	}
	for i := len(all) - 1; i >= 0; i-- {
		r, alone := &tl.Requests[all[i]], all[i:i+1]
		list = append(list, single{r.Start.Sub(tl.Start), endpoint(tl, &diagnosis.Symptom{Endpoint: r.Endpoint, Requests: alone, Ordinary: alone, Slow: alone})})
	}
	return list
}

// eachRequest lists them.
func eachRequest(p *page, r *Report) {
	if r.singles == nil {
		return
	}
	p.raw("")
	p.line(bold, "Each request, the slowest first (dwell show REC --slowest %d draws them)", len(r.singles))
	for i := range r.singles[:min(p.rows, len(r.singles))] {
		s := &r.singles[i]
		p.wrap(plain, "  "+pad(human(s.Ordinary), -7)+"  ", fmt.Sprintf("%s at +%s: %s", requestOf(&s.Endpoint), human(s.at), mostOf(&s.Endpoint, func(c CauseRow) Decimal { return c.P50Share })), 2)
	}
	if n := len(r.singles) - p.rows; n > 0 {
		p.line(dim, "  and %s (--all lists more)", plural(n, "quicker one"))
	}
}

// tooFew says of requests that prove nothing what to look at all the same.
func tooFew(r *Report) string {
	text := plural(r.Requests.Count, "request") + " prove no cause"
	d := besides(r)
	if d == nil && len(r.Dominant) > 0 {
		d = &r.Dominant[0]
	}
	switch {
	case d != nil:
		text += ", but look at this first: " + dominates(d)
	case len(r.Leads) > 0:
		text += ", but look at " + r.Leads[0].ID + " first"
	}
	return text + "."
}
