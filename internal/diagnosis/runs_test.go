package diagnosis

import (
	"math"
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// TestRunsHaveTheQuantilesOfTheirUnion: the quantiles of sorted runs are those of all
// their durations sorted together, whatever the runs' lengths and however many are equal.
func TestRunsHaveTheQuantilesOfTheirUnion(t *testing.T) {
	for _, lengths := range [][]int{nil, {0}, {1}, {3, 0, 1}, {40, 40, 40, 7}, {1, 1, 1, 1, 1, 1}} {
		for _, spread := range []uint64{1, 5, 1 << 40} {
			var runs sortedRuns
			var all []Duration
			for k, n := range lengths {
				run := make([]Duration, n)
				for i := range run {
					run[i] = Duration(uint64(k*100+i+1) * 0x9e3779b97f4a7c15 % spread)
				}
				slices.Sort(run)
				runs, all = append(runs, run), append(all, run...)
			}
			slices.Sort(all)
			for _, percent := range []int{1, 50, 99, 100} {
				if got, want := runs.quantile(percent), Quantile(all, percent); got != want {
					t.Errorf("p%d of runs of %v within %d is %d, want %d", percent, lengths, spread, got, want)
				}
			}
		}
	}
}

// TestDrawsHaveTheQuantilesOfWhatWasDrawn: the same for draws in which runs occur several times, or not at all.
func TestDrawsHaveTheQuantilesOfWhatWasDrawn(t *testing.T) {
	var runs sortedRuns
	for k, n := range []int{40, 0, 7, 25, 1} {
		run := make([]Duration, n)
		for i := range run {
			run[i] = Duration(uint64(k*100+i+1) * 0x9e3779b97f4a7c15 % 1000)
		}
		slices.Sort(run)
		runs = append(runs, run)
	}
	draws := append(drawsOf(len(runs)), []int{0, 3, 0, 0, 0})
	for _, percent := range []int{1, 50, 99, 100} {
		for i, got := range runs.drawn(draws, percent) {
			var all []Duration
			for k, often := range draws[i] {
				all = append(all, slices.Repeat(runs[k], often)...)
			}
			slices.Sort(all)
			if want := Quantile(all, percent); got != want {
				t.Errorf("p%d of runs drawn %v times is %d, want %d", percent, draws[i], got, want)
			}
		}
	}
}

// TestRemovalSavesWhatSortingSays: removing time from some requests moves the quantiles as if all durations were sorted
// again; what an earlier finding took is missing from both.
func TestRemovalSavesWhatSortingSays(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 200, func(i int) []piece {
		return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 100 + i*7919%50}}
	})
	c, _ := newCase(tl, Options{})
	l := newLedger(tl, c.Symptoms)
	l.take(normal(tl, []Span{{3, tl.Requests[3].Start, tl.Requests[3].Start + 60}, {120, tl.Requests[120].Start, tl.Requests[120].End}}))
	var spans []Span
	for i := range tl.Requests {
		if r := &tl.Requests[i]; i%3 == 0 {
			spans = append(spans, Span{r.ID, r.End - Time(i%40)*1000, r.End})
		}
	}
	spans = l.left(normal(tl, spans))
	j := &judge{Case: c, off: make([]Duration, len(tl.Requests))}
	off := j.lose(spans)
	m := l.remove(spans, off)[0]
	var before, after []Duration
	for i := range tl.Requests {
		before = append(before, l.rest[i])
		after = append(after, l.rest[i]-off[i])
	}
	slices.Sort(before)
	slices.Sort(after)
	im := m.impact(&c.Symptoms[0])
	if want := Quantile(before, 50) - Quantile(after, 50); im.P50 != want || want == 0 {
		t.Errorf("p50 falls by %d, want %d", im.P50, want)
	}
	if want := Quantile(before, 99) - Quantile(after, 99); im.P99 != want || want == 0 {
		t.Errorf("p99 falls by %d, want %d", im.P99, want)
	}
	if off := j.lose(spans[:1]); slices.Max(off) != spans[0].To.Sub(spans[0].From) || slices.Max(j.lose(nil)) != 0 {
		t.Error("what other spans took is not given back")
	}
}

// The halving ends however far apart durations lie.
func TestQuantileOfExtremes(t *testing.T) {
	runs := sortedRuns{{math.MinInt64, -5}, {7, math.MaxInt64}}
	for percent, want := range map[int]Duration{1: math.MinInt64, 50: -5, 75: 7, 100: math.MaxInt64} {
		if got := runs.quantile(percent); got != want {
			t.Errorf("p%d is %d, want %d", percent, got, want)
		}
	}
}

func TestHumanOfExtremes(t *testing.T) {
	for d, want := range map[Duration]string{math.MinInt64: "-9,223,372,037 s", math.MaxInt64: "9,223,372,037 s"} {
		if got := Human(d); got != want {
			t.Errorf("Human(%d) is %s, want %s", d, got, want)
		}
	}
}
