package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/hypotheses"
)

func said(findings, leads string) answer {
	items := func(names string) (list []item) {
		for _, id := range strings.Fields(names) {
			list = append(list, item{ID: id})
		}
		return list
	}
	return answer{Findings: items(findings), Leads: items(leads)}
}

// took is what 400 clients waited, in ms.
func took(mean, p50, p99 float64) waited {
	return waited{Requests: 400, Mean: mean * 1e6, Spread: mean * 0.2e6, P50: int64(p50 * 1e6), P99: int64(p99 * 1e6)}
}

func TestWhatIsSaidFirstCounts(t *testing.T) {
	for _, c := range []struct {
		fault, findings, leads string
		want                   outcome
	}{
		{"disk", "disk", "", right},
		{"disk", "", "disk cpu-bound", right}, // says where: a lead will do
		{"disk", "", "cpu-bound disk", missed},
		{"disk", "lock-convoy disk", "", wrong},
		{"sleep-retry", "sleep-retry slow-peer", "", right},
		{"sleep-retry", "slow-peer sleep-retry", "", wrong},
		{"sleep-retry", "", "sleep-retry", missed}, // says why: a lead is too little
		{"sleep-retry", "", "", missed},
		{"connection-churn", "client-per-request", "", right},
	} {
		r := result{Plan: plan{Fault: c.fault}, Faulty: played{Said: said(c.findings, c.leads)}, Twin: &played{}}
		if got := r.outcome(); got != c.want {
			t.Errorf("%s planted, found %q, leads %q: %s, want %s", c.fault, c.findings, c.leads, got, c.want)
		}
	}
}

func TestTheEffectIsOfWhicheverFallsMost(t *testing.T) {
	for _, c := range []struct {
		bad, good waited
		want      float64
		judged    bool
	}{
		{took(10, 10, 20), took(9.5, 10, 20), 0.05, false},
		{took(10, 10, 20), took(9.5, 8, 20), 0.20, true},
		{took(10, 10, 20), took(9.5, 10, 10), 0.50, true},
		{took(10, 10, 20), took(11, 11, 21), -0.05, false},
	} {
		r := result{Plan: plan{Fault: "disk"}, Faulty: played{Clients: c.bad}, Twin: &played{Clients: c.good}}
		if got := r.effect(); got-c.want > 1e-9 || c.want-got > 1e-9 || r.judged() != c.judged {
			t.Errorf("%+v with the fault, %+v without: effect %g (judged %t), want %g (%t)", c.bad, c.good, got, r.judged(), c.want, c.judged)
		}
	}
}

// What nobody planted may cost more than the fault, and then it is what should be said first.
func TestDisturbedRowsDoNotCount(t *testing.T) {
	r := result{Plan: plan{Fault: "disk"}, Twin: &played{Clients: took(5, 5, 10), Ready: 0.1e6}, Faulty: played{Clients: took(10, 10, 20), Logged: 2e6}}
	for _, c := range []struct {
		ready  float64
		beside string
		judged bool
	}{{1e6, "", true}, {3e6, "", false}, {3e6, "half", true}} {
		r.Faulty.Ready, r.Plan.Beside = c.ready, c.beside
		if r.judged() != c.judged {
			t.Errorf("ready for %g ns, beside %q: judged %t, want %t", c.ready, c.beside, r.judged(), c.judged)
		}
	}
}

func TestPromisesAreHeldAgainstTheTwin(t *testing.T) {
	r := result{Plan: plan{Fault: "sleep-retry"}, Twin: &played{Clients: took(8, 8, 16), Logged: 0.1e6},
		Faulty: played{Said: said("sleep-retry", ""), Clients: took(10, 10, 20), Logged: 1.9e6}}
	for _, c := range []struct {
		low, high float64
		more      bool
		want      held
	}{
		{1.9, 2.1, false, held{strictly: true, byChance: true}},
		{1.7, 1.9, false, held{byChance: true, byLog: true}}, // 2 ms were saved, give or take 0.21
		{1.0, 1.5, false, held{}},
		{1.0, 1.5, true, held{true, true, true}}, // or more
		{2.5, 3.0, true, held{}},
	} {
		i := &r.Faulty.Said.Findings[0].Impact
		i.Low, i.High, i.LowerBound = int64(c.low*1e6), int64(c.high*1e6), c.more
		if got := r.held(); got != c.want {
			t.Errorf("promised %+v: held %+v, want %+v", *i, got, c.want)
		}
	}
	r.Faulty.Said = said("", "sleep-retry")
	if r.promised() != nil {
		t.Error("a lead promises nothing")
	}
}

