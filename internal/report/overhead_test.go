package report

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// In ten seconds dwell used 3.2 s of a core in the first three, to load the recorder, and a tenth of a core from then
// on: 39 %, and 10 % in the second half. The report shows the latter if it is half of the whole or less.
func TestWhatLoadingCostsIsToldFromRecording(t *testing.T) {
	const second = 1_000_000_000
	tl := &timeline.Timeline{Start: second, End: 11 * second}
	for at := timeline.Time(4); at <= 11; at++ {
		tl.Overhead.Samples = append(tl.Overhead.Samples, timeline.OverheadSample{Time: at * second, Used: 32*second/10 + timeline.Duration(at-4)*second/10})
	}
	if got := overheadLater(tl); got != 100_000 {
		t.Errorf("%d millionths in the second half, want 100,000", got)
	}
	if got := overheadLater(&timeline.Timeline{End: second}); got != 0 {
		t.Errorf("of no samples %d millionths", got)
	}
	for _, x := range []struct {
		all, later Decimal
		want       string
	}{
		{390_000, 100_000, "dwell used 10.0 % of a core once running (39.0 % with its start); "},
		{120_000, 100_000, "dwell used 12.0 % of a core; "},
		{390_000, 0, "dwell used 39.0 % of a core; "},
	} {
		if text := cost(&Report{Recording: Recording{OverheadCPUShare: x.all, OverheadLater: x.later}}, false); !strings.Contains(text, x.want) {
			t.Errorf("%d, %d: %s", x.all, x.later, text)
		}
	}
}
