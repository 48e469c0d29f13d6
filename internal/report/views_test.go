package report_test

import (
	"io"
	"os"
	"path/filepath"
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
	trees := report.Trees(tl, r, "")
	text := golden(t, "convoy-tree.golden", func(w io.Writer) error { return report.TreesText(w, trees, report.TreeOptions{}) })
	if !strings.Contains(text, "PriceCache.get") {
		t.Error("the blocking method is not in the tree")
	}
	golden(t, "convoy-tree-all.golden", func(w io.Writer) error {
		return report.TreesText(w, trees, report.TreeOptions{All: true})
	})
}
