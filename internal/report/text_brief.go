package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

// screen is how many lines a report has at most, unless all is asked for.
const screen = 40

// whole is the limit of lines of a text that is not cut.
const whole = 1000

// brevity is how much of a report is told at length; the rest is named, or counted, and
// --all tells it.
type brevity struct {
	findings, leads, rows, calls int
	names                        bool // of all that is ruled out or minor
	legend                       bool // of the table what its words mean
	spread                       bool // of leads not told at length a line each
	places                       bool // of findings not told at length only where they are, not what
}

var everything = brevity{findings: whole, leads: whole, rows: 12, calls: whole, names: true, legend: true, spread: true}

// briefer are the ways to tell a report, the shorter the later: the first that fits the
// screen is taken. What is wrong, where the time is and what was not seen is in each.
var briefer = []brevity{
	{findings: 3, leads: 3, rows: 5, calls: 4, names: true, legend: true},
	{findings: 3, leads: 3, rows: 5, calls: 4, legend: true},
	{findings: 3, leads: 2, rows: 5, calls: 4, legend: true},
	{findings: 3, leads: 2, rows: 5, calls: 2, legend: true},
	{findings: 3, leads: 2, rows: 3, calls: 1, legend: true},
	{findings: 3, leads: 1, rows: 5, calls: 4, legend: true},
	{findings: 3, leads: 1, rows: 5, calls: 2, legend: true},
	{findings: 3, leads: 1, rows: 4, calls: 1, legend: true},
	{findings: 3, leads: 1, rows: 4, legend: true}, // if a lead is named
	{findings: 3, leads: 1, rows: 3},
	{findings: 3, rows: 5, calls: 4, legend: true},
	{findings: 3, rows: 5, calls: 1, legend: true},
	{findings: 3, rows: 3, calls: 1, legend: true},
	{findings: 3, rows: 3, calls: 1},
	{findings: 3, rows: 3},
	{findings: 2, rows: 3, calls: 1},
	{findings: 1, rows: 3, calls: 1},
	{findings: 1, rows: 3, calls: 1, places: true},
}

func (p *page) fits() bool { return strings.Count(p.b.String(), "\n") <= screen }

// fuller uses the room that is left on a page: for as many rows of the table as there are at best, for what its words mean, then
// for what it would only sum up, which takes the room of calls, too, if that is very much; and then for leads in a line each.
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
		left := summed(rows(e, p.rows))
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
	for p.rows < everything.rows && slices.ContainsFunc(rows(e, p.rows), func(l timeLine) bool { return l.severalPhases() }) {
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

// summed is how much a table of where the time goes only sums up.
func summed(list []timeLine) (most Decimal) {
	for i := range list {
		if list[i].label == summedUp {
			most = list[i].size()
		}
	}
	return most
}

const (
	// summedUp is what of the table has no line of its own.
	summedUp = "other"
	// much is how much that is if it has to have one.
	much = unit / 10
)

// timeLine is a line of where the time goes.
type timeLine struct {
	phase, cause   string // phase is "" of a sum
	label          string
	ordinary, slow Decimal
}

// rows returns the largest causes, the rest together, and what is unaccounted for. Where there is not room for each
// phase of each, those of a cause are one.
func rows(e *Endpoint, most int) (list []timeLine) {
	add := func(label, cause string, a, b Decimal) {
		list = append(list, timeLine{"", cause, label, a, b})
	}
	kept, otherA, otherB := lines(joined(e.Causes, most), most)
	list = append(list, kept...)
	if otherA > 0 || otherB > 0 {
		add(summedUp, timeline.CauseUnknown.String(), otherA, otherB)
	}
	if e.Unaccounted.P50Share > 0 || e.Unaccounted.P99Share > 0 {
		add("Unaccounted", Unaccounted, e.Unaccounted.P50Share, e.Unaccounted.P99Share)
	}
	return list
}

// lines are those that a table of so many has, the largest of either column, and what the others sum up to.
func lines(list []timeLine, most int) (kept []timeLine, ordinary, slow Decimal) {
	bySize := slices.SortedStableFunc(slices.Values(list), func(a, b timeLine) int { return cmp.Compare(b.size(), a.size()) })
	least := Decimal(unit / 100)
	if most < len(bySize) {
		least = max(least, bySize[most].size()+1)
	}
	for _, l := range list {
		if l.size() >= least {
			kept = append(kept, l)
			continue
		}
		ordinary += l.ordinary
		slow += l.slow
	}
	return kept, ordinary, slow
}

// size is by what lines are told.
func (l *timeLine) size() Decimal { return max(l.ordinary, l.slow) }

// joined are the lines of causes, the largest first: one for each, and phases in lines of their own, the largest first, as long as a
// table of so many has them, and does not only sum up what is much.
func joined(causes []CauseRow, most int) (list []timeLine) {
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
		if kept, ordinary, slow := lines(tried, most); max(ordinary, slow) < much && slices.ContainsFunc(kept, func(l timeLine) bool { return l.label == label(&causes[i]) }) {
			list = tried
		} else {
			apart[i] = false
		}
	}
	return list
}

func label(c *CauseRow) string { return spentOn(c.Phase, c.Cause) }

// phases stand for all that a cause has, and for those that have no line of their own.
const (
	everyPhase  = "all phases"
	otherPhases = "other phases"
)

// severalPhases reports whether a line is of phases that are one for want of room.
func (l *timeLine) severalPhases() bool { return l.phase == everyPhase || l.phase == otherPhases }

// split has a line for each phase that is to be apart, and one for what else its cause has, in order of the slow requests. That of
// all phases says where most of its time is, if that is one of them.
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

// tenths rounds shares that sum to one to tenths of a percent that sum to 1000.
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
