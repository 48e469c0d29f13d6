package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
)

// named returns the ids that the first lines of a report recommend to look at.
func named(text string) (ids []string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, words := range []string{"but is not proven: ", "not proven (a lead below): ", "Nothing is proven; look at this first: ", "Look at this next: ", "use the processors: "} {
		if m := regexp.MustCompile(regexp.QuoteMeta(words) + `.*?\(([a-z-]+)\)`).FindStringSubmatch(text); m != nil {
			ids = append(ids, m[1])
		}
	}
	return ids
}

// The report of every recording that is bundled, or belongs to a case or a hypothesis's story, fits a screen and cuts
// no sentence; only names in a table may be cut. What its first lines recommend to look at is printed in full.
func TestEveryReportFitsOneScreen(t *testing.T) {
	var files []string
	for _, glob := range []string{"../../cases/*/recording-*.txt", "../../cmd/dwell/bundled/*.txt", stories + "*/supported.txt", stories + "*/lead.txt", "testdata/convoy.txt"} {
		some, err := filepath.Glob(glob)
		if err != nil || len(some) == 0 {
			t.Fatalf("no recording is %s: %v", glob, err)
		}
		files = append(files, some...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, r := load(t, string(text), diagnosis.Options{})
		var out bytes.Buffer
		if err := report.Text(&out, r, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, id := range named(out.String()) {
			if !strings.Contains(out.String(), "\nlead  "+id) && !strings.Contains(out.String(), "\nminor "+id) && !strings.Contains(out.String(), "(undecided:") {
				t.Errorf("%s: %s is named and not printed in full\n%s", file, id, out.String())
			}
		}
		lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
		if len(lines) > 40 {
			t.Errorf("%s: %d lines do not fit one screen\n%s", file, len(lines), out.String())
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > 100 {
				t.Errorf("%s: %d columns: %s", file, n, l)
			}
			if strings.HasSuffix(l, "...") {
				t.Errorf("%s: cut: %s", file, l)
			}
		}
	}
}
