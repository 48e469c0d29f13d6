package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
)

// For connections that failed, the report shows to which peer, how many, why, how much time they take, and whether
// the request then reached another address.
func TestConnectionsThatAreRefusedAreSaid(t *testing.T) {
	for name, want := range map[string]string{
		"connection-churn/refused-refuted": "not connected: 24 of 24 connections to 10.0.0.3:443 (refused; 4.8 % of all request time), and then 10.0.0.2:443 is reached",
		"sleep-retry/refused-supported":    "not connected: 24 of 24 connections to 10.0.0.3:443 (refused; 0.5 % of all request time), and then 10.0.0.2:443 is reached",
		"sleep-retry/supported":            "",
	} {
		_, r := load(t, story(t, name), diagnosis.Options{})
		var out bytes.Buffer
		if err := report.Text(&out, r, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		if want == "" && strings.Contains(text, "not connected:") || !strings.Contains(text, want) {
			t.Errorf("%s: %q is expected\n%s", name, want, out.String())
		}
	}
}

// A client that tries two addresses at once gives up one: the report shows that if it takes time.
func TestWhatClientsGiveUpIsSaidWhereItTakesTime(t *testing.T) {
	for name, want := range map[string]string{
		"connection-churn/refused-refuted": "not connected: 24 of 24 connections to 10.0.0.3:443 (given up; 4.8 % of all request time)",
		"sleep-retry/refused-supported":    "", // 0.5 %
	} {
		_, r := load(t, strings.ReplaceAll(story(t, name), "by=refused", "by=us"), diagnosis.Options{})
		if len(r.Requests.Unconnected) != 1 || r.Requests.Unconnected[0].GivenUp != 24 {
			t.Errorf("%s: %+v, want 24 that were given up", name, r.Requests.Unconnected)
		}
		var out bytes.Buffer
		if err := report.Text(&out, r, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		if want == "" && strings.Contains(text, "not connected:") || !strings.Contains(text, want) {
			t.Errorf("%s: %q is expected\n%s", name, want, out.String())
		}
	}
}
