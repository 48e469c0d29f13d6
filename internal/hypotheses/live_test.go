package hypotheses

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// TestLive diagnoses cuts of recordings of live services. The lines that begin with "#>" hold the verdict on every
// hypothesis, and the number on which it rests.
func TestLive(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "live", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no live recordings", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := recording.ParseText(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			tl, err := build.Recording(rec)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range timeline.Validate(tl) {
				t.Error("timeline: ", problem)
			}
			said := sayAll(diagnosis.Diagnose(tl, All(), diagnosis.Options{}))
			golden, rest := split(string(text))
			if *update {
				if err := os.WriteFile(f, []byte(join(said, rest)), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if golden != said {
				t.Errorf("said:\n%s\nexpected (-update accepts it):\n%s", said, golden)
			}
		})
	}
}

// sayAll writes the verdicts of a diagnosis, one line each.
func sayAll(d *diagnosis.Diagnosis) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests, p50 %d us, p99 %d us\n", len(d.Overall.Requests), d.Overall.P50/1000, d.Overall.P99/1000)
	for _, f := range d.Findings {
		fmt.Fprintf(&b, "supported %s: mean -%d us, p50 -%d us, p99 -%d us", f.ID, f.Impact.Mean/1000, f.Impact.P50/1000, f.Impact.P99/1000)
		list(&b, f.Evidence[:1])
	}
	for _, f := range d.Leads {
		fmt.Fprintf(&b, "lead %s (%s): mean -%d us", f.ID, f.Why, f.Impact.Mean/1000)
		list(&b, f.Evidence[:1])
	}
	for _, f := range d.Minor {
		fmt.Fprintf(&b, "minor %s: %s\n", f.ID, f.Why)
	}
	for _, o := range d.Refuted {
		fmt.Fprintf(&b, "refuted %s: %s\n", o.ID, o.Why)
	}
	for _, o := range d.Undecided {
		fmt.Fprintf(&b, "undecided %s: %s\n", o.ID, o.Missing)
	}
	return b.String()
}
