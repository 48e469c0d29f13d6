package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
)

// TestEveryReportKeepsTheContract reads back the JSON of every available recording.
func TestEveryReportKeepsTheContract(t *testing.T) {
	files, err := filepath.Glob(stories + "*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, f := range files {
		t.Run(strings.TrimPrefix(filepath.ToSlash(f), stories), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var first, second bytes.Buffer
			_, r := load(t, string(text), diagnosis.Options{})
			_, again := load(t, string(text), diagnosis.Options{})
			if err := report.WhyJSON(&first, r); err != nil {
				t.Fatal(err)
			}
			if err := report.WhyJSON(&second, again); err != nil {
				t.Fatal(err)
			}
			if first.String() != second.String() {
				t.Error("two reports of one recording differ")
			}
			var back report.Report
			if err := json.Unmarshal(first.Bytes(), &back); err != nil {
				t.Fatal(err)
			}
			keepsContract(t, &back)
		})
	}
}

func keepsContract(t *testing.T, r *report.Report) {
	t.Helper()
	if r.Version != 2 || r.Recording.Events == 0 || r.Recording.Seconds <= 0 {
		t.Errorf("version %d, recording %+v", r.Version, r.Recording)
	}
	for _, e := range r.Endpoints {
		p50, p99 := e.Unaccounted.P50Share, e.Unaccounted.P99Share
		for _, c := range e.Causes {
			p50 += c.P50Share
			p99 += c.P99Share
		}
		if p50 != 1_000_000 || p99 != 1_000_000 || e.Unaccounted.P50Share < 0 || e.Unaccounted.P99Share < 0 {
			t.Errorf("%s: shares sum to %s and %s", e.Name, p50, p99)
		}
		if e.P50 > e.P90 || e.P90 > e.P99 {
			t.Errorf("%s: quantiles %d %d %d", e.Name, e.P50, e.P90, e.P99)
		}
	}
	var ids []string
	for _, f := range r.Findings {
		ids = append(ids, f.ID)
		if f.Title == "" || f.Place == "" || f.Fix == "" || len(f.Evidence) == 0 {
			t.Errorf("finding %+v is not complete", f)
		}
		if f.Impact.P50Saving < 0 || f.Impact.P99Saving < 0 {
			t.Errorf("%s saves %d and %d", f.ID, f.Impact.P50Saving, f.Impact.P99Saving)
		}
	}
	for _, f := range slices.Concat(r.Leads, r.Minor) {
		ids = append(ids, f.ID)
		if f.Why == "" || f.Place == "" || len(f.Evidence) == 0 {
			t.Errorf("lead or minor %+v is not complete", f)
		}
	}
	for _, f := range r.Leads {
		if f.Title == "" || f.Decide == "" {
			t.Errorf("lead %+v is not complete", f)
		}
	}
	for _, f := range slices.Concat(r.Findings, r.Leads, r.Minor) {
		for _, v := range [][3]report.Duration{{f.Impact.MeanLow, f.Impact.MeanSaving, f.Impact.MeanHigh}, {f.Impact.P50Low, f.Impact.P50Saving, f.Impact.P50High}, {f.Impact.P99Low, f.Impact.P99Saving, f.Impact.P99High}} {
			if v[0] > v[1] || v[1] > v[2] {
				t.Errorf("%s: the interval does not hold the saving: %v", f.ID, v)
			}
		}
	}
	for _, o := range r.Refuted {
		ids = append(ids, o.ID)
		if len(o.Evidence) < 2 {
			t.Errorf("%s is refuted without numbers", o.ID)
		}
		if !slices.ContainsFunc(o.Evidence, func(e report.Evidence) bool { return e.Bound != nil }) {
			t.Errorf("%s is refuted without a bound", o.ID)
		}
	}
	for _, o := range r.Undecided {
		ids = append(ids, o.ID)
		if o.Missing == "" {
			t.Errorf("%s is undecided for no reason", o.ID)
		}
	}
	for _, h := range hypotheses.All() {
		if !slices.Contains(ids, h.ID) {
			t.Errorf("%s got no verdict", h.ID)
		}
	}
}
