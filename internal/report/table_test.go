package report

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// A table without room for each phase of each cause joins the phases of a cause before it sums up much, and keeps
// what is large in either column.
func TestATableSumsUpLittle(t *testing.T) {
	e := &Endpoint{Causes: []CauseRow{
		{"unread-request", "event-loop", 90_000, 180_000},
		{"connect", "event-loop", 120_000, 170_000},
		{"tls", "event-loop", 60_000, 100_000},
		{"unread-request", "runnable", 10_000, 330_000},
		{"handler", "on-cpu", 500_000, 80_000},
		{"remote", "remote", 220_000, 140_000},
	}}
	for most, want := range map[int][]string{
		6: {"unread-request, runnable", "unread-request, event-loop", "connect, event-loop", "remote", "tls, event-loop", "handler, on-cpu"},
		5: {"unread-request, runnable", "other phases, event-loop", "unread-request, event-loop", "remote", "handler, on-cpu"},
		4: {"all phases, event-loop", "unread-request, runnable", "remote", "handler, on-cpu"},
		3: {"all phases, event-loop", "unread-request, runnable", "handler, on-cpu", "other"},
	} {
		list := rows(e, most)
		for i, l := range list {
			if i >= len(want) || l.label != want[i] {
				t.Errorf("%d: %q is line %d, want %q", most, l.label, i, want)
			}
		}
		if len(list) != len(want) || most == 4 && (list[0].ordinary != 270_000 || list[0].slow != 450_000) {
			t.Errorf("%d: %+v", most, list)
		}
	}
}

// A promise is explained if it differs from the time that a fault takes, or if p99 does not fall.
func TestAPromiseIsExplained(t *testing.T) {
	f := Finding{mean: 10e6, p50: 9e6, p99: 90e6, Impact: Impact{MeanSaving: 1e6, told: grounds{seen: 4e6, slow: 20e6, slowest: 5}}}
	for got, want := range map[string]string{
		f.remains():                       ". That is 1.00 ms of the 4.00 ms that it takes of the mean; the rest has other causes, or stays",
		f.becomes("p99", f.p99, 0):        "p99 stays as it is (90.0 ms, that is a single request; the slowest 5 get 20.0 ms faster on average)",
		f.becomes("p50", f.p50, 0):        "p50 stays as it is (9.00 ms)",
		f.becomes("mean", f.mean, 1e6):    "mean 10.0 ms -> 9.00 ms",
		(&Finding{}).remains() + f.made(): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The parts of a saving are shown unless it is of one kind, or mostly of one kind that the title names.
func TestWhatASavingIsMadeOf(t *testing.T) {
	kind := func(c timeline.Cause, ms recording.Duration) diagnosis.Portion {
		return diagnosis.Portion{Phase: timeline.PhaseHandler, Cause: c, Turn: c == timeline.CauseLock, Mean: ms * 1e6}
	}
	for _, c := range []struct {
		title string
		of    []diagnosis.Portion
		want  string
	}{
		{"Calls open a connection", []diagnosis.Portion{kind(timeline.CauseRemote, 6), kind(timeline.CauseOnCPU, 3)}, ". Saved of the mean: 6.00 ms waiting for a peer, 3.00 ms computing"},
		{"It computes", []diagnosis.Portion{kind(timeline.CauseLock, 9), kind(timeline.CauseOnCPU, 1)}, ". Saved of the mean: 9.00 ms waiting for a lock, 1.00 ms computing"},
		{"Requests wait for a lock", []diagnosis.Portion{kind(timeline.CauseLock, 9), kind(timeline.CauseOnCPU, 1)}, ""},
		{"It computes", []diagnosis.Portion{kind(timeline.CauseOnCPU, 9), kind(timeline.CauseRemote, 1)}, ""},
		{"It computes", []diagnosis.Portion{kind(timeline.CauseLock, 10)}, ""},
	} {
		f := Finding{Title: c.title, Impact: Impact{MeanSaving: 10e6, told: grounds{portions: c.of}}}
		if got := f.made(); got != c.want {
			t.Errorf("%s: %q, want %q", c.title, got, c.want)
		}
	}
}

// If a page has room, its table shows each phase of each cause, even if the five largest would leave much to sum up.
func TestATableJoinsPhasesForWantOfRoomOnly(t *testing.T) {
	e := Endpoint{Name: "GET /", Ordinary: 10e6, Slow: 20e6}
	e.Count = 200
	for _, phase := range []string{"unread-request", "queue", "connect", "tls", "pick-up", "handler", "send", "receive"} {
		e.Causes = append(e.Causes, CauseRow{phase, "runnable", 125_000, 125_000})
	}
	r := &Report{Endpoints: []Endpoint{e}}
	r.Requests.Count = 200
	var out strings.Builder
	if err := Text(&out, r, TextOptions{}); err != nil || strings.Contains(out.String(), " phases, ") || strings.Count(out.String(), ", runnable") != len(e.Causes) {
		t.Errorf("%v\n%s", err, out.String())
	}
}
