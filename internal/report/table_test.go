package report

import "testing"

// A table that has no room for each phase of each cause joins those of a cause before it sums up what is much, and
// keeps what is large in either column.
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
		6: {"unread-request, event-loop", "connect, event-loop", "tls, event-loop", "unread-request, runnable", "handler, on-cpu", "remote"},
		4: {"all phases, event-loop", "unread-request, runnable", "handler, on-cpu", "remote"},
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

// What is promised is explained where it is more than a fault takes, or less, or where p99 is not what falls.
func TestAPromiseIsExplained(t *testing.T) {
	f := Finding{mean: 10e6, p50: 9e6, p99: 90e6, Impact: Impact{MeanSaving: 1e6, told: grounds{seen: 4e6, slow: 20e6, slowest: 5}}}
	for got, want := range map[string]string{
		f.remains():                        "; that is 1.00 ms of the 4.00 ms of the mean that it takes: the rest stays, or goes with something else",
		f.becomes("p99", f.p99, 0):         "p99 stays as it is (90.0 ms: one request's; the slowest 5 take 20.0 ms less on average)",
		f.becomes("p50", f.p50, 0):         "p50 stays as it is (9.00 ms)",
		f.becomes("mean", f.mean, 1e6):     "mean 10.0 ms -> 9.00 ms",
		(&Finding{}).remains() + f.turns(): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
