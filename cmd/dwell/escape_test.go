package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/getdwell/dwell/recording"
)

// commands are the control sequences that a service might put into every name it controls.
const commands = "\x1b]0;t\x07\x1b[2J\u009b31m\x9b\x7f\u202e\u2066\u200b\ufeff\u2028\xff\r\n"

// renamer puts them into every text of a fact.
type renamer struct{}

func (renamer) Int(string, *int64)            {}
func (renamer) Enum(string, []string, *int64) {}
func (renamer) Str(name string, v *string) {
	if *v != "" && name != "hook" && name != "hooks" {
		*v += commands
	}
}

// The service, its peers or the author of a recording choose the names in it. Neither a terminal nor a program that
// reads JSON must receive control sequences from them.
func TestNoViewShowsACommand(t *testing.T) {
	for _, base := range []string{"bundled/bad.txt", "../../internal/report/testdata/convoy.txt"} {
		text, err := os.ReadFile(base)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := recording.Load(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "rec")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := recording.NewWriter(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range rec.Events {
			e.Fact.Visit(renamer{})
			if err := w.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		pageShowsNoCommand(t, path)
		for _, view := range views() {
			args := strings.Fields(strings.NewReplacer("REC", path, "SOUND", path).Replace(strings.Join(view, " ")))
			c := newConsole()
			execute(t.Context(), args, c.world())
			if c.out.Len()+c.err.Len() == 0 {
				t.Errorf("%v: shows nothing", view)
			}
			shownPlainly(t, view, c.out.String()+c.err.String())
			if strings.Contains(strings.Join(view, " "), "--json") {
				for line := range strings.Lines(c.out.String()) {
					if strings.HasPrefix(line, "{") && strings.HasSuffix(line, "}\n") && !json.Valid([]byte(line)) {
						t.Errorf("%v: no JSON: %.200s", view, line)
					}
				}
			}
		}
	}
}

// pageShowsNoCommand checks a recording's page: its program is dwell's own, but its model is not.
func pageShowsNoCommand(t *testing.T, path string) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.html")
	c := newConsole()
	if status := execute(t.Context(), []string{"report", path, "-o", page}, c.world()); status != exitDone {
		t.Fatalf("report: status %d: %s", status, c.err.String())
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	shownPlainly(t, []string{"report"}, strings.ReplaceAll(string(html), "\t", " "))
	if !strings.Contains(string(html), `\\x1b]0;t`) {
		t.Error("report: the names that were changed are not on the page")
	}
}

// shownPlainly checks that a text has lines with visible characters only.
func shownPlainly(t *testing.T, view []string, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%v: what is shown is no UTF-8", view)
	}
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) && r != 0xa0 {
			at := strings.IndexRune(text, r)
			t.Errorf("%v: shows %U: %q", view, r, text[max(0, at-40):min(len(text), at+40)])
			return
		}
	}
}
