package diagnosis

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

func TestParseSLO(t *testing.T) {
	for text, want := range map[string]SLO{
		"GET /price p99<20ms per 1m": {Endpoint: "GET /price", Percent: 99, Bound: 20 * milli, Per: 60_000 * milli},
		"p50 < 1.5s":                 {Percent: 50, Bound: 1500 * milli},
		"POST /a/{} p95<250us":       {Endpoint: "POST /a/{}", Percent: 95, Bound: 250_000},
	} {
		got, err := ParseSLO(text)
		want.Text = text
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"GET /price": "no bound", "p99<fast": `"fast" is no duration`, "p99<20": `"20" is no duration`, "p101<20ms": "no quantile",
		"price<20ms": "no quantile", "p99<=20ms": "no duration", "p99<20ms per day": `"day" is no duration`, "p99<-5ms": "no duration", "": "no bound",
	} {
		if _, err := ParseSLO(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// For one second nothing waits; in another one a lock takes 30 ms of each request, and a peer 15.
func TestPromisesAreKeptOrBroken(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /price", 200, func(i int) []piece {
		p := []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 2000}}
		if i >= 100 {
			p = append(p, piece{timeline.PhaseHandler, timeline.CauseLock, 30_000}, piece{timeline.PhaseRemote, timeline.CauseRemote, 15_000})
		}
		return p
	})
	hyps := []Hypothesis{taking("lock", timeline.CauseLock), taking("peer", timeline.CauseRemote)}
	slo := func(text string) SLOResult {
		s, err := ParseSLO(text)
		if err != nil {
			t.Fatal(err)
		}
		return Diagnose(tl, hyps, Options{SLOs: []SLO{s}}).SLOs[0]
	}
	r := slo("GET /price p99<20ms per 1s")
	if len(r.Windows) != 2 || r.Broken != 1 || !r.Windows[0].Met || r.Windows[r.Worst].Value != 47*milli {
		t.Errorf("%+v", r)
	}
	if len(r.Remedies) != 1 || r.Remedies[0].ID != "lock" || r.Remedies[0].Value != 17*milli || !r.Remedies[0].Met {
		t.Errorf("the lock brings it under: %+v", r.Remedies)
	}
	if r = slo("p99<5ms"); len(r.Windows) != 1 || r.Broken != 1 || len(r.Remedies) != 2 || r.Remedies[1].Value != 2*milli {
		t.Errorf("both together do: %+v", r)
	}
	if r = slo("GET /price p50<1ms"); r.Broken != 1 || len(r.Remedies) != 0 {
		t.Errorf("nothing does: %+v", r)
	}
	if r = slo("GET /else p99<1ms"); len(r.Windows) != 0 || r.Worst != -1 {
		t.Errorf("no request: %+v", r)
	}
	if r = slo("p99<50ms"); r.Broken != 0 || r.Remedies != nil {
		t.Errorf("met: %+v", r)
	}
}
