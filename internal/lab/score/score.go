// Package score compares what dwell reports about the services that the laboratory plays with the truth. Trial scores
// one service, Play all services of one fault and strength, and Healthy counts false findings.
package score

import (
	"fmt"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/lab"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// Outcomes, in the order of the tables.
const (
	Found = iota
	Lead
	Minor
	RuledOut
	Undecided
	Absent // the hypothesis reported nothing
	outcomes
)

// Result is what was reported about one trial.
type Result struct {
	Outcome   int
	First     string  // the first finding if it is a different one; else ""
	Predicted float64 // ns of the mean, if it was found
	Off       float64 // the prediction's error relative to the truth, with its sign
	Covered   bool    // the truth lies within the predicted range
}

// Diagnose rebuilds and diagnoses a recording.
func Diagnose(rec *recording.Recording) (*diagnosis.Diagnosis, error) {
	tl, err := build.Recording(rec)
	if err != nil {
		return nil, fmt.Errorf("score: %w", err)
	}
	return diagnosis.Diagnose(tl, hypotheses.All(), diagnosis.Options{}), nil
}

// Trial plays a trial and returns what is reported about the hypothesis that its fault is named after.
func Trial(t *lab.Trial) (Result, error) {
	rec, _ := t.Faulty.Record()
	d, err := Diagnose(rec)
	if err != nil {
		return Result{}, err
	}
	ids := named(t.Fault.Name)
	r := Result{Outcome: outcome(d, ids)}
	if len(d.Findings) > 0 && !slices.Contains(ids, d.Findings[0].ID) {
		r.First = d.Findings[0].ID
	}
	if k := slices.IndexFunc(d.Findings, func(f diagnosis.Finding) bool { return slices.Contains(ids, f.ID) }); k >= 0 {
		i := d.Findings[k].Impact
		r.Predicted = float64(i.Mean)
		r.Off = r.Predicted/t.Saved - 1
		r.Covered = float64(i.MeanRange.Low) <= t.Saved && (t.Saved <= float64(i.MeanRange.High) || d.Findings[k].AtLeast)
	}
	return r, nil
}

// named returns the hypotheses that count as naming a fault. A connection per request is a client per request, if a
// request makes one call on it.
func named(fault string) []string {
	if fault == "connection-churn" {
		return []string{fault, "client-per-request"}
	}
	return []string{fault}
}

func outcome(d *diagnosis.Diagnosis, ids []string) int {
	of := func(list []diagnosis.Finding) bool {
		return slices.ContainsFunc(list, func(f diagnosis.Finding) bool { return slices.Contains(ids, f.ID) })
	}
	said := func(list []diagnosis.Outcome) bool {
		return slices.ContainsFunc(list, func(o diagnosis.Outcome) bool { return slices.Contains(ids, o.ID) })
	}
	switch {
	case of(d.Findings):
		return Found
	case of(d.Leads):
		return Lead
	case of(d.Minor):
		return Minor
	case said(d.Refuted):
		return RuledOut
	case said(d.Undecided):
		return Undecided
	}
	return Absent
}
