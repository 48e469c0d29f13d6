package report_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
)

// javaSource is what a source root might hold.
func javaSource(file string, from, to int64) []string {
	if file != "com/shop/PriceCache.java" {
		return nil
	}
	lines := []string{41: "", 42: "  synchronized Price get(String sku) {", 43: "    if (token.expired())", 44: "      token = credentials.refresh();", 45: "  }"}
	return lines[from:min(to+1, int64(len(lines)))]
}

// The convoy of testdata/convoy.txt in the middle of its longest span:
//
//	exec-1 |--lock--fetch .......................--|
//	exec-2      |---- waits for exec-1 ------------|--|
//	exec-3         |- waits for exec-1, then exec-2 --|--|
//	                        ^ the dump
func TestDumpOfAConvoy(t *testing.T) {
	tl, _ := view(t, "convoy.txt")
	at, n := report.MostBlocked(tl)
	if n != 4 {
		t.Fatalf("%d threads blocked at once, want 4", n)
	}
	d := report.NewDump(tl, report.DumpOptions{At: at, Chosen: "where most were blocked", Source: javaSource})
	golden(t, "convoy-threads.golden", func(w io.Writer) error {
		return report.DumpText(w, d, report.DumpTextOptions{Who: "java (pid 100)", Frames: 4})
	})
	golden(t, "convoy-threads.json", func(w io.Writer) error { return report.DumpJSON(w, d) })
	if len(d.Blockers) != 1 || d.Blockers[0].Name != "http-nio-80-exec-1" || d.Blockers[0].Blocks != 4 {
		t.Errorf("blockers %+v, want exec-1 with four behind it", d.Blockers)
	}
	end := report.NewDump(tl, report.DumpOptions{At: tl.End - 1})
	if len(end.Blockers) != 0 || end.Counts.Waiting != 5 {
		t.Errorf("at the end %+v with blockers %v, want five idle threads", end.Counts, end.Blockers)
	}
}

func TestInstantsByCondition(t *testing.T) {
	tl, _ := view(t, "convoy.txt")
	for text, want := range map[string]int{"blocked>50%": 1, "blocked>3": 1, "blocked>4": 0, "running>0": 8} {
		c, err := report.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := report.When(tl, c); len(got) != want || !slices.IsSorted(got) {
			t.Errorf("%s holds from %v on, want %d times", text, got, want)
		}
	}
	for _, text := range []string{"", "blocked", "blocked>", "blocked>x", "blocked>-1", "blocked>100%", "asleep>3"} {
		if _, err := report.ParseCondition(text); err == nil {
			t.Errorf("%q is taken for a condition", text)
		}
	}
}

// A deadlock of two is shown once, and as one.
func TestDeadlock(t *testing.T) {
	tl, _ := view(t, "deadlock.txt")
	d := report.NewDump(tl, report.DumpOptions{At: tl.Start + timeline.Time(30_000_000), Chosen: "as asked for"})
	if len(d.Blockers) != 1 || !d.Blockers[0].Deadlock {
		t.Errorf("blockers %+v, want one circle", d.Blockers)
	}
	golden(t, "deadlock.golden", func(w io.Writer) error {
		return report.DumpText(w, d, report.DumpTextOptions{Who: "app (pid 100)"})
	})
}

// Whatever was recorded, at any instant every thread is counted once, under one state.
func TestDumpsOfEveryRecording(t *testing.T) {
	files, err := filepath.Glob(stories + "*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tl, _ := load(t, string(text), diagnosis.Options{})
		for i := range 8 {
			at := tl.Start + (tl.End-tl.Start)*timeline.Time(i)/8
			d := report.NewDump(tl, report.DumpOptions{At: at})
			c := d.Counts
			if c.Threads != len(d.Threads) || c.Running+c.Runnable+c.Blocked+c.Waiting+c.Idle+c.Unknown != c.Threads {
				t.Errorf("%s at %d: %+v of %d threads", file, at, c, len(d.Threads))
			}
			if err := report.DumpText(io.Discard, d, report.DumpTextOptions{}); err != nil {
				t.Error(err)
			}
		}
	}
}
