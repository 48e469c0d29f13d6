package expect

import (
	"strings"
	"testing"
)

const diagnosis = `{"version":2,
 "requests":{"count":300,"p50_ns":6000000,"associated_share":0.97},
 "findings":[
  {"id":"connection-churn","title":"3 ms of p50","place":"Pool.open","impact":{"p50_saving_ns":3000000},"evidence":[{"what":"calls on a new connection","value":1,"unit":"share","bound":">= 0.5"}]},
  {"id":"load","evidence":[]}],
 "leads":[{"id":"cpu-bound","evidence":[{"what":"of an ordinary request's time is own CPU","value":0.4,"unit":"share"}]}],
 "minor":[{"id":"tls-handshake","evidence":[{"what":"of its time goes with connection-churn","value":0.9,"unit":"share"}]}],
 "refuted":[{"id":"slow-peer","evidence":[{"what":"remote share of p50","value":0.12,"unit":"share"}]}],
 "undecided":[{"id":"slow-dns","missing":"no look-up was seen"}]}`

const nothing = `{"version":2,"findings":[],"refuted":[],"undecided":[]}`

// Every expectation here holds, and every one below fails: a key that cannot fail
// would prove nothing.
func TestExpectationsThatHold(t *testing.T) {
	for _, line := range []string{
		`bad/x first connection-churn`,
		`bad/x finding connection-churn "new connection" >= 0.95`,
		`bad/x finding load   # without a number`,
		`bad/x finding connection-churn says "of p50" "new connection" >= 1 says "Pool.open"`,
		`bad/x measured "share of calls associated" >= 0.95 "client p99 ms" < 21`,
		`bad/x measured "under Cache.get" > 1`,
		`bad/x refuted slow-peer "remote" < 0.5 "share of p50" > 0.1`,
		`bad/x lead cpu-bound "own CPU" > 0.3`,
		`bad/x minor tls-handshake`,
		`bad/x refuted tls-handshake "goes with" > 0.5`,
		`bad/x innocent cpu-bound`,
		`bad/x innocent slow-peer "remote" < 0.5`,
		`bad/x undecided slow-dns`,
		`good/x nothing`,
		`bad/x nothing but load connection-churn`,
		`x saving p50 70%..120%`,
	} {
		if problem := check(t, line); problem != "" {
			t.Errorf("%s\nfails: %s", line, problem)
		}
	}
}

func TestExpectationsThatFail(t *testing.T) {
	for line, want := range map[string]string{
		`bad/x first load`: "the findings are: connection-churn, load",
		`bad/x finding connection-churn "new connection" < 0.5`: "calls on a new connection = 1 share, expected < 0.5",
		`bad/x finding connection-churn "resumed" < 0.5`:        `no evidence is named "resumed"`,
		`bad/x finding slow-peer`:                               "it is refuted: [remote share of p50 = 0.12 share]",
		`bad/x finding connection-churn says "Pool.close"`:      `says "Pool.close": ["3 ms of p50" "Pool.open"`,
		`bad/x measured "client p99 ms" < 20`:                   "client p99 ms = 20.5, expected < 20",
		`bad/x measured "client p98 ms" < 20`:                   "was not measured",
		`bad/x measured "under Cache.get" < 1`:                  "under Cache.get = 1.5, expected < 1",
		`good/x measured "client p99 ms" < 20`:                  "was not measured",
		`bad/x refuted load`:                                    "it is a finding",
		`bad/x refuted slow-peer "remote" < 0.1`:                "remote share of p50 = 0.12 share, expected < 0.1",
		`bad/x refuted cpu-bound`:                               "it is a lead",
		`bad/x lead tls-handshake`:                              "it is minor",
		`bad/x minor load`:                                      "it is a finding",
		`bad/x innocent load`:                                   "it is a finding",
		`bad/x innocent slow-dns`:                               "it is undecided",
		`bad/x refuted disk`:                                    "no verdict on it",
		`bad/x undecided slow-peer`:                             "it is refuted",
		`bad/x nothing`:                                         "found connection-churn, load",
		`bad/x nothing but load`:                                "found connection-churn, load",
		`good/x first connection-churn`:                         "the findings are: none",
		`x saving p50 80%..120%`:                                "measured 4.00 ms: 75%",
		`x saving p50 10%..70%`:                                 "75%",
	} {
		if problem := check(t, line); !strings.Contains(problem, want) {
			t.Errorf("%s\nproblem %q, want %q", line, problem, want)
		}
	}
}

func check(t *testing.T, line string) string {
	t.Helper()
	all, err := Parse(strings.NewReader("# comment\n\n" + line + "\nother/y first z\n"))
	if err != nil {
		t.Fatal(err)
	}
	out := Check(all, Results{
		Diagnoses: map[string]*Diagnosis{"bad/x": read(t, diagnosis), "good/x": read(t, nothing)},
		Clients:   map[string]Client{"bad/x": {P50: 4_000_000, P99: 20_500_000, Rate: 30}},
		Savings:   map[string]Saving{"x p50": {Predicted: 3_000_000, Measured: 4_000_000}},
		Numbers:   map[string]map[string]float64{"bad/x": {"under Cache.get": 1.5}},
	})
	if len(out) != 1 {
		t.Fatalf("%s: %d outcomes, want the one whose scenario ran", line, len(out))
	}
	if out[0].Line != 3 {
		t.Errorf("it is said to be on line %d", out[0].Line)
	}
	return out[0].Problem
}

func read(t *testing.T, text string) *Diagnosis {
	t.Helper()
	d, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestBadKeysAreRefused(t *testing.T) {
	for _, line := range []string{
		"bad/x", "bad/x maybe load", "bad/x first", "bad/x finding load surely",
		`bad/x finding load "share" = 1`, `bad/x finding load "share" < 0.1 and`, "x saving p50 30%", "x saving p50 50..90", "x saving p50 90%..50%",
		`bad/x measured client`, `bad/x nothing but`, `bad/x nothing load`, `bad/x finding load says`, `bad/x first load "share" > x`,
	} {
		if all, err := Parse(strings.NewReader(line)); err == nil {
			t.Errorf("%q was read as %+v", line, all)
		}
	}
}

func TestOtherVersionsAreRefused(t *testing.T) {
	if _, err := Read(strings.NewReader(`{"version":1}`)); err == nil {
		t.Error("version 1 was read")
	}
}
