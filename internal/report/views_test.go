package report_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
)

// view loads one of the recordings in testdata that were made for the views.
func view(t *testing.T, name string) (*timeline.Timeline, *report.Report) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return load(t, string(text), diagnosis.Options{})
}

func TestTree(t *testing.T) {
	tl, r := view(t, "convoy.txt")
	trees := report.Trees(tl, r, report.TreeOptions{})
	text := golden(t, "convoy-tree.golden", func(w io.Writer) error { return report.TreesText(w, trees, report.TreeOptions{}) })
	if !strings.Contains(text, "PriceCache.get") {
		t.Error("the blocking method is not in the tree")
	}
	golden(t, "convoy-tree-all.golden", func(w io.Writer) error {
		return report.TreesText(w, report.Trees(tl, r, report.TreeOptions{All: true}), report.TreeOptions{All: true})
	})
}

// Views by stack account for every nanosecond of their requests.
func TestViewsByStackSumToTheRequests(t *testing.T) {
	files, err := filepath.Glob(stories + "*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, file := range append(files, "testdata/convoy.txt") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tl, r := load(t, string(text), diagnosis.Options{})
		for _, tree := range report.Trees(tl, r, report.TreeOptions{}) {
			ordinary, slow := tree.Ordinary.Unaccounted, tree.Slow.Unaccounted
			for _, row := range tree.Rows {
				ordinary += row.Ordinary.Total
				slow += row.Slow.Total
			}
			if ordinary != tree.Ordinary.Total || slow != tree.Slow.Total {
				t.Errorf("%s: the tree of %s sums to %d and %d, want %d and %d", file, tree.Endpoint, ordinary, slow, tree.Ordinary.Total, tree.Slow.Total)
			}
		}
		flames := report.AllFlames(tl, r, "")
		var want report.Duration
		for _, f := range flames {
			want += f.Total
			if sum := f.OnCPU.Total + f.Waiting.Total + f.Unaccounted; sum != f.Total {
				t.Errorf("%s: the flame graphs of %s sum to %d, want %d", file, f.Endpoint, sum, f.Total)
			}
		}
		if sum := folded(t, flames); sum != want {
			t.Errorf("%s: folded stacks sum to %d, want %d", file, sum, want)
		}
	}
}

// folded adds up the numbers of folded stacks.
func folded(t *testing.T, list []*report.Flames) (sum report.Duration) {
	t.Helper()
	var b strings.Builder
	if err := report.Folded(&b, list, report.FoldedAll); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSpace(line)
		n, err := strconv.ParseInt(line[strings.LastIndexByte(line, ' ')+1:], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		sum += report.Duration(n)
	}
	return sum
}

func TestFlames(t *testing.T) {
	tl, r := view(t, "convoy.txt")
	list := report.AllFlames(tl, r, "")
	golden(t, "convoy-folded.golden", func(w io.Writer) error { return report.Folded(w, list, report.FoldedAll) })
	golden(t, "convoy-flames.json", func(w io.Writer) error { return report.FlamesJSON(w, list) })
}

func TestUnder(t *testing.T) {
	tl, r := view(t, "convoy.txt")
	o := report.UnderOptions{Query: "PriceCache#get", Requests: 2}
	u := report.NewUnder(tl, r, o)
	golden(t, "convoy-under.golden", func(w io.Writer) error { return report.UnderText(w, u, report.TextOptions{}) })
	golden(t, "convoy-under.json", func(w io.Writer) error { return report.UnderJSON(w, u) })
	if u := report.NewUnder(tl, r, report.UnderOptions{Query: "Cache.get"}); len(u.Functions) != 0 {
		t.Errorf("Cache.get is taken for %v", u.Functions)
	}
	if got := report.Similar(tl, "Cache.get"); !slices.Equal(got, []string{"PriceCache.get", "PriceServlet.doGet"}) {
		t.Errorf("like Cache.get: %v", got)
	}
}

// The slowest requests of the convoy: what they waited for, who held it, and what that thread did meanwhile, with
// code if it was found.
func TestShowWaits(t *testing.T) {
	tl, _ := view(t, "convoy.txt")
	golden(t, "convoy-show.golden", func(w io.Writer) error {
		return report.ShowText(w, tl, report.Filter{Slowest: 2}, report.TextOptions{Source: javaSource})
	})
	golden(t, "convoy-show.json", func(w io.Writer) error { return report.ShowJSON(w, tl, report.Filter{Slowest: 1}) })
}

// TestWhose checks the answer, the rule that decided, and the other candidates for a call.
func TestWhose(t *testing.T) {
	tl, _ := view(t, "convoy.txt")
	whose, err := report.NewWhose(tl, 0)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "convoy-whose.golden", func(w io.Writer) error { return report.WhoseText(w, whose, report.TextOptions{}) })
	golden(t, "convoy-whose.json", func(w io.Writer) error { return report.WhoseJSON(w, whose) })
	if _, err := report.NewWhose(tl, len(tl.Calls)); err == nil || !strings.Contains(err.Error(), "numbered from 0 to") {
		t.Errorf("of a call that there is none of: %v", err)
	}
}
