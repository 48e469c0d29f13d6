package diagnosis

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// Blocks of ordinary requests alternate with blocks that are 3 ms slower for another reason. That is no argument
// against a wait of 2 ms that occurs in every one of them.
func TestOtherCausesAreNoNoise(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 40, func(i int) []piece {
		return []piece{{timeline.PhaseHandler, timeline.CauseOnCPU, 4000 + i/2%2*3000}, {timeline.PhaseHandler, timeline.CauseLock, 2000}}
	})
	d := Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock)}, Options{})
	expect(t, d, map[string]string{"lock": "found"})
	if im := d.Findings[0].Impact; im.Mean != 2*milli || im.MeanRange != (Range{2 * milli, 2 * milli}) {
		t.Errorf("%+v", im)
	}
}

// Requests that by chance wait long or briefly for processors widen the range that is shown, but never below the bound
// of a finding, by which the finding was judged.
func TestTheRangeOfAFindingIsWorthHaving(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 40, func(i int) []piece {
		return append(work(700), piece{timeline.PhaseHandler, timeline.CauseRunnable, i * i * 17 % 7 * 2000})
	})
	d := Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock)}, Options{})
	expect(t, d, map[string]string{"lock": "found"})
	if r := d.Findings[0].Impact.MeanRange; r.Low != (Whole/20).Of(d.Symptoms[0].Mean) || r.High < 1*milli {
		t.Errorf("%+v of %d", r, d.Symptoms[0].Mean)
	}
}
