package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

// screen is how many lines a report has at most, unless everything is requested.
const screen = 40

// whole is the line limit of a text that must not be cut.
const whole = 1000

// brevity is how much of a report is described at length. The rest is named or counted; --all describes it.
type brevity struct {
	findings, leads, rows, calls int
	names                        bool // name everything that is ruled out or minor
	legend                       bool // explain the words of the table
	spread                       bool // give leads that are not described at length a line each
	places                       bool // name findings that are not described at length by their places, not by their titles
	fixes                        bool // give the fixes of findings that are not described at length
	tight                        tightness
}

// tightness is what is left out so that a lead that the first lines name has room.
type tightness int8

const (
	loose  tightness = iota
	tight            // savings of leads in words, one line of evidence
	tidied           // nor evidence, replays and the parts of savings of findings, nor processes that served no requests
	terse            // and what is neither a finding nor a lead is only counted; of what would decide a lead, only the beginning
)

var everything = brevity{findings: whole, leads: whole, rows: 12, calls: whole, names: true, legend: true, spread: true}

// briefer are the ways to write a report, from long to short; the first that fits the screen is used. What is wrong,
// where the time is and what was not seen is in each of them.
var briefer = []brevity{
	{findings: 3, leads: 3, rows: 5, calls: 4, names: true, legend: true},
	{findings: 3, leads: 3, rows: 5, calls: 4, legend: true},
	{findings: 3, leads: 2, rows: 5, calls: 4, legend: true},
	{findings: 3, leads: 2, rows: 5, calls: 2, legend: true},
	{findings: 3, leads: 2, rows: 3, calls: 1, legend: true},
	{findings: 3, leads: 1, rows: 5, calls: 4, legend: true},
	{findings: 3, leads: 1, rows: 5, calls: 2, legend: true},
	{findings: 3, leads: 1, rows: 4, calls: 1, legend: true},
	{findings: 3, leads: 1, rows: 4, legend: true}, // used if a lead is named
	{findings: 3, leads: 1, rows: 3},
	{findings: 3, rows: 5, calls: 4, legend: true},
	{findings: 3, rows: 5, calls: 1, legend: true},
	{findings: 3, rows: 3, calls: 1, legend: true},
	{findings: 3, rows: 3, calls: 1},
	{findings: 3, rows: 3},
	{findings: 2, rows: 3, calls: 1},
	{findings: 1, rows: 3, calls: 1},
	{findings: 1, rows: 3, calls: 1, places: true},
	{findings: 1, rows: 3, places: true, tight: tight},
	{findings: 1, rows: 2, places: true, tight: terse},
}

// ladder returns the ways to write a report, in the order in which they are tried. A lead that the first lines name is
// printed in full, if that is possible at all: it matters more than calls, rows of the table and details of findings.
func ladder(r *Report) (out []brevity) {
	for n := len(namedLeads(r)); n > 0; n-- {
		for _, b := range briefer {
			if b.leads >= n {
				out = append(out, b)
			}
		}
		for _, b := range tighter {
			b.leads = n
			out = append(out, b)
		}
	}
	for _, b := range briefer {
		if b.leads == 0 || b.calls > 0 {
			out = append(out, b)
		}
	}
	return out
}

// tighter are the shortest ways to write a report with a lead in full that the first lines name.
var tighter = []brevity{
	{findings: 3, rows: 3, calls: 1, tight: tight},
	{findings: 3, rows: 3, tight: tight},
	{findings: 3, rows: 3, tight: tidied},
	{findings: 3, rows: 2, tight: tidied},
	{findings: 3, rows: 2, tight: terse},
	{findings: 3, rows: 1, tight: terse},
	{findings: 2, rows: 2, tight: terse},
	{findings: 1, rows: 2, tight: terse},
	{findings: 1, rows: 2, tight: terse, places: true},
}

func (p *page) fits() bool { return strings.Count(p.b.String(), "\n") <= screen }

// fuller uses the room that is left on a page. It first adds fixes of findings that are not described at length, then
// the calls that a finding or the first lead names, for which the explanation of the table's words gives way, then rows
// of the table, up to the usual maximum, then that explanation, then what the table would only sum up. If that sum is
// very large, it takes the room of calls too. Last it adds leads, in a line each.
func fuller(r *Report, o TextOptions, p *page) *page {
	if r.Requests.Count == 0 {
		return p
	}
	e := focus(r)
	try := func(b brevity) bool {
		q := write(r, o, b)
		fits := q.fits()
		if fits {
			p = q
		}
		return fits
	}
	if len(r.Findings) > p.findings {
		b := p.brevity
		b.fixes = true
		try(b)
	}
	for n := max(1, calledCalls(r)); n > p.calls; n-- {
		b, without := p.brevity, p.brevity
		b.calls, without.calls, without.legend = n, n, false
		if try(b) || try(without) {
			break
		}
	}
	must := foundKinds(r)
	for n := briefer[0].rows; n > p.rows; n-- {
		b := p.brevity
		b.rows, b.legend = n, false
		if try(b) {
			break
		}
	}
	b := p.brevity
	b.legend = true
	try(b)
	for p.rows < len(e.Causes) {
		left := summed(rows(e, p.rows, must...))
		if left < much {
			break
		}
		b, without := p.brevity, p.brevity
		b.rows++
		without.rows, without.calls = b.rows, 0
		if !try(b) && (p.calls > 1 || left < 2*much || !try(without)) {
			break
		}
	}
	for p.rows < everything.rows && slices.ContainsFunc(rows(e, p.rows, must...), func(l timeLine) bool { return l.severalPhases() }) {
		b := p.brevity
		if b.rows++; !try(b) {
			break
		}
	}
	b = p.brevity
	b.spread = true
	try(b)
	return p
}

