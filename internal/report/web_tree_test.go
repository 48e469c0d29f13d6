package report_test

import (
	"os"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
)

// All of a request's time is in its call tree, by the function it was spent beneath; a
// function's time is what it has in columns.
func TestTreeOfARequestSumsToIt(t *testing.T) {
	text, err := os.ReadFile("testdata/convoy.txt")
	if err != nil {
		t.Fatal(err)
	}
	tl, _ := load(t, string(text), diagnosis.Options{})
	detail, trees := report.NewWebDetail(tl, nil), 0
	for i := range tl.Requests {
		r := &tl.Requests[i]
		tree := detail.Tell(timeline.RequestID(i)).Request.Tree
		if tree == nil {
			t.Fatalf("request %d has no tree", i)
		}
		sum := r.Unaccounted
		for _, row := range tree.Rows {
			sum += row.Time.Total
			columns(t, row)
			trees += len(row.Rows)
		}
		if sum != r.Duration() {
			t.Errorf("request %d: its rows sum to %d, it took %d", i, sum, r.Duration())
		}
	}
	if trees == 0 {
		t.Error("no function called another")
	}
}

func columns(t *testing.T, r *report.RequestRow) {
	var below report.Duration
	for _, b := range r.Rows {
		below += b.Time.Total
		columns(t, b)
	}
	c := &r.Time
	if all := c.CPU + c.Lock + c.GC + c.IO + c.Remote + c.Other; all != c.Total || below > c.Total {
		t.Errorf("%s: columns %d, total %d, below it %d", r.Full, all, c.Total, below)
	}
}
