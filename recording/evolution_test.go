package recording

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated part of docs/recording-format.md, and testdata")

// Files carry their own schema: facts that another version wrote under a kind's name are read by its columns.
func TestFilesOfOtherVersions(t *testing.T) {
	num := func(name string, v int64) Field { return Field{Name: name, Int: v} }
	str := func(name, v string) Field { return Field{Name: name, IsStr: true, Str: v} }
	for _, c := range []struct {
		what   string
		name   string
		fields []Field
		want   Fact
	}{
		{"fewer fields", "sample", []Field{num("thread", 4)}, &Sample{Thread: 4}},
		{"one field more", "sample", []Field{num("thread", 4), num("goroutine", 9), str("more", "x")}, &Sample{Thread: 4, Goroutine: 9}},
		{"another order", "sample", []Field{num("goroutine", 9), num("thread", 4)}, &Sample{Thread: 4, Goroutine: 9}},
		{"another type", "sample", []Field{num("goroutine", 9), str("thread", "main")}, &Sample{Goroutine: 9}},
		{"an enum by name", "off", []Field{str("state", "disk"), num("thread", 4)}, &Off{Thread: 4, State: OffDisk}},
		{"an enum value unheard of", "off", []Field{str("state", "frozen"), num("thread", 4)}, &Off{Thread: 4}},
		{"another kind", "probe", []Field{num("n", -1), str("s", "")}, &UnknownFact{"probe", []Field{num("n", -1), str("s", "")}}},
	} {
		written := []Event{{5, &UnknownFact{c.name, c.fields}}}
		got := load(t, encode(t, written)).Events
		if diff := cmp.Diff([]Event{{5, c.want}}, got); diff != "" {
			t.Errorf("%s: %s", c.what, diff)
		}
	}
}

// The files in testdata were written by earlier versions and must stay readable. Add one when the format changes;
// never rewrite one that was released.
func TestFilesOfEarlierVersionsStayReadable(t *testing.T) {
	const text, binary = "testdata/v1.txt", "testdata/v1.dwell"
	if *update {
		if _, err := os.Stat(binary); err == nil {
			t.Fatal(binary + " exists")
		}
		rec := randomRecording(2, 120)
		for path, b := range map[string][]byte{text: format(t, rec), binary: encode(t, rec.Events)} {
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("testdata/v1.*")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(format(t, load(t, b)))); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

// kindTable is the table of kinds and fields in the documentation.
func kindTable() string {
	var b strings.Builder
	b.WriteString("| kind | number | fields |\n|---|---|---|\n")
	for _, k := range Kinds() {
		var fields []string
		for _, c := range shapeOf(k.Name, k.New()).columns {
			f := "`" + c.name + "`"
			switch c.typ {
			case typeEnum:
				f += " (" + strings.Join(c.names, ", ") + ")"
			case typeStr:
				f += " string"
			}
			fields = append(fields, f)
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", k.Name, k.Kind, strings.Join(fields, ", "))
	}
	return b.String()
}

func TestKindsAreDocumented(t *testing.T) {
	const path, from, to = "../docs/recording-format.md", "<!-- kinds: generated -->\n", "<!-- end -->"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), from)
	old, after, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatal("no marks around the table of kinds")
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+from+kindTable()+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(kindTable(), old); diff != "" {
		t.Errorf("docs/recording-format.md is out of date (go test ./recording -run Documented -update): %s", diff)
	}
}

// Numbers in the table are those of the constants, in order and without gaps.
func TestKindsAreNumbered(t *testing.T) {
	for i, k := range Kinds() {
		if f := k.New(); int(k.Kind) != i+1 || f.Kind() != k.Kind {
			t.Errorf("%s has number %d at place %d, and its fact says %d", k.Name, k.Kind, i+1, f.Kind())
		}
	}
}
