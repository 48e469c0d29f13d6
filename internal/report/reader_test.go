package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
)

// What a reader knows at once from the table has to be what the report says at once.
func TestTheFirstLinesSayWhatAReaderNeeds(t *testing.T) {
	for name, want := range map[string][]string{
		"lock-convoy/rebuild-supported":        {"Something is wrong: lock-convoy", "for the lock in S.find", "computing in S.rebuild"},
		"interpreter-lock/recompute-supported": {"Something is wrong: interpreter-lock", "Python's global interpreter lock"},
		"interpreter-lock/ruby-supported":      {"Something is wrong: interpreter-lock"},
		"connection-churn/cheap-supported":     {"Something is wrong: connection-churn", "23 of 24 calls (96 %)"},
		"connection-churn/piled-supported":     {"Something is wrong: connection-churn"},
		"serial-calls/four-lead":               {"make calls one after the other", "To decide: see in the code whether one of the calls needs another's answer"},
		"slow-peer/steady-lead":                {"Nothing stands out: slow-peer takes 95.3 % of the time of GET /prices/{}, slow and ordinary ones alike", "steadily"},
		"slow-dns/once-lead":                   {"Happened once, at +50.5 ms"},
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

// The page begins with the lead that its verdict names, though another one would save more.
func TestThePageBeginsWithTheLeadOfItsVerdict(t *testing.T) {
	tl, r := load(t, story(t, "interpreter-lock/chance-lead"), diagnosis.Options{})
	d := diagnosis.Diagnose(tl, hypotheses.All(), diagnosis.Options{})
	seen := report.NewWebPage(r, d, tl, report.WebOptions{}).Seen
	if named := r.Leads[seen.FirstLead].ID; !strings.Contains(seen.Verdict, "first: "+named+" ") || r.Leads[0].ID == named {
		t.Errorf("%q, first is %s of %+v", seen.Verdict, named, r.Leads)
	}
}
