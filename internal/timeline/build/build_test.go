package build

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what Build makes of the recordings as what is expected")

// Each file of testdata is one behaviour: a drawing, a recording, and the requests and calls that are expected.
func TestBuild(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test recordings: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := recording.ParseText(bytes.NewReader(ar.Files[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			tl, err := Recording(rec)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range timeline.Validate(tl) {
				t.Error(err)
			}
			got := render(tl)
			if *update {
				ar.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), got); diff != "" {
				t.Errorf("(-expected +built)\n%s", diff)
			}
		})
	}
}

// render writes requests with their segments, and calls with their phases, one per line. Times are in microseconds
// since the recording began.
func render(t *timeline.Timeline) string {
	var b strings.Builder
	us := func(at recording.Time) string {
		if at == recording.NoTime {
			return "-"
		}
		return micros(at.Sub(t.Start))
	}
	for i := range t.Requests {
		r := &t.Requests[i]
		fmt.Fprintf(&b, "request %d %q conn=%d/%d status=%d start=%s read=%s write=%s end=%s", r.ID, r.Endpoint, r.Conn, r.Ordinal, r.Status, us(r.Start), us(r.FirstRead), us(r.FirstWrite), us(r.End))
		flags(&b, map[string]bool{"cut": r.Cut, "lossy": r.Lossy}, r.Excluded)
		for g := r.Segments(); g.Next(); {
			fmt.Fprintf(&b, "  %s..%s %v/%v", us(g.From), us(g.To), g.Phase, g.Cause)
			if g.Quality != timeline.Exact {
				fmt.Fprintf(&b, " %v", g.Quality)
			}
			if g.Call != timeline.None {
				fmt.Fprintf(&b, " call=%d", g.Call)
			}
			if g.Blocker != timeline.None {
				fmt.Fprintf(&b, " blocker=%d", g.Blocker)
			}
			b.WriteByte('\n')
		}
		if r.Unaccounted() != 0 {
			fmt.Fprintf(&b, "  unaccounted %s\n", micros(r.Unaccounted()))
		}
	}
	for i := range t.Calls {
		renderCall(&b, &t.Calls[i], us)
	}
	return b.String()
}

func renderCall(b *strings.Builder, c *timeline.Call, us func(recording.Time) string) {
	fmt.Fprintf(b, "call %d", c.ID)
	if c.Request != timeline.None {
		fmt.Fprintf(b, " of %d", c.Request)
	}
	fmt.Fprintf(b, " (%s) %s %q conn=%d/%d status=%d %s..%s", c.Why, c.Peer, c.Operation, c.Conn, c.Ordinal, c.Status, us(c.Start), us(c.End))
	flags(b, map[string]bool{"cut": c.Cut, "new": c.New}, c.Excluded)
	b.WriteString(" ")
	if c.Outcome != recording.OutcomeUnknown {
		b.WriteString(strings.TrimRight(fmt.Sprintf(" %v %s", c.Outcome, c.Code), " "))
	}
	if c.Transaction != recording.TransactionUnknown {
		fmt.Fprintf(b, " transaction=%v", c.Transaction)
	}
	for p, d := range c.Phases {
		if d != 0 {
			fmt.Fprintf(b, " %v=%s", timeline.Phase(p), micros(d))
		}
	}
	b.WriteByte('\n')
}

func flags(b *strings.Builder, set map[string]bool, excluded string) {
	for _, name := range []string{"cut", "lossy", "new"} {
		if set[name] {
			b.WriteString(" " + name)
		}
	}
	if excluded != "" {
		b.WriteString(" excluded=" + excluded)
	}
	b.WriteByte('\n')
}

// micros formats a duration in microseconds, with as many decimals as it has.
func micros(d recording.Duration) string {
	if d%1000 == 0 {
		return fmt.Sprintf("%d", d/1000)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%03d", d/1000, d%1000), "0")
}
