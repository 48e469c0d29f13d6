package diagnosis

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

func TestQuantileIsNearestRank(t *testing.T) {
	d := []Duration{10, 20, 30, 40, 50}
	for _, c := range []struct {
		percent int
		want    Duration
	}{{1, 10}, {20, 10}, {21, 20}, {50, 30}, {90, 50}, {99, 50}, {100, 50}} {
		if got := Quantile(d, c.percent); got != c.want {
			t.Errorf("p%d is %d, want %d", c.percent, got, c.want)
		}
	}
	if Quantile(nil, 50) != 0 {
		t.Error("no values have a quantile")
	}
}

func TestBandsOfOneHundredRequests(t *testing.T) {
	for _, c := range []struct{ percent, from, to int }{{50, 44, 55}, {99, 93, 100}} {
		if from, to := band(100, c.percent); from != c.from || to != c.to {
			t.Errorf("within 5 points of p%d: %d to %d, want %d to %d", c.percent, from, to, c.from, c.to)
		}
	}
}

func TestShares(t *testing.T) {
	if s := ShareOf(1, 3); s != 333_333 {
		t.Error(s)
	}
	hour := int64(3_600_000_000_000)
	if s := ShareOf(30*hour, 60*hour); s < 499_990 || s > 500_010 {
		t.Errorf("half of many hours is %d", s)
	}
	if ShareOf(1, 0) != 0 {
		t.Error("a share of nothing")
	}
	if d := (Whole / 10).Of(Duration(100 * hour)); d != Duration(10*hour) {
		t.Errorf("a tenth of 100 hours is %d", d)
	}
}

func TestLedgerLeavesWhatIsNotTaken(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 1, func(int) []piece { return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 100}} })
	at := tl.Requests[0].Start
	span := func(from, to Time) Span { return Span{0, at + from, at + to} }
	l := newLedger(tl, nil)
	l.take(normal(tl, []Span{span(10, 20), span(30, 40), span(15, 25)}))
	got := l.left(normal(tl, []Span{span(-50, 12), span(18, 50)}))
	want := []Span{span(0, 10), span(25, 30), span(40, 50)}
	if !slices.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
	if taken := tl.Requests[0].Duration() - l.rest[0]; taken != 25 {
		t.Errorf("taken %d, want 25", taken)
	}
}

// The result of Gaps belongs to its caller: whatever the caller does with it, others get the same result.
func TestGapsAreTheCallersOwn(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 1, func(int) []piece { return []piece{{timeline.PhaseHandler, timeline.CauseUnknown, 100}} })
	c, _ := newCase(tl, Options{})
	want := slices.Clone(c.Gaps())
	clear(c.Gaps())
	if got := c.Gaps(); len(want) != 1 || !slices.Equal(got, want) {
		t.Errorf("gaps %v, want %v", got, want)
	}
}
