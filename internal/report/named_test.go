package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// crowded is a report that does not fit a page: two long findings, of which the first is what p99 waits for, and three
// leads; waiting for a processor, the last one, is most of what makes slow requests slow.
func crowded() *Report {
	const ms = 1_000_000
	many := strings.Repeat("of all request time is spent waiting for one of very many other things ", 3)
	e := Endpoint{Name: "GET /", Ordinary: 10 * ms, Slow: 40 * ms}
	e.Count = 400
	for i, cause := range []string{"remote", "runnable", "lock", "on-cpu", "disk", "ipc", "gc"} {
		e.Causes = append(e.Causes, CauseRow{"handler", cause, Decimal(200_000 - 20_000*i), Decimal(200_000 - 20_000*i)})
	}
	finding := func(id string, saves Duration) Finding {
		return Finding{ID: id, Title: strings.Repeat("Requests wait for "+id+" and for much more, ", 6), Place: "Shop.page", Endpoint: "GET /", Fix: strings.Repeat("do less of "+id+", or else ", 6),
			Evidence: []Evidence{{What: many, Value: unit / 2, Unit: "share"}, {What: many, Value: unit / 3, Unit: "share"}},
			Impact:   Impact{MeanSaving: saves, P50Saving: saves, P99Saving: saves, AtLeast: true}, Why: "not proven", Decide: "see what runs beside it", mean: 20 * ms, p50: 10 * ms, p99: 40 * ms}
	}
	r := &Report{Endpoints: []Endpoint{e}, Findings: []Finding{finding("disk", 4*ms), finding("gc-pause", 2*ms)},
		Leads: []Finding{finding("slow-peer", 3*ms), finding("cpu-bound", 2*ms), finding("run-queue", ms)}, Dominant: []Dominant{{ID: "run-queue", Endpoint: "GET /", SlowShare: unit * 6 / 10, others: true}}}
	r.Requests.Count = 400
	for i := range 5 {
		r.Calls = append(r.Calls, CallGroup{Peer: "10.0.0.9:80", Operation: fmt.Sprintf("GET /part/%d", i), TimeShare: Decimal(100_000 - i)})
	}
	r.Seen.titles = map[string]string{"run-queue": "Requests wait for a processor", "disk": "Requests wait for a disk", "gc-pause": "The collector stops requests"}
	r.Seen.Missing = []string{"stacks: some", "syncs: all", "joining: half"}
	return r
}

// printed is the report as it is printed; it fits a screen.
func printed(t *testing.T, r *Report) string {
	t.Helper()
	var out strings.Builder
	if err := Text(&out, r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n > screen {
		t.Errorf("%d lines\n%s", n, out.String())
	}
	return out.String()
}

// A lead that the first lines name is printed in full, before larger ones, however little room there is. So are the
// findings, for whose evidence there may be no room.
func TestALeadThatTheFirstLinesNameIsPrintedInFull(t *testing.T) {
	text := printed(t, crowded())
	for _, want := range []string{"not proven (a lead below): requests wait for a processor (run-queue), 60.0 % of what makes slow requests of GET /",
		"\nlead  run-queue: Requests wait for run-queue", "To decide: see what runs beside it.", "\nMore leads, not proven: slow-peer", "2 gc-pause: ", "fix do less of gc-pause"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%q is not printed\n%s", want, text)
		}
	}
	r := crowded()
	r.Findings, r.Leads[0].Title, r.Leads[2].Title = r.Findings[:1], "Peers", "Requests wait"
	if text := printed(t, r); !strings.Contains(text, "because") {
		t.Errorf("there is room for evidence\n%s", text)
	}
}

// A finding that is not described at length has its fix if there is room, and otherwise says where that is.
func TestAFurtherFindingHasItsFixIfThereIsRoom(t *testing.T) {
	r := crowded()
	p := newPage(TextOptions{})
	p.brevity = brevity{findings: 1, fixes: true}
	showFindings(p, r)
	short := newPage(TextOptions{})
	short.brevity = brevity{findings: 1, places: true}
	showFindings(short, r)
	if text := short.b.String(); !strings.Contains(text, "\n2 gc-pause at Shop.page: the collector stops requests. If fixed too: mean falls by another 2.00 ms") || !strings.Contains(text, "(--all has its fix.)\n") {
		t.Error(text)
	}
	if text := p.b.String(); !strings.Contains(text, "2 gc-pause: ") || strings.Count(text, "  fix      ") != 2 || strings.Contains(text, "--all") {
		t.Error(text)
	}
}

