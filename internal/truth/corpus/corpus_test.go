package corpus

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

var update = flag.Bool("update", false, "write the table anew")

// names are the recordings of the corpus.
func names(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*" + RecordingSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		all = append(all, strings.TrimSuffix(filepath.Base(f), RecordingSuffix))
	}
	return all
}

// judged holds what is said of a recording against the truth: of all that was recorded, and
// without groups of facts that it has and others may lack.
func judged(t *testing.T, name string) (all []Judgement) {
	t.Helper()
	packed, err := os.ReadFile("testdata/" + name + RecordingSuffix)
	if err != nil {
		t.Fatal(err)
	}
	packedTruth, err := os.ReadFile("testdata/" + name + TruthSuffix)
	if err != nil {
		t.Fatal(err)
	}
	rec, logged, err := Load(packed, packedTruth)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(name string, rec *recording.Recording) {
		tl, err := timeline.Build(rec)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Judge(name, tl, logged))
	}
	judge(name, rec)
	for _, b := range Blindnesses() {
		if less, any := b.Of(rec); any {
			judge(name+", "+b.Name, less)
		}
	}
	return all
}

// TestWhoseEachCallIs: which rule gives how many calls to the right request, to a wrong
// one, and to nobody. A change of the table is read before it is committed: no recording
// may have more wrong calls, and none may lose one right call in a hundred.
func TestWhoseEachCallIs(t *testing.T) {
	var all []Judgement
	for _, name := range names(t) {
		all = append(all, judged(t, name)...)
	}
	if len(all) < 20 {
		t.Fatalf("only %d recordings are judged", len(all))
	}
	for _, j := range all {
		if j.Sum.All() < 100 {
			t.Errorf("%s: only %d calls are compared", j.Name, j.Sum.All())
		}
		for rule := range j.By {
			if timeline.RuleText(rule) == "" {
				t.Errorf("%s: a rule %q decided, which nothing explains", j.Name, rule)
			}
		}
	}
	var table bytes.Buffer
	if err := WriteTable(&table, all); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/table.txt", table.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/table.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := table.String(); got != string(want) {
		t.Errorf("the table is another one (-update writes it; read the difference):\n%s", difference(string(want), got))
	}
}

// difference are the lines that only one of two texts has.
func difference(want, got string) string {
	var all strings.Builder
	only := func(sign, of, other string) {
		for line := range strings.Lines(of) {
			if !strings.Contains(other, line) {
				all.WriteString(sign + line)
			}
		}
	}
	only("-", want, got)
	only("+", got, want)
	return all.String()
}
