package diagnosis

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// What happened once comes after what every request has more of in total, however long it took that one time.
func TestWhatHappenedOnceComesAfterWhatAlwaysDoes(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 60, func(i int) []piece {
		list := []piece{{timeline.PhaseHandler, timeline.CauseDisk, 1000}, {timeline.PhaseHandler, timeline.CauseOnCPU, 1000}}
		switch i {
		case 5:
			list = append(list, piece{timeline.PhaseHandler, timeline.CauseLock, 12000})
		case 15, 25, 35: // slow for another reason
			list = append(list, piece{timeline.PhaseHandler, timeline.CauseOnCPU, 5000})
		}
		return list
	})
	always := but(taking("always", timeline.CauseDisk), func(_ *Case, cd *Candidate) { cd.Decide = "look" })
	always.Where, always.Work = true, true
	d := Diagnose(tl, []Hypothesis{taking("once", timeline.CauseLock), always}, Options{})
	expect(t, d, map[string]string{"always": "lead", "once": "lead"})
	if d.Leads[0].ID != "always" || len(d.Leads[1].When) != 1 {
		t.Errorf("%+v", d.Leads)
	}
}

// An endpoint with few requests is left out among others, unless they take more than half of the time; even then
// nothing is proven about it.
func TestFewRequestsThatTakeMostTimeMayHaveALead(t *testing.T) {
	for seldom, want := range map[int]string{9: "ruled out", 19: "lead", 20: "found"} {
		tl := newTimeline()
		every(tl, "GET /often", 40, func(int) []piece { return work(0) })
		every(tl, "GET /seldom", seldom, func(int) []piece { return work(12_000) })
		expect(t, Diagnose(tl, []Hypothesis{taking("lock", timeline.CauseLock)}, Options{}), map[string]string{"lock": want})
	}
}
