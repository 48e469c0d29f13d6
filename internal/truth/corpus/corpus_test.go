package corpus

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
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

// judged holds what is said of a recording against the truth: of all that was recorded,
// without groups of facts that it has and others may lack, and as if it had begun amid load.
func judged(t *testing.T, name string, less []Blindness) (all []Judgement) {
	t.Helper()
	read := func(suffix string) []byte {
		data, err := os.ReadFile("testdata/" + name + suffix)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	rec, logged, err := Load(read(RecordingSuffix), read(TruthSuffix))
	if err != nil {
		t.Fatal(err)
	}
	judge := func(name string, rec *recording.Recording) Judgement {
		tl, err := build.Recording(rec)
		if err != nil {
			t.Fatal(err)
		}
		return Judge(name, tl, logged)
	}
	all = []Judgement{judge(name, rec)}
	if len(less) == 0 {
		return all
	}
	amid := Amid(rec)
	all = append(all, judge(name+", begun amid", amid))
	for _, b := range less {
		if rest, any := b.Of(rec); any {
			all = append(all, judge(name+", "+b.Name, rest))
		}
		if rest, any := b.Of(amid); any {
			all = append(all, judge(name+", begun amid, "+b.Name, rest))
		}
	}
	return all
}

// TestWhoseEachCallIs: which rule gives how many calls to the right request, to a wrong
// one, and to nobody. A change of the table is read before it is committed. No recording
// may fall below its floors, whose lines -update adds and never changes.
func TestWhoseEachCallIs(t *testing.T) {
	var all []Judgement
	less := Blindnesses()
	if testing.Short() {
		less = nil
	}
	for _, name := range names(t) {
		all = append(all, judged(t, name, less)...)
	}
	if len(all) < 40 {
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
	checkFloors(t, all)
	if !testing.Short() {
		checkTable(t, all)
	}
}

// checkFloors holds all recordings to the least precision and recall that each may have.
func checkFloors(t *testing.T, all []Judgement) {
	t.Helper()
	const file = "testdata/floors.json"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	floors := map[string]Floor{}
	if err := json.Unmarshal(data, &floors); err != nil {
		t.Fatal(err)
	}
	for _, j := range all {
		floor, known := floors[j.Name]
		switch {
		case known:
			for _, fault := range floor.Faults(j.Sum) {
				t.Errorf("%s: %s", j.Name, fault)
			}
		case *update:
			floors[j.Name] = FloorOf(j.Sum)
		default:
			t.Errorf("%s has no floors (-update writes them)", j.Name)
		}
	}
	if !*update {
		return
	}
	if data, err = json.MarshalIndent(floors, "", "\t"); err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkTable compares what is said of all recordings with the committed table.
func checkTable(t *testing.T, all []Judgement) {
	t.Helper()
	const file = "testdata/table.txt"
	var table bytes.Buffer
	if err := WriteTable(&table, all); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, table.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := table.String(); got != string(want) {
		t.Errorf("the table is another one (-update writes it; read the difference):\n%s", difference(string(want), got))
	}
}

// What falls below a floor is named.
func TestFloors(t *testing.T) {
	floor := FloorOf(Count{Right: 970, Wrong: 10, Nobody: 20})
	if floor != (Floor{Precision: 989, Recall: 960}) {
		t.Fatalf("the floors of 97 %% recall are %+v", floor)
	}
	for _, test := range []struct {
		of     Count
		faults int
	}{
		{Count{Right: 970, Wrong: 10, Nobody: 20}, 0},
		{Count{Right: 961, Wrong: 10, Nobody: 29}, 0},
		{Count{Right: 950, Wrong: 0, Nobody: 50}, 1},
		{Count{Right: 970, Wrong: 13, Nobody: 17}, 1},
		{Count{}, 2},
	} {
		if got := floor.Faults(test.of); len(got) != test.faults {
			t.Errorf("%+v has the faults %q, want %d", test.of, got, test.faults)
		}
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
