package report

import (
	"fmt"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// SLO says whether a promised latency was kept.
type SLO struct {
	Text     string      `json:"text"`
	Endpoint string      `json:"endpoint"`
	Percent  int         `json:"percentile"`
	Bound    Duration    `json:"bound_ns"`
	Per      Duration    `json:"per_ns"` // 0: the whole recording
	Broken   int         `json:"broken"` // number of windows that broke it
	Worst    *int        `json:"worst"`  // index of the window with the largest quantile; null without requests
	Windows  []SLOWindow `json:"windows"`
	Remedies []Remedy    `json:"remedies"` // to be applied in order, for the worst window
}

// SLOWindow is a span in which requests began.
type SLOWindow struct {
	From     Duration `json:"from_ns"` // since the recording's start
	Requests int      `json:"requests"`
	Value    Duration `json:"value_ns"` // the quantile
	Met      bool     `json:"met"`
}

// Remedy is a finding or a lead. Value is the quantile without it and all those before it.
type Remedy struct {
	ID    string   `json:"id"`
	Place string   `json:"place"`
	Value Duration `json:"value_ns"`
	Met   bool     `json:"met"`
	Lead  bool     `json:"lead,omitempty"`
}

func slos(d *diagnosis.Diagnosis, start timeline.Time) (out []SLO) {
	for _, r := range d.SLOs {
		s := SLO{
			Text: r.Text, Endpoint: r.Endpoint, Percent: r.Percent, Bound: r.Bound, Per: r.Per, Broken: r.Broken,
			Windows: []SLOWindow{}, Remedies: []Remedy{},
		}
		for _, w := range r.Windows {
			s.Windows = append(s.Windows, SLOWindow{w.From.Sub(start), w.Requests, w.Value, w.Met})
		}
		for _, m := range r.Remedies {
			s.Remedies = append(s.Remedies, Remedy{m.ID, m.Place, m.Value, m.Met, m.Lead})
		}
		if r.Worst >= 0 {
			worst := r.Worst
			s.Worst = &worst
		}
		out = append(out, s)
	}
	return out
}

// showSLOs says of each promise whether it was kept, and what would keep it.
func showSLOs(p *page, r *Report) {
	for i := range r.SLOs {
		s := &r.SLOs[i]
		text, how := s.kept(r)
		p.wrap(how, p.paint(bold, "SLO")+"   ", text, 4)
	}
}

func (s *SLO) kept(r *Report) (string, style) {
	if s.Worst == nil {
		return s.Text + ": no request of it was measured.", yellow
	}
	w := s.Windows[*s.Worst]
	longest := fmt.Sprintf("p%d %s of %s", s.Percent, human(w.Value), plural(w.Requests, "request"))
	if rests := w.Requests - w.Requests*s.Percent/100; rests < restsOnFew {
		longest += fmt.Sprintf(", which rests on %s", plural(max(1, rests), "request"))
	}
	if s.Per > 0 {
		longest = "worst from +" + human(w.From) + s.clock(r, w) + ": " + longest
	}
	if s.Broken == 0 {
		return s.Text + ": met" + s.in() + " (" + longest + ").", green
	}
	broken := s.Text + ": broken"
	if s.Per > 0 {
		broken += fmt.Sprintf(" in %d of %s of %s", s.Broken, plural(len(s.Windows), "span"), human(s.Per))
	}
	return broken + "; " + longest + ". " + s.remedy(), red
}

// restsOnFew is the number of requests up to which a quantile means little.
const restsOnFew = 5

func (s *SLO) in() string {
	if s.Per == 0 {
		return ""
	}
	return " in all " + plural(len(s.Windows), "span") + " of " + human(s.Per)
}

func (s *SLO) clock(r *Report, w SLOWindow) string {
	if r.Recording.Wall == 0 {
		return ""
	}
	return " (" + timeOfDay(r.Recording.Wall+int64(w.From)) + " UTC)"
}

// remedy says what would keep the promise in the worst window.
func (s *SLO) remedy() string {
	if len(s.Remedies) == 0 {
		return "Nothing that was found would bring it under."
	}
	names := ""
	for i, m := range s.Remedies {
		if i > 0 {
			names += ", then "
		}
		if names += m.ID; m.Lead {
			names += " (a lead)"
		}
		names += " -> " + human(m.Value)
	}
	if s.Remedies[len(s.Remedies)-1].Met {
		return "Brought under it without " + names + "."
	}
	return "Not even without " + names + "."
}

// SLOPair is a promise on both sides of a comparison.
type SLOPair struct {
	Text string `json:"text"`
	A    SLO    `json:"a"`
	B    SLO    `json:"b"`
}

// pairSLOs puts the results of both sides for the same promises side by side.
func pairSLOs(a, b []diagnosis.SLOResult) (out []SLOPair) {
	of := func(r diagnosis.SLOResult) SLO {
		var start timeline.Time
		if len(r.Windows) > 0 {
			start = r.Windows[0].From
		}
		return slos(&diagnosis.Diagnosis{SLOs: []diagnosis.SLOResult{r}}, start)[0]
	}
	for i := range min(len(a), len(b)) {
		out = append(out, SLOPair{a[i].Text, of(a[i]), of(b[i])})
	}
	return out
}

// diffSLOs says which side kept each promise.
func diffSLOs(p *page, d *Diff) {
	one := func(s *SLO) string {
		if s.Worst == nil {
			return "no request"
		}
		w := s.Windows[*s.Worst]
		text := "met"
		if s.Broken > 0 {
			text = fmt.Sprintf("broken in %d of %s", s.Broken, plural(len(s.Windows), "span"))
		}
		return fmt.Sprintf("%s (p%d %s at worst)", text, s.Percent, human(w.Value))
	}
	for i := range d.SLOs {
		s := &d.SLOs[i]
		p.wrap(plain, p.paint(bold, "SLO")+"   ", s.Text+": "+one(&s.A)+" in A, "+one(&s.B)+" in B", 3)
	}
}
