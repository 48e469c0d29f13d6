package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// Diff is the difference between two recordings. Its JSON form is the contract of `dwell diff --json`.
type Diff struct {
	Version     int            `json:"version"`
	A           DiffSide       `json:"a"`
	B           DiffSide       `json:"b"`
	Endpoints   []DiffEndpoint `json:"endpoints"`
	Findings    []DiffFinding  `json:"findings"`
	SLOs        []SLOPair      `json:"slos,omitempty"`
	Measures    []DiffMeasure  `json:"measures"`
	Frames      []DiffFrame    `json:"frames"`
	Unexercised []DiffMeasure  `json:"unexercised"`
	UnseenCode  []DiffFrame    `json:"unseen_code"`
}

// DiffSide describes one of the compared recordings.
type DiffSide struct {
	Program   string   `json:"program"`
	Processes int      `json:"processes"`
	Seen      Duration `json:"seen_ns"` // from the first to the last observation of its threads
	CPU       Duration `json:"cpu_ns"`
	Samples   int      `json:"samples"`
	Requests  int      `json:"requests"`
	Excerpt   *Excerpt `json:"excerpt,omitempty"` // nil if all of it is analysed
}

// DiffEndpoint is an endpoint on both sides; nil if a side has no requests to it.
type DiffEndpoint struct {
	Name      string          `json:"name"`
	A         *DiffLatency    `json:"a"`
	B         *DiffLatency    `json:"b"`
	Noise50   Duration        `json:"p50_noise_ns"`
	Noise99   Duration        `json:"p99_noise_ns"`
	Predicted *DiffPrediction `json:"predicted,omitempty"`
}

// DiffLatency are quantiles of an endpoint's requests.
type DiffLatency struct {
	Count int      `json:"count"`
	P50   Duration `json:"p50_ns"`
	P99   Duration `json:"p99_ns"`
}

// DiffPrediction is what the findings that A has and B does not have were expected to save.
type DiffPrediction struct {
	P50     Duration `json:"p50_saving_ns"`
	P99     Duration `json:"p99_saving_ns"`
	AtLeast bool     `json:"lower_bound,omitempty"`
}

// DiffFinding is a finding of one side or of both.
type DiffFinding struct {
	ID       string  `json:"id"`
	Endpoint string  `json:"endpoint"`
	Change   string  `json:"change"` // "gone", "new", "both", or "undecided": found on one side, and the other side cannot decide it
	PlaceA   string  `json:"place_a,omitempty"`
	PlaceB   string  `json:"place_b,omitempty"`
	ImpactA  *Impact `json:"impact_a,omitempty"`
	ImpactB  *Impact `json:"impact_b,omitempty"`
	Missing  string  `json:"missing,omitempty"` // what prevented the other side from deciding
}

// DiffMeasure is one measure; nil on a side that lacks it.
type DiffMeasure struct {
	Group string   `json:"group"`
	What  string   `json:"what"`
	Unit  string   `json:"unit"`
	A     *Decimal `json:"a"`
	B     *Decimal `json:"b"`
}

// DiffFrame is a function and its shares of the samples of each side.
type DiffFrame struct {
	Function string  `json:"function"`
	UnderA   Decimal `json:"under_a"`
	UnderB   Decimal `json:"under_b"`
	SelfA    Decimal `json:"self_a"`
	SelfB    Decimal `json:"self_b"`
	Own      bool    `json:"own,omitempty"` // belongs to the program itself, judging by names and paths
}

// diffFrames bounds how many functions are listed.
const diffFrames = 100

// NewDiff makes the view model of a comparison.
func NewDiff(c *diagnosis.Comparison) *Diff {
	d := &Diff{
		Version: Version, A: diffSide(&c.A), B: diffSide(&c.B),
		SLOs:      pairSLOs(c.SLOs[0], c.SLOs[1]),
		Endpoints: []DiffEndpoint{}, Findings: []DiffFinding{},
		Measures: diffMeasures(c.Measures), Unexercised: diffMeasures(c.Unexercised),
		Frames: diffShares(c.Frames), UnseenCode: diffShares(c.Unseen),
	}
	for i := range c.Endpoints {
		e := &c.Endpoints[i]
		row := DiffEndpoint{Name: e.Name, Noise50: e.Noise50, Noise99: e.Noise99}
		if e.NA > 0 {
			row.A = &DiffLatency{e.NA, e.P50A, e.P99A}
			d.A.Requests += e.NA
		}
		if e.NB > 0 {
			row.B = &DiffLatency{e.NB, e.P50B, e.P99B}
			d.B.Requests += e.NB
		}
		if e.AnyPredicted {
			row.Predicted = &DiffPrediction{e.Predicted50, e.Predicted99, e.AtLeast}
		}
		d.Endpoints = append(d.Endpoints, row)
	}
	for i := range c.Findings {
		d.Findings = append(d.Findings, diffFinding(&c.Findings[i]))
	}
	return d
}

func diffSide(p *diagnosis.Profile) DiffSide {
	return DiffSide{Program: p.Program, Processes: p.Processes, Seen: p.Span, CPU: p.CPU, Samples: p.Samples}
}

func diffFinding(p *diagnosis.FindingPair) DiffFinding {
	f := DiffFinding{ID: p.ID, Endpoint: p.Endpoint, Change: "both"}
	if p.A != nil {
		f.PlaceA, f.ImpactA = p.A.Place, diffImpact(p.A)
	} else {
		f.Change = "new"
	}
	if p.B != nil {
		f.PlaceB, f.ImpactB = p.B.Place, diffImpact(p.B)
	} else {
		f.Change = "gone"
	}
	if p.Unclear != "" {
		f.Change, f.Missing = "undecided", p.Unclear
	}
	return f
}

func diffImpact(f *diagnosis.Finding) *Impact {
	im := impact(f)
	return &im
}

func diffMeasures(list []diagnosis.MeasurePair) []DiffMeasure {
	out := make([]DiffMeasure, 0, len(list))
	for _, m := range list {
		row := DiffMeasure{Group: m.Group, What: m.What, Unit: m.Unit.String()}
		if m.HasA {
			v := value(m.A, m.Unit)
			row.A = &v
		}
		if m.HasB {
			v := value(m.B, m.Unit)
			row.B = &v
		}
		out = append(out, row)
	}
	return out
}

func diffShares(list []diagnosis.FramePair) []DiffFrame {
	out := []DiffFrame{}
	for _, f := range list[:min(len(list), diffFrames)] {
		out = append(out, DiffFrame{f.Function, Decimal(f.A.Under), Decimal(f.B.Under), Decimal(f.A.Self), Decimal(f.B.Self), f.A.Own || f.B.Own})
	}
	return slices.Clip(out)
}

// DiffJSON writes the comparison in the form of docs/contract.md.
func DiffJSON(w io.Writer, d *Diff) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("write the comparison as JSON: %w", err)
	}
	return nil
}
