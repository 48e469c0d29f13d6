package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// The report is the same for any number of workers.
func TestReportOfSeveralWorkers(t *testing.T) {
	files, err := filepath.Glob("../../cases/*/recording-*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings: %v", len(files), err)
	}
	by := workersOn(3)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if one, several := reportBy(t, recording.Workers{}, file), reportBy(t, by, file); !bytes.Equal(one, several) {
				t.Errorf("one worker reports\n%s\nseveral report\n%s", one, several)
			}
		})
	}
}

func reportBy(t *testing.T, by recording.Workers, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recording.LoadBy(by, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.By(by, rec)
	if err != nil {
		t.Fatal(err)
	}
	d := diagnosis.DiagnoseBy(by, tl, hypotheses.All(), diagnosis.Options{})
	var out bytes.Buffer
	if err := report.WhyJSON(&out, report.Build(d, tl)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A defect in any worker ends the command with its own exit status and prints where it happened.
func TestDefectsHaveAStatusOfTheirOwn(t *testing.T) {
	var said bytes.Buffer
	w := world{err: &said, out: failing{}, getenv: environment()}
	status := execute(t.Context(), []string{"why", "bundled/bad.txt"}, w)
	if status != exitDefect || !strings.Contains(said.String(), "no such place") || !strings.Contains(said.String(), "workers_test.go") {
		t.Errorf("status %d, said %s", status, said.String())
	}
}

// failing is a writer with a defect that one of several workers hits.
type failing struct{}

func (failing) Write([]byte) (int, error) {
	workersOn(3).Do(9, func(_, i int) {
		if i == 4 {
			panic("no such place")
		}
	})
	return 0, nil
}
