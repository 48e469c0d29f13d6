package main

import (
	"context"
	"fmt"

	"github.com/getdwell/dwell/internal/demo"
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
)

// text runs both acts and describes the results.
func (s *stage) text(ctx context.Context, g *globals) error {
	out := s.w.out
	if s.live {
		fmt.Fprintf(out, "A shop answers GET /products/{id} from its store, with two calls over HTTPS.\nRecording it for %s, at %d requests/s ...\n", s.o.length, demoRate)
	}
	bad, err := s.play(ctx, demo.Bad)
	if err != nil {
		return err
	}
	if s.live {
		fmt.Fprintf(out, "\nThe client sees p50 %s, p99 %s. The store's own metrics say p50 %s, p99 %s a query.\nWhere is the rest?\n\n",
			ns(bad.client.Service50), ns(bad.client.Service99), ns(bad.store.P50), ns(bad.store.P99))
	}
	if err := bad.print(s.w, g, false); err != nil {
		return err
	}
	want := predict(bad.report)
	fmt.Fprintf(out, "\nPredicted, before the fix was tried: %s\n", want)
	if s.live {
		fmt.Fprintf(out, "Now the same shop with its HTTP client repaired, for %s ...\n", s.o.length)
	}
	fixed, err := s.play(ctx, demo.Fixed)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := fixed.print(s.w, g, false); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s", contrast(bad.report, fixed.report, want))
	if s.o.keep != "" && s.live {
		fmt.Fprintf(out, "\nThe recordings are in %s: try dwell show %s/bad.dwell\n", s.dir, s.dir)
	}
	return nil
}

// prediction is what the findings together would save.
type prediction struct {
	fixes    []string // ids of the findings
	p50, p99 report.Duration
}

func predict(r *report.Report) prediction {
	p := prediction{p50: r.Requests.P50, p99: r.Requests.P99}
	for i := range r.Findings {
		f := &r.Findings[i]
		p.fixes = append(p.fixes, f.ID)
		p.p50 -= f.Impact.P50Saving
		p.p99 -= f.Impact.P99Saving
	}
	return p
}

func (p prediction) String() string {
	if len(p.fixes) == 0 {
		return "no saving, as there is no finding"
	}
	return fmt.Sprintf("p50 %s, p99 %s without %s", ns(int64(p.p50)), ns(int64(p.p99)), joined(p.fixes))
}

func joined(list []string) string {
	text := list[0]
	for _, s := range list[1:] {
		text += " and " + s
	}
	return text
}

// contrast is the table of the state before, the prediction and the result.
func contrast(bad, fixed *report.Report, want prediction) string {
	row := func(name string, p50, p99 report.Duration) string {
		return fmt.Sprintf("%-24s %10s %10s\n", name, ns(int64(p50)), ns(int64(p99)))
	}
	return fmt.Sprintf("%-24s %10s %10s\n", "", "p50", "p99") +
		row("as it was", bad.Requests.P50, bad.Requests.P99) +
		row("predicted after the fix", want.p50, want.p99) +
		row("measured after the fix", fixed.Requests.P50, fixed.Requests.P99)
}

func ns(n int64) string { return diagnosis.Human(report.Duration(n)) }
