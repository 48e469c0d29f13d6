package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/getdwell/dwell/internal/truth/kernels/outcome"
)

// row is one kernel in the table.
type row struct {
	name    string
	outcome *outcome.Outcome // nil: it did not come to one
}

const heading = `| kernel | doctor | the demo's fault found | its calls associated | p50: before -> predicted -> repaired, ms | requests, calls of a service against its own log | lost | the kernel's complaints |
|---|---|---|---|---|---|---|---|
`

func table(rows []row) string {
	var b strings.Builder
	b.WriteString(heading)
	for _, r := range rows {
		o := r.outcome
		if o == nil {
			fmt.Fprintf(&b, "| %s | did not come to a result | | | | | | |\n", r.name)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %d | %s |\n", r.name, doctorCell(o.Doctor), findingCell(o.Demo),
			demoCell(o.Demo, "%.1f %%", 100*o.Demo.Associated), savingCell(o.Demo), truthCell(o.Truth), o.Demo.Lost+o.Truth.Lost, cmp.Or(o.Kmsg, "none"))
	}
	return b.String()
}

func doctorCell(d outcome.Doctor) string {
	switch {
	case d.Error != "":
		return d.Error
	case !d.CanRecord:
		return "cannot: " + strings.Join(d.Without, ", ")
	case len(d.Without) > 0:
		return "ok, without " + strings.Join(d.Without, ", ")
	}
	return "ok"
}

// demoCell is what a demo that was played shows.
func demoCell(d outcome.Demo, format string, args ...any) string {
	if d.Error != "" || !d.Live {
		return "-"
	}
	return fmt.Sprintf(format, args...)
}

func findingCell(d outcome.Demo) string {
	if d.Error != "" {
		return d.Error
	}
	yes := func(found []string) string {
		if len(found) == 0 {
			return "none"
		}
		return strings.Join(found, ", ")
	}
	return demoCell(d, "%s; repaired: %s", yes(d.Findings), yes(d.Repaired))
}

func savingCell(d outcome.Demo) string {
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	return demoCell(d, "%.2f -> %.2f -> %.2f", ms(d.Before), ms(d.Before-d.Saving), ms(d.After))
}

func truthCell(t outcome.Truth) string {
	if t.Error != "" {
		return t.Error
	}
	cut := ""
	if t.Cut > 0 {
		cut = fmt.Sprintf(" (%d cut)", t.Cut)
	}
	return fmt.Sprintf("%d of %d%s, %d of %d right, %d wrong", t.Matched, t.Requests, cut, t.Right, t.Exchanges, t.Wrong)
}
