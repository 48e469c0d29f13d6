package report_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/recording"
)

// What the answer recommends to look at first is not called worth little: it is printed completely, with its fix.
func TestWhatDominatesIsSaidWhole(t *testing.T) {
	text, err := os.ReadFile(stories + "cpu-bound/lead.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, r := load(t, string(text), diagnosis.Options{})
	r.Leads, r.Minor = nil, []report.Finding{
		{ID: "disk", Title: "Requests wait for a disk", Why: "without it, p99 falls by 1 ms (0 ms to 3 ms)", Fix: "write less"},
		{ID: "page-fault", Title: "Requests wait for memory", Why: "without it, the mean falls by 1 us", Fix: "touch less"},
		{ID: "gc-pause", Title: "The collector stops requests", Why: "without it, the mean falls by 2 ms", Fix: "allocate less", Impact: report.Impact{MeanSaving: 2_000_000, MeanHigh: 5_000_000, Unsure: true}},
	}
	r.Dominant = []report.Dominant{{ID: "disk", Endpoint: "GET /prices/{}", SlowShare: 600_000}}
	var out bytes.Buffer
	if err := report.Text(&out, r, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"look at this first: requests wait for a disk (disk), 60.0 %",
		"minor disk: Requests wait for a disk.\n      Without it, p99 falls by 1 ms (0 ms to 3 ms). If it is that: write less.\n",
		"Minor: page-fault (next to nothing)\n",
		"May be chance, record for at least 51 s: gc-pause",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is expected\n%s", want, out.String())
		}
	}
}

// If nothing stands out, a result that may be chance and is half of p99 is named at once, and printed completely.
func TestWhatMayBeChanceIsNamed(t *testing.T) {
	text, err := os.ReadFile(stories + "cpu-bound/lead.txt")
	if err != nil {
		t.Fatal(err)
	}
	for high, named := range map[recording.Duration]bool{9_000_000: true, 3_000_000: false} {
		_, r := load(t, string(text), diagnosis.Options{})
		f := r.Leads[0] // it has the quantiles of its endpoint: p99 is 10.4 ms
		f.ID, f.Why, f.Impact = "gc-pause", "the collector stops requests", report.Impact{P99Saving: 2_000_000, P99High: high, Unsure: true}
		r.Findings, r.Leads, r.Dominant, r.Minor = nil, nil, nil, []report.Finding{f}
		var out bytes.Buffer
		if err := report.Text(&out, r, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if first := strings.Contains(strings.Join(strings.Fields(out.String()), " "), "; gc-pause (p99, now 10.4 ms, would fall by between 0 ms and 9.00 ms) may be chance."); first != named {
			t.Errorf("p99 may fall by %d ns: named %v\n%s", high, first, out.String())
		}
		if !strings.Contains(out.String(), "May be chance, record for at least 51 s: gc-pause: the collector stops requests\n") {
			t.Errorf("what it takes is not said\n%s", out.String())
		}
	}
}
