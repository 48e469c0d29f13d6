package main

import (
	"testing"

	"github.com/getdwell/dwell/internal/report"
)

func TestContrastShowsThePredictionBesideWhatCame(t *testing.T) {
	bad := &report.Report{
		Requests: report.Requests{P50: 4_900_000, P99: 12_000_000},
		Findings: []report.Finding{
			{ID: "connection-churn", Impact: report.Impact{P50Saving: 4_000_000, P99Saving: 9_500_000}},
			{ID: "slow-dns", Impact: report.Impact{P50Saving: 100_000, P99Saving: 500_000}},
		},
	}
	fixed := &report.Report{Requests: report.Requests{P50: 750_000, P99: 2_100_000}}
	want := predict(bad)
	if got := want.String(); got != "p50 800 us, p99 2.00 ms without connection-churn and slow-dns" {
		t.Error(got)
	}
	const table = `                                p50        p99
as it was                   4.90 ms    12.0 ms
predicted after the fix      800 us    2.00 ms
measured after the fix       750 us    2.10 ms
`
	if got := contrast(bad, fixed, want); got != table {
		t.Errorf("got\n%swant\n%s", got, table)
	}
	if got := predict(fixed).String(); got != "no saving, as there is no finding" {
		t.Error(got)
	}
}
