package hypotheses

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

var (
	update = flag.Bool("update", false, "write what was found into the golden files")
	replay = flag.Bool("play", false, "write the recordings of the imagined services anew; with -update")
)

// TestVerdicts diagnoses every recording in testdata. The folder is the hypothesis, the file's name is the verdict that
// it must get, and the lines that begin with "#>" hold what else is said about it. Files named live-* are cuts of
// recordings of live services.
func TestVerdicts(t *testing.T) {
	if *replay {
		if !*update {
			t.Fatal("-play writes recordings without what is expected of them: add -update")
		}
		playAll(t)
	}
	for _, h := range All() {
		seen := map[string]bool{}
		for _, want := range []string{"supported", "lead", "minor", "refuted", "undecided"} {
			files, err := filepath.Glob(filepath.Join("testdata", h.ID, "*"+want+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				seen[want] = true
				t.Run(h.ID+"/"+strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) { verdict(t, f, h.ID, want) })
			}
		}
		if !seen["supported"] || !seen["undecided"] || !seen["refuted"] {
			t.Errorf("%s has recordings that are %v only", h.ID, seen)
		}
	}
}

func verdict(t *testing.T, file, id, want string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recording.ParseText(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range recording.Validate(rec) {
		t.Error("recording: ", problem)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range timeline.Validate(tl) {
		t.Error("timeline: ", problem)
	}
	said := say(diagnosis.Diagnose(tl, All(), diagnosis.Options{}), id)
	if !strings.HasPrefix(said, want) {
		t.Errorf("%s, want %s", said, want)
	}
	golden, rest := split(string(text))
	if *update {
		if err := os.WriteFile(file, []byte(join(said, rest)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if golden != said {
		t.Errorf("said:\n%s\nexpected (-update accepts it):\n%s", said, golden)
	}
}

// say writes what a diagnosis says about one hypothesis, and what came first.
func say(d *diagnosis.Diagnosis, id string) string {
	var b strings.Builder
	for i, f := range d.Findings {
		if f.ID == id {
			fmt.Fprintf(&b, "supported, finding %d of %d: %s\n", i+1, len(d.Findings), f.Title)
			sayFinding(&b, &f)
		}
	}
	for i, f := range d.Leads {
		if f.ID == id {
			fmt.Fprintf(&b, "lead %d of %d, %s: %s\n", i+1, len(d.Leads), f.Why, f.Title)
			sayFinding(&b, &f)
			fmt.Fprintf(&b, "what would decide it: %s\n", f.Decide)
		}
	}
	for _, f := range d.Minor {
		if f.ID == id {
			fmt.Fprintf(&b, "minor: %s\n", f.Why)
			sayFinding(&b, &f)
		}
	}
	sayOutcomes(&b, "refuted", id, d.Refuted)
	sayOutcomes(&b, "undecided", id, d.Undecided)
	return b.String()
}

func sayFinding(b *strings.Builder, f *diagnosis.Finding) {
	im := &f.Impact
	fmt.Fprintf(b, "at %s, %s: mean %s, p50 %s, p99 %s us\n", f.Place, im.Endpoint,
		saves(im.Mean, im.MeanRange), saves(im.P50, im.Range50), saves(im.P99, im.Range99))
	list(b, f.Evidence)
}

func saves(d diagnosis.Duration, r diagnosis.Range) string {
	return fmt.Sprintf("-%d (%d to %d)", d/1000, r.Low/1000, r.High/1000)
}

func sayOutcomes(b *strings.Builder, verdict, id string, of []diagnosis.Outcome) {
	for _, o := range of {
		if o.ID == id {
			fmt.Fprintln(b, verdict+": "+o.Missing+o.Why)
			list(b, o.Evidence)
		}
	}
}

func list(b *strings.Builder, ev []diagnosis.Evidence) {
	for _, e := range ev {
		fmt.Fprintf(b, "  %s %d %s", e.What, e.Value, e.Unit)
		if e.Bounded {
			fmt.Fprintf(b, " against %d", e.Bound)
		}
		b.WriteByte('\n')
	}
}

// split takes the golden lines out of a recording's comments.
func split(text string) (golden, rest string) {
	var g, r strings.Builder
	for line := range strings.Lines(text) {
		if said, ok := strings.CutPrefix(line, "#> "); ok {
			g.WriteString(said)
		} else {
			r.WriteString(line)
		}
	}
	return g.String(), r.String()
}

// join puts golden lines after the first comments.
func join(golden, rest string) string {
	at := 0
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		at += len(line)
	}
	var b strings.Builder
	b.WriteString(rest[:at])
	for line := range strings.Lines(golden) {
		b.WriteString("#> " + line)
	}
	b.WriteString(rest[at:])
	return b.String()
}

// playAll writes the recordings of all stories.
func playAll(t *testing.T) {
	for _, s := range slices.Concat(threadStories(), loopStories(), waitStories(), lockStories(), storageStories(), telemetryStories(), heldStories(), credentialStories(), scanStories(), coldStories(), releaseStories(), goroutineStories(), sharedReaderStories(), queueStories(), transportStories(), proxyStories(), peerStories(), ownCostStories(), ordinaryStories(), crewStories()) {
		var b bytes.Buffer
		for line := range strings.Lines(s.text) {
			b.WriteString("# " + strings.TrimRight(line, "\n") + "\n")
		}
		if err := recording.FormatText(&b, s.play()); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", filepath.FromSlash(s.name)+".txt")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
