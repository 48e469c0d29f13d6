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
	where += stolenMuch(&r.Recording)
	text, s = wrong(r)
	if e.ids.few && r.Requests.singles == nil {
		text += " " + plural(e.Count, "request") + " of " + requestOf(e) + " prove no cause."
	}
	if open := strings.TrimSpace(unknown(e) + " " + unexplained(e, named)); open != "" {
		text += " " + open
		if r.Seen.goAway && r.Requests.Unwatched == 0 {
			text += " Goroutines that wait were not watched all the time (--go-probes=20% watches more)."
		}
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
		list = append(list, text+inPlace(x.Place)+", which no suspect explains: dwell show REC --slowest 3 shows what goes on meanwhile.")
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
