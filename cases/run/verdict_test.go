package main

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/cases/expect"
)

// A run fails when the diagnosis is another one than the key says.
func TestVerdictCountsWhatIsNotMet(t *testing.T) {
	key, err := expect.Parse(strings.NewReader("bad/moderate first connection-churn\nbad/moderate refuted slow-peer\nbad/overload first load\n"))
	if err != nil {
		t.Fatal(err)
	}
	results := expect.Results{Diagnoses: map[string]*expect.Diagnosis{
		"bad/moderate": {Findings: []expect.Item{{ID: "slow-peer"}, {ID: "connection-churn"}}},
	}}
	var out strings.Builder
	if failed := verdict(key, results, &out); failed != 2 {
		t.Errorf("%d failed, want 2", failed)
	}
	want := `
expectations (expect.txt)
  FAIL  line 1: bad/moderate first connection-churn
        the findings are: slow-peer, connection-churn
  FAIL  line 2: bad/moderate refuted slow-peer
        it is a finding
0 of 2 met; 1 not run
`
	if out.String() != want {
		t.Errorf("printed %s\nwant %s", out.String(), want)
	}
}
