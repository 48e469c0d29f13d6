package hypotheses

import (
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// What keeps sessions of a database open is a pool of sessions, not a client of HTTP.
func TestSessionsAreKeptByTheirOwnPools(t *testing.T) {
	text, err := os.ReadFile("testdata/client-per-request/session-supported.txt")
	if err != nil {
		t.Fatal(err)
	}
	tl := built(t, string(text))
	for _, h := range []diagnosis.Hypothesis{clientPerRequest(), connectionChurn()} {
		d := diagnosis.Diagnose(tl, []diagnosis.Hypothesis{h}, diagnosis.Options{})
		if len(d.Findings) != 1 || !strings.Contains(d.Findings[0].Fix, "psycopg_pool.ConnectionPool") {
			t.Errorf("%s: %+v", h.ID, d.Findings)
		}
	}
}

// built is the timeline of a recording in text form.
func built(t *testing.T, text string) *timeline.Timeline {
	t.Helper()
	rec, err := recording.ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}
