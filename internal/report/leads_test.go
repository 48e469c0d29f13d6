package report

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// A lead that is not described at length shows as many complete parts of its title as there is room for.
func TestClause(t *testing.T) {
	const title = "Requests wait for a disk: 2 ms on average (20 % of all request time, twice), most of it in Log.append"
	for room, want := range map[int]string{
		200: title,
		80:  "Requests wait for a disk: 2 ms on average (20 % of all request time, twice)",
		60:  "Requests wait for a disk: 2 ms on average",
		30:  "requests wait for a disk",
	} {
		if got := clause(title, room, "requests wait for a disk"); got != want {
			t.Errorf("%d: %q, want %q", room, got, want)
		}
	}
}

// p99 is the latency of one request. If it falls by less than half of what the slow requests gain on average, the
// report says so.
func TestWhatP99Becomes(t *testing.T) {
	const ms = 1_000_000
	for saved, want := range map[Duration]string{
		0:      "p99 stays as it is (27.0 ms, that is a single request; the slowest 5 get 10.0 ms faster on average)",
		4 * ms: "p99 27.0 ms -> 23.0 ms (that is a single request; the slowest 5 get 10.0 ms faster on average)",
		9 * ms: "p99 27.0 ms -> 18.0 ms",
	} {
		f := &Finding{}
		f.Impact.told.slow, f.Impact.told.slowest = 10*ms, 5
		if got := f.becomes("p99", 27*ms, saved); got != want {
			t.Errorf("%s: %q, want %q", human(saved), got, want)
		}
	}
}

// A request of 100 ms makes calls from 10 to 30 ms, from 20 to 50, and one that outlasts it from 90 on: some call is
// under way for 50 ms of it. Calls of another kind, and of a request that is not measured, do not count.
func TestTimeUnderWay(t *testing.T) {
	tl := &timeline.Timeline{Requests: make([]timeline.Request, 2), Calls: make([]timeline.Call, 1)}
	for i := range tl.Requests {
		tl.Requests[i].End = 100
	}
	call := func(of timeline.RequestID, from, to timeline.Time) *timeline.Call {
		return &timeline.Call{Request: of, Start: from, End: to}
	}
	d := &diagnosis.Diagnosis{}
	d.Overall.Requests = []timeline.RequestID{0}
	u := newUnderWay(d, tl)
	for want, calls := range map[int64][]*timeline.Call{
		50: {call(0, 10, 30), call(1, 15, 20), call(0, 20, 50), call(timeline.None, 60, 70), call(0, 90, 130)},
		20: {call(0, 20, 40)},
	} {
		if got := u.sum(calls); got != want {
			t.Errorf("%d under way, want %d", got, want)
		}
	}
}

// A finding saves 1 ms of 10. A lead that may save 2 ms or more, a quarter of the rest, is named next to it, also if
// it belongs to another endpoint with as many requests.
func TestMoreThanFound(t *testing.T) {
	const ms = 1_000_000
	lead := func(saves Duration) Finding {
		return Finding{ID: "cpu-bound", mean: 10 * ms, Impact: Impact{MeanSaving: saves}}
	}
	for saves, want := range map[Duration]bool{3 * ms: true, 2 * ms: false} {
		r := &Report{Requests: Requests{Traffic: Traffic{Count: 10}}, Findings: []Finding{{ID: "gc-pause", Impact: Impact{MeanSaving: ms}}}, Leads: []Finding{lead(saves)}}
		if got := moreThanFound(r) != nil; got != want {
			t.Errorf("%s: named %t, want %t", human(saves), got, want)
		}
	}
	for requests, want := range map[int]bool{10: true, 3: false} {
		r := &Report{
			Endpoints: []Endpoint{{Name: "GET /found", Traffic: Traffic{Count: 10}}, {Name: "GET /", Traffic: Traffic{Count: requests}}},
			Findings:  []Finding{{ID: "gc-pause", Endpoint: "GET /found", Impact: Impact{MeanSaving: ms}}}, Leads: []Finding{lead(3 * ms)},
		}
		r.Leads[0].Endpoint = "GET /"
		if got := moreThanFound(r) != nil; got != want {
			t.Errorf("of another endpoint with %d requests: named %t, want %t", requests, got, want)
		}
	}
	if moreThanFound(&Report{Leads: []Finding{lead(9 * ms)}}) != nil {
		t.Error("more than nothing is found")
	}
}

// If an endpoint takes most of the time but has too few requests, the first lines say so.
func TestFewRequestsOfTheFirstEndpointProveNothing(t *testing.T) {
	for _, few := range []bool{true, false} {
		r := &Report{Requests: Requests{Traffic: Traffic{Count: 59}}, Endpoints: []Endpoint{
			{Name: "GET /often", Traffic: Traffic{Count: 40}, ids: requestSets{total: 400}},
			{Name: "GET /seldom", Traffic: Traffic{Count: 19}, ids: requestSets{few: few, total: 900}},
		}}
		_, text, _ := sentences(r, map[string]bool{})
		if strings.Contains(text, "19 requests of GET /seldom prove no cause.") != few {
			t.Errorf("few %t: %s", few, text)
		}
	}
}

// A finding of 1 ms of 10, a lead of 5 ms, and waits for a processor that are half of the additional time of slow
// requests: the first lines name all three.
func TestTheFirstLinesNameWhatTakesMoreAndWhatDominates(t *testing.T) {
	const ms = 1_000_000
	r := &Report{
		Findings: []Finding{{ID: "gc-pause", Impact: Impact{MeanSaving: ms}}},
		Leads:    []Finding{{ID: "cpu-bound", mean: 10 * ms, Impact: Impact{MeanSaving: 5 * ms}}, {ID: "run-queue", mean: 10 * ms, Impact: Impact{MeanSaving: ms}}},
		Dominant: []Dominant{{ID: "run-queue", SlowShare: unit * 6 / 10, chance: true}},
		Seen:     Seen{titles: map[string]string{"gc-pause": "The collector", "cpu-bound": "Requests compute", "run-queue": "Requests wait"}},
	}
	text, _ := wrong(r)
	for _, id := range []string{"(gc-pause, finding 1)", "(cpu-bound), up to 5.00 ms of the mean", "(run-queue), 60.0 % of what makes slow requests"} {
		if !strings.Contains(text, id) {
			t.Errorf("%s is not named: %s", id, text)
		}
	}
}

// A dominant mechanism that is described nowhere else is shown with its place and with what prevents it from being a
// lead.
func TestWhatDominatesAndIsUndecided(t *testing.T) {
	r := &Report{Undecided: []Undecided{{ID: "lock-convoy", Missing: "stacks were not recorded"}}}
	for id, want := range map[string]string{"lock-convoy": ", at Cache.get (undecided: stacks were not recorded)", "disk": ""} {
		if got := r.undecided(&Dominant{ID: id, Place: "Cache.get"}); got != want {
			t.Errorf("of %s: %q, want %q", id, got, want)
		}
	}
}
