package report_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
)

// The report says how many requests the service answered with a failure of its own, and with which status.
func TestRequestsThatFailedAreCounted(t *testing.T) {
	text, err := os.ReadFile(stories + "cpu-bound/lead.txt")
	if err != nil {
		t.Fatal(err)
	}
	for statuses, want := range map[string]string{
		"":            "",
		"404":         "",
		"502":         "failed: 1 request of GET /prices/{} (4.2 %; with 502)",
		"503 500 503": "failed: 3 requests of GET /prices/{} (12.5 %; 2 with 503, 1 with 500)",
	} {
		some := string(text)
		for s := range strings.FieldsSeq(statuses) {
			some = strings.Replace(some, "status=200 length=150", "status="+s+" length=150", 1) // the service's own answers
		}
		_, r := load(t, some, diagnosis.Options{})
		var out bytes.Buffer
		if err := report.Text(&out, r, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if want == "" && strings.Contains(out.String(), "failed:") || !strings.Contains(out.String(), want) {
			t.Errorf("answers with %q: %q is expected\n%s", statuses, want, out.String())
		}
	}
}

// The report shows how often requests came. If the status of the answers is not known, it shows nothing else.
func TestRequestsAreCountedByTheSecondAndByStatus(t *testing.T) {
	text := story(t, "cpu-bound/lead") // 24 requests in 1.21 s
	for status, want := range map[string]struct {
		row     string
		unknown int
	}{
		"status=200": {"GET /prices/{} 24 19.8 0 10.2 ms", 0},
		"status=503": {"GET /prices/{} 24 19.8 24 10.2 ms", 0},
		"status=0":   {"GET /prices/{} 24 19.8 - 10.2 ms", 24},
	} {
		_, r := load(t, strings.ReplaceAll(text, "status=200 length=150", status+" length=150"), diagnosis.Options{})
		var out bytes.Buffer
		if err := report.Text(&out, r, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(said, want.row) || r.Requests.Unknown != want.unknown {
			t.Errorf("%s: %q and %d not known are expected, not %d\n%s", status, want.row, want.unknown, r.Requests.Unknown, out.String())
		}
	}
}