// The calls that a finding names come first, then others at a peer that it names, then those that take longest; the
// named ones are listed even if there is room for only one.
func TestCallsThatAFindingNamesComeFirst(t *testing.T) {
	r := crowded()
	r.Leads, r.Dominant, r.Findings = nil, nil, r.Findings[:1]
	r.Findings[0].Title = "Calls wait behind GET /part/4 to 10.0.0.8:80, called by GET /part"
	r.Calls = append(r.Calls, CallGroup{Peer: "10.0.0.8:80", TimeShare: 1}, CallGroup{Peer: "10.0.0.8:8080", Operation: "GET /part/44", TimeShare: 2})
	var order []string
	for _, c := range inOrder(r) {
		order = append(order, c.Operation)
	}
	if got := strings.Join(order, "|"); got != "GET /part/4||GET /part/0|GET /part/1|GET /part/2|GET /part/3|GET /part/44" {
		t.Error(got)
	}
	if n := calledCalls(r); n != 1 {
		t.Errorf("%d calls are named, want 1", n)
	}
	if text := printed(t, r); !strings.Contains(text, "  GET /part/4 at 10.0.0.9:80 ") || !strings.Contains(text, "Calls (4 of 7 kinds, see --all)") {
		t.Error(text)
	}
}

// The kind of time that a finding is has a line of its own, even if larger ones fill the table.
func TestTheTableHasALineForWhatIsFound(t *testing.T) {
	r := crowded()
	r.Findings[0].Impact.told.portions = []diagnosis.Portion{{Phase: timeline.PhaseHandler, Cause: timeline.CauseDisk, Mean: 2}}
	r.Findings[1].Impact.told.portions = []diagnosis.Portion{{Phase: timeline.PhaseUnread, Mean: 2}}
	kinds := foundKinds(r)
	if len(kinds) != 2 || kinds[0] != (kind{cause: "disk"}) || kinds[1] != (kind{phase: "unread-request"}) {
		t.Fatalf("%+v", kinds)
	}
	for _, must := range []bool{true, false} {
		var of []kind
		if must {
			of = kinds
		}
		list := rows(&r.Endpoints[0], 2, of...)
		has := false
		for _, l := range list {
			has = has || l.cause == "disk"
		}
		if has != must {
			t.Errorf("must %v: %+v", must, list)
		}
	}
	r.Findings = nil
	if kinds := foundKinds(r); len(kinds) != 0 {
		t.Errorf("the first lead has no parts: %+v", kinds)
	}
}

// From a tenth on, the time that a hypervisor took is said at once.
func TestMuchStolenTimeIsSaidInTheFirstLines(t *testing.T) {
	for stolen, want := range map[Decimal]bool{255_000: true, 99_000: false} {
		r := crowded()
		r.Recording.Stolen = stolen
		where, _, _ := sentences(r, map[string]bool{})
		if strings.HasSuffix(where, " Beware: a hypervisor took 25.5 % of the processors' time (steal): computing and waits for a processor look longer than they are.") != want {
			t.Errorf("%d: %s", stolen, where)
		}
		if strings.Contains(cost(r, false), "which shows as computing") == want {
			t.Errorf("%d: %s", stolen, cost(r, false))
		}
	}
}

// What was not seen is named in words, as far as one line goes.
func TestWhatWasNotSeenIsNamedInWords(t *testing.T) {
	for code, want := range map[string]string{"joining": "the first moments", "syncs": "file syncs", "some-new-code": "some new code"} {
		if got := unseenWords(code); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
	for width, want := range map[int]string{40: "file syncs, some stacks, CPU samples", 30: "file syncs and 2 more", 3: "file syncs and 2 more"} {
		if got := someOf([]string{"file syncs", "some stacks", "CPU samples"}, width); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}

// A minor result says what it would save, and of what: that shows why it is minor.
func TestAMinorResultSaysOfWhatItWouldSave(t *testing.T) {
	f := &Finding{p99: 2_650_000_000, mean: 1_480_000_000, Impact: Impact{MeanSaving: 1, P99Saving: 2, P99Low: 53_300_000, P99High: 81_800_000, MeanLow: 1_000_000, MeanHigh: 2_000_000}}
	if got := f.bounds(); got != "p99, now 2.65 s, would fall by between 53.3 ms and 81.8 ms" {
		t.Error(got)
	}
	if f.Impact.P99Saving = 0; f.bounds() != "the mean, now 1.48 s, would fall by between 1.00 ms and 2.00 ms" {
		t.Error(f.bounds())
	}
}
