package report_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

func compared(t *testing.T, file string) diagnosis.Compared {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recording.ParseText(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range recording.Validate(rec) {
		t.Error(problem)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	return diagnosis.Compared{Timeline: tl, Diagnosis: diagnosis.Diagnose(tl, hypotheses.All(), diagnosis.Options{})}
}

// A benchmark scans on one goroutine; in production ten threads serve many, and each syncs. The program that ran the
// benchmark used most CPU, but the comparison is not about it.
func TestDiffOfWhatServesNothing(t *testing.T) {
	d := report.NewDiff(diagnosis.Compare(compared(t, "testdata/bench.txt"), compared(t, "testdata/prod.txt")))
	if d.A.Program != "store.test" || d.B.Program != "store" {
		t.Errorf("compared %s with %s", d.A.Program, d.B.Program)
	}
	golden(t, "bench-prod.golden", func(w io.Writer) error { return report.DiffText(w, d, report.TextOptions{}) })
	golden(t, "bench-prod.json", func(w io.Writer) error { return report.DiffJSON(w, d) })
}

// A recording compared with itself: nothing is missing.
func TestDiffWithItself(t *testing.T) {
	d := report.NewDiff(diagnosis.Compare(compared(t, "testdata/prod.txt"), compared(t, "testdata/prod.txt")))
	if len(d.Unexercised)+len(d.UnseenCode)+len(d.Findings) != 0 || len(d.Measures) == 0 {
		t.Errorf("differs from itself: %+v %+v %+v", d.Unexercised, d.UnseenCode, d.Findings)
	}
}

// Before and after a fix: the finding is gone, and its predicted saving is shown next to the actual one.
func TestDiffOfAFix(t *testing.T) {
	d := report.NewDiff(diagnosis.Compare(compared(t, stories+"disk/file-supported.txt"), compared(t, stories+"disk/background-refuted.txt")))
	if len(d.Findings) != 1 || d.Findings[0].Change != "gone" || d.Findings[0].ID != "disk" {
		t.Errorf("findings %+v", d.Findings)
	}
	golden(t, "fix.golden", func(w io.Writer) error { return report.DiffText(w, d, report.TextOptions{}) })
}

// A finding is gone only if the other recording could show it: not if that one had too little load, nor if the
// finding is undecided there.
func TestDiffWithOneThatCannotTell(t *testing.T) {
	found := compared(t, stories+"disk/file-supported.txt")
	for _, c := range []struct{ other, missing string }{
		{"disk/undecided.txt", "not recorded: sched"},
		{"disk/background-refuted.txt", ""},
	} {
		other := compared(t, stories+c.other)
		for _, d := range []*report.Diff{report.NewDiff(diagnosis.Compare(found, other)), report.NewDiff(diagnosis.Compare(other, found))} {
			f := d.Findings[0]
			if len(d.Findings) != 1 || f.Missing != c.missing || (f.Change == "undecided") != (c.missing != "") {
				t.Errorf("%s: findings %+v, want missing %q", c.other, d.Findings, c.missing)
			}
		}
	}
	golden(t, "fix-few.golden", func(w io.Writer) error {
		few := compared(t, stories+"disk/background-refuted.txt")
		few.Diagnosis = diagnosis.Diagnose(few.Timeline, hypotheses.All(), diagnosis.Options{MinRequests: 100})
		return report.DiffText(w, report.NewDiff(diagnosis.Compare(found, few)), report.TextOptions{})
	})
}
