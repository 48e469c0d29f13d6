package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
)

// What a reader sees at once in the table must be in the report's first lines.
func TestTheFirstLinesSayWhatAReaderNeeds(t *testing.T) {
	for name, want := range map[string][]string{
		"lock-convoy/rebuild-supported":        {"Something is wrong: requests queue for a lock (lock-convoy, finding 1)", "for the lock in S.find", "computing in S.rebuild"},
		"interpreter-lock/recompute-supported": {"Something is wrong: threads wait for the interpreter's lock (interpreter-lock, finding 1)", "Python's global interpreter lock"},
		"interpreter-lock/ruby-supported":      {"(interpreter-lock, finding 1)"},
		"connection-churn/cheap-supported":     {"Something is wrong: calls open new connections instead of reusing one (connection-churn, finding 1)", "23 of 24 calls (96 %)"},
		"connection-churn/piled-supported":     {"(connection-churn, finding 1)", "135 ms waiting for the event loop"},
		"serial-calls/four-lead":               {"make calls one after another", "To decide: see in the code whether a call needs the answer of an earlier one"},
		"slow-peer/steady-lead":                {"No problem found: requests wait for a peer to answer (slow-peer), 95.3 % of the time of GET /prices/{}, in slow and ordinary requests alike", "each call takes about as long"},
		"slow-dns/once-lead":                   {"Happened once, at +50.5 ms"},
		"slow-peer/few-lead": {"7 requests prove no cause, but look at this first: requests wait for a peer to answer (slow-peer), 79.0 % of the time of GET /reports/{}.",
			"1.91 s GET /reports/{} at +8.45 s: 79.0 % waiting for a peer, 21.0 % computing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := load(t, story(t, name), diagnosis.Options{})
			var b bytes.Buffer
			if err := report.Text(&b, r, report.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(b.String(), "Where the time goes")
			first = strings.Join(strings.Fields(first), " ")
			for _, words := range want {
				if !strings.Contains(first, words) {
					t.Errorf("%q is not said in the first lines:\n%s", words, b.String())
				}
			}
		})
	}
}

// The first lead is the one that the verdict names, on the page as in the text, although another one would save more.
func TestTheVerdictNamesTheFirstLead(t *testing.T) {
	tl, r := load(t, story(t, "slow-dns/once-lead"), diagnosis.Options{})
	d := diagnosis.Diagnose(tl, hypotheses.All(), diagnosis.Options{})
	seen := report.NewWebPage(r, d, tl, report.WebOptions{}).Seen
	first, next := &r.Leads[0], &r.Leads[1]
	if seen.FirstLead != 0 || !strings.Contains(seen.Verdict, "("+first.ID+")") || first.Impact.MeanSaving >= next.Impact.MeanSaving {
		t.Errorf("%q, then %s and %s", seen.Verdict, first.ID, next.ID)
	}
}

// Two endpoints that compute are one lead, named after the main part of each; with everything requested they are two.
func TestLeadsThatSayTheSameAreOne(t *testing.T) {
	_, r := load(t, story(t, "cpu-bound/live-lead"), diagnosis.Options{})
	at := slices.IndexFunc(r.Leads, func(f report.Finding) bool { return f.ID == "cpu-bound" })
	other := r.Leads[at]
	other.Endpoint = "GET /other"
	r.Leads, r.Endpoints = append(r.Leads, other), append(r.Endpoints, r.Endpoints[0])
	for all, want := range map[bool]int{false: 1, true: 2} {
		var b bytes.Buffer
		if err := report.Text(&b, r, report.TextOptions{All: all}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(b.String()), " ")
		if got := strings.Count(text, "lead cpu-bound at "); got != want || strings.Contains(text, "(also at GET /other: ") == all {
			t.Errorf("all=%v: told %d times, want %d:\n%s", all, got, want, b.String())
		}
	}
}
