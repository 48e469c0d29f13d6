// Package cases tests the committed recordings of every case against its answer key,
// without root and without the components of the case.
package cases

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/cases/expect"
	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

func TestRecordingsMeetTheirAnswerKeys(t *testing.T) {
	keys, err := filepath.Glob("*/expect.txt")
	if err != nil || len(keys) == 0 {
		t.Fatalf("no case has an answer key: %v", err)
	}
	for _, key := range keys {
		dir := os.DirFS(path.Dir(key))
		pairs, err := fs.Glob(dir, "recording-*bad.txt")
		if err != nil || len(pairs) == 0 {
			t.Errorf("%s: no recording beside it: %v", key, err)
		}
		for _, bad := range pairs {
			pair := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(bad, "recording"), "bad.txt"), "-")
			t.Run(path.Join(path.Dir(key), pair), func(t *testing.T) { checkPair(t, dir, pair) })
		}
	}
}

// checkPair checks the recordings of a switch; a case with one does not name it.
func checkPair(t *testing.T, dir fs.FS, pair string) {
	name := strings.TrimSuffix("recording-"+pair, "-")
	bad, fixed := diagnose(t, dir, name+"-bad.txt"), diagnose(t, dir, name+"-fixed.txt")
	at := path.Join(pair, "recording")
	check := func(t *testing.T, bad, fixed *expect.Diagnosis) []expect.Outcome {
		return check(t, dir, map[string]*expect.Diagnosis{"bad/" + at: bad, "fixed/" + at: fixed})
	}
	outcomes := check(t, bad, fixed)
	if len(outcomes) < 2 {
		t.Errorf("only %d expectations speak of the recordings", len(outcomes))
	}
	for _, o := range outcomes {
		if o.Problem != "" {
			t.Errorf("expect.txt:%d: %s\n%s", o.Line, o.Text, o.Problem)
		}
	}
	// The key can fail: it tells the variants apart.
	failed := 0
	for _, o := range check(t, fixed, bad) {
		if o.Problem != "" {
			failed++
		}
	}
	if failed < 2 {
		t.Errorf("with the recordings exchanged only %d of %d expectations fail", failed, len(outcomes))
	}
}

func check(t *testing.T, dir fs.FS, diagnoses map[string]*expect.Diagnosis) []expect.Outcome {
	t.Helper()
	file, err := dir.Open("expect.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	key, err := expect.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	return expect.Check(key, expect.Results{Diagnoses: diagnoses})
}

// maxRecording keeps what is committed reviewable.
const maxRecording = 2 << 20

func load(t *testing.T, dir fs.FS, name string) *recording.Recording {
	t.Helper()
	text, err := fs.ReadFile(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > maxRecording {
		t.Errorf("%s has %d bytes, more than %d", name, len(text), maxRecording)
	}
	rec, err := recording.Load(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, problem := range recording.Validate(rec) {
		t.Errorf("%s: %v", name, problem)
	}
	return rec
}

// diagnose is what `dwell why --json` does.
func diagnose(t *testing.T, dir fs.FS, name string) *expect.Diagnosis {
	t.Helper()
	tl, err := build.Recording(load(t, dir, name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var out bytes.Buffer
	r := report.Build(diagnosis.Diagnose(tl, hypotheses.All(), diagnosis.Options{}), tl)
	if err := report.WhyJSON(&out, r); err != nil {
		t.Fatal(err)
	}
	d, err := expect.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
