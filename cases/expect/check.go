package expect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Saving is a prediction and what came of it, in ns.
type Saving struct {
	Predicted, Measured int64
}

// Results are the diagnoses and clients by scenario, and the savings by "moderate p50".
type Results struct {
	Diagnoses map[string]*Diagnosis
	Clients   map[string]Client // none of a committed recording
	Savings   map[string]Saving
	Numbers   map[string]map[string]float64 // more of a scenario's measures, by what they are
}

// Outcome is an expectation and what was found instead; Problem is "" if it holds.
type Outcome struct {
	Expectation
	Problem string
	Seen    string // the numbers, for printing
}

// Check holds every expectation whose scenario was run against the results. Scenarios
// that were not run are left out.
func Check(all []Expectation, results Results) []Outcome {
	var out []Outcome
	for _, e := range all {
		if e.Kind == "saving" {
			if s, run := results.Savings[e.Scenario+" "+e.ID]; run {
				out = append(out, e.saving(s))
			}
			continue
		}
		if d := results.Diagnoses[e.Scenario]; d != nil && e.Kind == "measured" {
			client, run := results.Clients[e.Scenario]
			numbers := Measures(d, client, run)
			maps.Copy(numbers, results.Numbers[e.Scenario])
			seen, problem := e.measured(numbers)
			out = append(out, Outcome{e, problem, seen})
		} else if d != nil {
			seen, problem := e.check(d)
			out = append(out, Outcome{e, problem, seen})
		}
	}
	return out
}

func (e Expectation) saving(s Saving) Outcome {
	o := Outcome{Expectation: e, Seen: fmt.Sprintf("predicted %.2f ms, measured %.2f ms", ms(s.Predicted), ms(s.Measured))}
	share := float64(s.Predicted) / float64(max(s.Measured, 1)) * 100
	if s.Measured <= 0 || share < e.Low || share > e.High {
		o.Problem = fmt.Sprintf("%s: %.0f%%", o.Seen, share)
	}
	return o
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

func (e Expectation) check(d *Diagnosis) (seen, problem string) {
	switch e.Kind {
	case "nothing":
		for _, f := range d.Findings {
			if !slices.Contains(e.Allowed, f.ID) {
				return "", "found " + ids(d.Findings)
			}
		}
		return "findings: " + ids(d.Findings), ""
	case "first":
		if len(d.Findings) == 0 || d.Findings[0].ID != e.ID {
			return "", "the findings are: " + ids(d.Findings)
		}
		return fmt.Sprintf("saves %.2f ms of p50", ms(d.Findings[0].Impact.P50)), ""
	case "finding":
		return e.evidence(d, d.Findings)
	case "lead":
		return e.evidence(d, d.Leads)
	case "minor":
		return e.evidence(d, d.Minor)
	case "refuted":
		if find(d.Findings, e.ID) != nil {
			return "", "it is a finding"
		}
		return e.evidence(d, slices.Concat(d.Refuted, d.Minor))
	case "innocent":
		if find(d.Findings, e.ID) != nil || find(d.Undecided, e.ID) != nil {
			return "", where(d, e.ID)
		}
		return e.evidence(d, slices.Concat(d.Refuted, d.Minor, d.Leads))
	default:
		if find(d.Undecided, e.ID) == nil {
			return "", where(d, e.ID)
		}
		return find(d.Undecided, e.ID).Missing, ""
	}
}

// evidence checks the conditions on the items of a list with the expected id.
func (e Expectation) evidence(d *Diagnosis, list []Item) (seen, problem string) {
	if find(list, e.ID) == nil {
		return "", where(d, e.ID)
	}
	var said []string
	for _, c := range e.Conditions {
		value, problem := c.check(list, e.ID)
		if problem != "" {
			return "", problem
		}
		said = append(said, value)
	}
	if len(said) == 0 && len(find(list, e.ID).Evidence) > 0 {
		said = append(said, find(list, e.ID).Evidence[0].String())
	}
	return strings.Join(said, ", "), ""
}

// check looks for one piece of evidence that satisfies the condition.
func (c Condition) check(list []Item, id string) (seen, problem string) {
	if c.Op == "says" {
		return c.said(list, id)
	}
	problem = fmt.Sprintf("no evidence is named %q", c.What)
	for _, item := range list {
		if item.ID != id {
			continue
		}
		for _, one := range item.Evidence {
			if !strings.Contains(one.What, c.What) {
				continue
			}
			if c.Holds(one.Value) {
				return one.String(), ""
			}
			problem = fmt.Sprintf("%s, expected %s %v", one, c.Op, c.Than)
		}
	}
	return "", problem
}

// said looks for the words in what the items tell people.
func (c Condition) said(list []Item, id string) (seen, problem string) {
	var told []string
	for _, item := range list {
		if item.ID != id {
			continue
		}
		told = append(told, item.Title, item.Place)
		for _, one := range item.Evidence {
			told = append(told, one.What)
		}
	}
	for _, text := range told {
		if strings.Contains(text, c.What) {
			return text, ""
		}
	}
	return "", fmt.Sprintf("none of these says %q: %q", c.What, told)
}

func where(d *Diagnosis, id string) string {
	switch {
	case find(d.Findings, id) != nil:
		return "it is a finding"
	case find(d.Leads, id) != nil:
		return fmt.Sprintf("it is a lead: %v", find(d.Leads, id).Evidence)
	case find(d.Minor, id) != nil:
		return fmt.Sprintf("it is minor: %v", find(d.Minor, id).Evidence)
	case find(d.Refuted, id) != nil:
		return fmt.Sprintf("it is refuted: %v", find(d.Refuted, id).Evidence)
	case find(d.Undecided, id) != nil:
		return "it is undecided: " + find(d.Undecided, id).Missing
	}
	return "no verdict on it"
}

func find(list []Item, id string) *Item {
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}

func ids(list []Item) string {
	if len(list) == 0 {
		return "none"
	}
	var all []string
	for _, item := range list {
		all = append(all, item.ID)
	}
	return strings.Join(all, ", ")
}