// summed is the largest share that a table of where the time goes only sums up.
func summed(list []timeLine) (most Decimal) {
	for i := range list {
		if list[i].label == summedUp {
			most = list[i].size()
		}
	}
	return most
}

const (
	// summedUp labels the rest of the table that has no line of its own.
	summedUp = "other"
	// much is the share from which on this rest needs lines of its own.
	much = unit / 10
)

// timeLine is a line of the table of where the time goes.
type timeLine struct {
	phase, cause   string // phase is "" for a sum
	label          string
	ordinary, slow Decimal
}

// rows returns the largest causes, those that must be shown, the sum of the rest, and the unaccounted time. If there is
// no room for each phase of each cause, the phases of a cause are joined.
func rows(e *Endpoint, most int, must ...kind) (list []timeLine) {
	add := func(label, cause string, a, b Decimal) {
		list = append(list, timeLine{"", cause, label, a, b})
	}
	kept, otherA, otherB := lines(joined(e.Causes, most, must), most, must)
	list = append(list, kept...)
	if otherA > 0 || otherB > 0 {
		add(summedUp, timeline.CauseUnknown.String(), otherA, otherB)
	}
	if e.Unaccounted.P50Share > 0 || e.Unaccounted.P99Share > 0 {
		add("Unaccounted", Unaccounted, e.Unaccounted.P50Share, e.Unaccounted.P99Share)
	}
	return list
}

// lines returns the lines of a table with the most largest ones of either column, and with those that must be shown,
// and the sums of the others.
func lines(list []timeLine, most int, must []kind) (kept []timeLine, ordinary, slow Decimal) {
	bySize := slices.SortedStableFunc(slices.Values(list), func(a, b timeLine) int { return cmp.Compare(b.size(), a.size()) })
	least := Decimal(unit / 100)
	if most < len(bySize) {
		least = max(least, bySize[most].size()+1)
	}
	shown := map[string]bool{}
	for _, k := range must {
		if at := slices.IndexFunc(bySize, k.has); at >= 0 {
			shown[bySize[at].label] = true
		}
	}
	for _, l := range list {
		if l.size() >= least || shown[l.label] {
			kept = append(kept, l)
			continue
		}
		ordinary += l.ordinary
		slow += l.slow
	}
	return kept, ordinary, slow
}

// size is the order of lines: the larger of the two shares.
func (l *timeLine) size() Decimal { return max(l.ordinary, l.slow) }

// joined returns a line for each cause, the largest first. Phases get lines of their own, the largest first, as long
// as a table of most lines has room for them and does not sum up much.
func joined(causes []CauseRow, most int, must []kind) (list []timeLine) {
	apart := make([]bool, len(causes))
	bySize := make([]int, len(causes))
	for i := range causes {
		bySize[i] = i
	}
	size := func(i int) Decimal { return max(causes[i].P50Share, causes[i].P99Share) }
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
	list = split(causes, apart)
	for _, i := range bySize {
		apart[i] = true
		tried := split(causes, apart)
		if kept, ordinary, slow := lines(tried, most, must); max(ordinary, slow) < much && slices.ContainsFunc(kept, func(l timeLine) bool { return l.label == label(&causes[i]) }) {
			list = tried
		} else {
			apart[i] = false
		}
	}
	return list
}

func label(c *CauseRow) string { return spentOn(c.Phase, c.Cause) }

// Labels that stand for all phases of a cause, and for those without a line of their own.
const (
	everyPhase  = "all phases"
	otherPhases = "other phases"
)

// severalPhases reports whether a line joins phases for lack of room.
func (l *timeLine) severalPhases() bool { return l.phase == everyPhase || l.phase == otherPhases }

// split returns a line for each phase that is to be separate, and one for the rest of its cause, in order of the slow
// requests. A line of all phases says where most of its time is, if that is one of them.
func split(causes []CauseRow, apart []bool) (list []timeLine) {
	for i, c := range causes {
		one := timeLine{c.Phase, c.Cause, label(&causes[i]), c.P50Share, c.P99Share}
		at := slices.IndexFunc(list, func(l timeLine) bool { return l.cause == c.Cause && l.severalPhases() })
		switch {
		case apart[i]:
			list = append(list, one)
		case at >= 0:
			list[at].ordinary, list[at].slow = list[at].ordinary+one.ordinary, list[at].slow+one.slow
		default:
			one.phase = everyPhase
			list = append(list, one)
		}
	}
	for i := range list {
		l := &list[i]
		if !l.severalPhases() {
			continue
		}
		var of []*CauseRow
		for k := range causes {
			if c := &causes[k]; c.Cause == l.cause && !apart[k] {
				of = append(of, c)
			}
		}
		switch {
		case len(of) == 1:
			l.phase = of[0].Phase
		case slices.ContainsFunc(list, func(o timeLine) bool { return o.cause == l.cause && o.phase != l.phase }):
			l.phase, l.label = otherPhases, otherPhases+", "+l.cause
		default:
			l.label = everyPhase + ", " + l.cause
			for _, c := range of {
				if 2*c.P50Share > l.ordinary && 2*c.P99Share > l.slow && c.Phase != c.Cause {
					l.label = "mostly " + label(c)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b timeLine) int { return cmp.Compare(b.slow, a.slow) })
	return list
}

// tenths rounds shares with the sum one to tenths of a percent with the sum 1000.
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