func TestTheTablesCountEachRowOnce(t *testing.T) {
	found := func(fault, runtime, findings string, twin answer) *result {
		return &result{Plan: plan{Fault: fault, Runtime: runtime, Seed: 1},
			Faulty: played{Said: said(findings, ""), Clients: took(10, 10, 20)}, Twin: &played{Said: twin, Clients: took(8, 8, 16)}}
	}
	small := found("sleep-retry", node, "", said("", ""))
	small.Twin.Clients = took(9.9, 9.9, 19.9)
	results := map[string]*result{}
	for _, r := range []*result{
		found("sleep-retry", golang, "sleep-retry", said("", "")),
		found("sleep-retry", python, "disk", said("disk", "")),
		found("sleep-retry", jvm, "", said("", "")),
		small,
		{Plan: plan{Fault: "none", Runtime: golang, Seed: 1}, Faulty: played{Said: said("load", "")}},
	} {
		results[r.Plan.name()] = r
	}
	var out bytes.Buffer
	table(&out, results)
	for _, want := range []string{
		"Of 4 faulty services 3 cost a tenth of the mean, of p50 or of p99, or more: of 1 of these the fault is said first, of 1 something else is found first, of 1 it is missed.",
		"Of 1 healthy services 1 have a finding, of 4 twins 1.",
		"| sleep-retry | 4 | 3 | 1 | 1 | 1 | 0 of 1 | 1 | 1, 0 (0) of 1 |",
		"| sleep-retry | python | 1 | - | disk found | **wrong: it is not said** |",
		"| none | go | 1 | - | load found | **false: load** |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tables lack:\n%s\nthey are:\n%s", want, &out)
		}
	}
}

// A seed draws the same always, and another one something else.
func TestPlansComeFromTheSeed(t *testing.T) {
	names := func(list []plan) (all []string) {
		for _, p := range list {
			all = append(all, p.name()+p.Noun+p.Beside)
		}
		return all
	}
	one := drawAll(1)
	if !slices.Equal(names(one), names(drawAll(1))) || one[0].Rate != drawAll(1)[0].Rate {
		t.Error("seed 1 draws something else the second time")
	}
	if slices.Equal(names(one), names(drawAll(2))) {
		t.Error("seeds 1 and 2 draw the same")
	}
	if some := oneOfEach(one); len(some) != len(kinds()) {
		t.Errorf("of %d faults %d are played", len(kinds()), len(some))
	}
}

// unplayed are the hypotheses that no fault is played of, and why.
func unplayed() map[string]string {
	return map[string]string{"dwell-itself": "is what recording costs, not a fault of a service"}
}

func TestEachHypothesisIsPlayedOrSaidNotToBe(t *testing.T) {
	named := map[string]bool{}
	for _, k := range kinds() {
		for _, name := range kindOf(k.fault).names {
			named[name] = true
		}
	}
	known := map[string]bool{}
	for _, h := range hypotheses.All() {
		known[h.ID] = true
		if _, not := unplayed()[h.ID]; named[h.ID] == not {
			t.Errorf("%s: played is %t, said not to be is %t", h.ID, named[h.ID], not)
		}
	}
	for _, k := range kinds() {
		for _, name := range kindOf(k.fault).names {
			if !known[name] && !healthy(k.fault) {
				t.Errorf("%s: there is no hypothesis %s", k.fault, name)
			}
		}
	}
}
