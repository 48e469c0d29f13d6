package report_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
)

// A call tree contains all of a request's time, by the function beneath which it was spent; the columns of a function
// sum to its time.
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
		sum := r.Unaccounted()
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

// A page file contains the same about a function as dwell show --under prints.
func TestPageTellsOfTimeUnderFunctions(t *testing.T) {
	tl, _ := view(t, "convoy.txt")
	d := diagnosis.Diagnose(tl, hypotheses.All(), diagnosis.Options{})
	r := report.Build(d, tl)
	page := report.NewWebPage(r, d, tl, report.WebOptions{})
	found := false
	for _, u := range page.Under {
		want := report.NewUnder(tl, r, report.UnderOptions{Query: u.Query, Endpoint: u.Endpoints[0].Name, Requests: 3})
		if !reflect.DeepEqual(u, want) {
			t.Errorf("%s: %+v, want %+v", u.Query, u, want)
		}
		found = found || u.Query == "PriceCache.get" && u.Endpoints[0].All.Entered.Count == 17
	}
	if !found {
		t.Errorf("PriceCache.get is not among %d functions", len(page.Under))
	}
	if live := report.NewWebPage(r, d, tl, report.WebOptions{Live: true}); len(live.Under) > 0 {
		t.Error("a served page tells of functions that nobody asked for")
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
