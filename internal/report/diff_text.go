package report

import (
	"fmt"
	"io"

	"github.com/getdwell/dwell/internal/diagnosis"
)

const (
	shownDiffs = 10 // functions

	shownForeign = 3 // of libraries, if the program has none of its own
)

// diffColumn is how many columns one side's value has.
func (p *page) diffColumn() int { return min(16, p.width/5) }

// DiffText writes the comparison for people. It omits what neither side has.
func DiffText(w io.Writer, d *Diff, o TextOptions) error {
	p := newPage(o)
	p.line(bold, "A: %s", diffWho(&d.A))
	p.line(bold, "B: %s", diffWho(&d.B))
	diffSLOs(p, d)
	diffEndpoints(p, d)
	diffFindingsText(p, d)
	diffUnexercised(p, d)
	diffNumbers(p, d)
	diffCode(p, d)
	return p.flush(w)
}

func diffWho(s *DiffSide) string {
	if s.Processes == 0 {
		return "no process"
	}
	text := s.Program
	if s.Processes > 1 {
		text += fmt.Sprintf(" (%d processes)", s.Processes)
	}
	text += fmt.Sprintf(", seen for %s, %s of CPU", human(s.Seen), human(s.CPU))
	if s.Requests > 0 {
		return text + ", " + plural(s.Requests, "request")
	}
	return text + ", no request"
}

func diffEndpoints(p *page, d *Diff) {
	for _, e := range d.Endpoints {
		p.raw("")
		p.line(bold, "%s", wholeEndpoint(e.Name))
		if e.A == nil || e.B == nil {
			side, l := "A", e.A
			if l == nil {
				side, l = "B", e.B
			}
			p.line(plain, "  only in %s: %s, p50 %s, p99 %s", side, plural(l.Count, "request"), human(l.P50), human(l.P99))
			continue
		}
		p.wrap(plain, "  ", fmt.Sprintf("p50 %s -> %s, p99 %s -> %s (%s, then %s)", human(e.A.P50), human(e.B.P50), human(e.A.P99), human(e.B.P99),
			plural(e.A.Count, "request"), thousands(int64(e.B.Count))), whole)
		p.wrap(plain, "  ", changed("p50", e.A.P50-e.B.P50, e.Noise50)+"; "+changed("p99", e.A.P99-e.B.P99, e.Noise99), whole)
		if e.Predicted != nil {
			least := ""
			if e.Predicted.AtLeast {
				least = "at least "
			}
			p.wrap(plain, "  ", fmt.Sprintf("predicted, of what is gone: p50 falls by %s%s, p99 by %s%s", least, human(e.Predicted.P50), least, human(e.Predicted.P99)), whole)
		}
	}
}

// changed says by how much a quantile fell or rose, and whether that exceeds the difference between halves of one
// recording.
func changed(name string, fell, noise Duration) string {
	text := name + " stays as it is"
	switch {
	case fell > 0:
		text = name + " fell by " + human(fell)
	case fell < 0:
		text = name + " rose by " + human(-fell)
	}
	if fell != 0 && max(fell, -fell) <= noise {
		return text + ", no more than noise (" + human(noise) + ")"
	}
	return text + " (noise " + human(noise) + ")"
}

func wholeEndpoint(name string) string {
	if name == "" {
		return "all endpoints"
	}
	return name
}

func diffFindingsText(p *page, d *Diff) {
	if len(d.Findings) == 0 {
		return
	}
	p.raw("")
	p.line(bold, "Findings")
	for _, f := range d.Findings {
		change, place, impact, other := f.Change, f.PlaceA, f.ImpactA, "B"
		if impact == nil {
			place, impact, other = f.PlaceB, f.ImpactB, "A"
		}
		if f.Missing != "" {
			change = "?"
		}
		p.wrap(plain, "  "+pad(change, 5)+" "+pad(f.ID, 20)+" ",
			fmt.Sprintf("%s at %s (%s of p50, %s of p99)", wholeEndpoint(f.Endpoint), place, human(impact.P50Saving), human(impact.P99Saving)), 3)
		if f.Missing != "" {
			p.wrap(plain, pad("", 8), "undecided in "+other+": "+f.Missing, 8)
		}
	}
}

// diffUnexercised lists what B did and A did not.
func diffUnexercised(p *page, d *Diff) {
	p.raw("")
	p.line(bold, "What A did not exercise that B did")
	if len(d.Unexercised)+len(d.UnseenCode) == 0 {
		p.line(plain, "  nothing of what is compared")
		return
	}
	for _, m := range d.Unexercised {
		p.wrap(plain, "  ", fmt.Sprintf("%s: %s in A, %s in B", m.What, diffValue(m.A, m.Unit), diffValue(m.B, m.Unit)), 2)
	}
	own := 0
	for own < len(d.UnseenCode) && d.UnseenCode[own].Own {
		own++
	}
	shown := min(len(d.UnseenCode), max(min(own, shownDiffs), shownForeign))
	for _, f := range d.UnseenCode[:shown] {
		p.wrap(plain, "  ", fmt.Sprintf("CPU under %s: %s of the samples of A, %s of B", f.Function, percent(f.UnderA), percent(f.UnderB)), 2)
	}
	if n := len(d.UnseenCode) - shown; n > 0 {
		p.line(dim, "  and code of %s more", plural(n, "function"))
	}
}

func diffNumbers(p *page, d *Diff) {
	group := ""
	for _, m := range d.Measures {
		if (m.A == nil || *m.A == 0) && (m.B == nil || *m.B == 0) {
			continue
		}
		if m.Group != group {
			group = m.Group
			p.raw("")
			p.line(bold, "%s%s%s", pad(group, p.width-2*p.diffColumn()), pad("A", -p.diffColumn()), pad("B", -p.diffColumn()))
		}
		p.line(plain, "%s%s%s", pad("  "+clip(m.What, p.width-2*p.diffColumn()-3), p.width-2*p.diffColumn()),
			pad(diffValue(m.A, m.Unit), -p.diffColumn()), pad(diffValue(m.B, m.Unit), -p.diffColumn()))
	}
}

func diffCode(p *page, d *Diff) {
	if len(d.Frames) == 0 {
		return
	}
	p.raw("")
	head := fmt.Sprintf("CPU by function (%s and %s samples)", thousands(int64(d.A.Samples)), thousands(int64(d.B.Samples)))
	p.line(bold, "%s%s%s", pad(head, p.width-2*p.diffColumn()), pad("A", -p.diffColumn()), pad("B", -p.diffColumn()))
	for _, f := range d.Frames[:min(len(d.Frames), shownDiffs)] {
		p.line(plain, "%s%s%s", pad("  "+clip(f.Function, p.width-2*p.diffColumn()-3), p.width-2*p.diffColumn()),
			pad(percent(f.UnderA), -p.diffColumn()), pad(percent(f.UnderB), -p.diffColumn()))
	}
}

// diffValue prints one side's value.
func diffValue(v *Decimal, u string) string {
	if v == nil {
		return "-"
	}
	switch u {
	case diagnosis.UnitBytes.String():
		return diagnosis.Bytes(int64(*v / unit))
	case diagnosis.UnitByteRate.String():
		return diagnosis.Bytes(int64(*v/unit)) + "/s"
	case diagnosis.UnitRate.String():
		return quantity(*v, u) + "/s"
	case diagnosis.UnitRatio.String():
		hundredths := (int64(*v) + unit/200) / (unit / 100)
		return fmt.Sprintf("%s.%02d", thousands(hundredths/100), hundredths%100)
	}
	return quantity(*v, u)
}
