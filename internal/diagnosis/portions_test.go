package diagnosis

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// The wait behind a fault is reported apart from the fault's own time; a wait alone needs no such words.
func TestWhatQueuesBehindAFault(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 40, func(int) []piece {
		return []piece{
			{timeline.PhaseUnread, timeline.CauseCondition, 2000},
			{timeline.PhaseHandler, timeline.CauseRunnable, 6000},
			{timeline.PhaseHandler, timeline.CauseDisk, 1000},
			{timeline.PhaseHandler, timeline.CauseLock, 500},
			{timeline.PhaseHandler, timeline.CauseOnCPU, 100},
		}
	})
	all := taking("scan", timeline.CauseDisk)
	all = but(all, func(c *Case, cd *Candidate) {
		cd.Spans = c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool {
			return s.Cause != timeline.CauseOnCPU && s.Cause != timeline.CauseLock
		})
	})
	d := Diagnose(tl, []Hypothesis{all, taking("lock", timeline.CauseLock)}, Options{})
	expect(t, d, map[string]string{"scan": "found", "lock": "found"})
	im := &d.Findings[0].Impact
	want := []Portion{
		{timeline.PhaseHandler, timeline.CauseRunnable, true, 6 * milli},
		{timeline.PhaseUnread, timeline.CauseUnknown, true, 2 * milli},
		{timeline.PhaseHandler, timeline.CauseDisk, false, 1 * milli},
	}
	if !slices.Equal(im.Portions, want) || im.Slow != 9*milli || im.Seen != 9*milli {
		t.Errorf("%+v", im)
	}
	if p := d.Findings[1].Impact.Portions; len(p) != 1 || p[0].Cause != timeline.CauseLock {
		t.Errorf("%+v", p)
	}
}

// A candidate that a finding may explain, and of which nothing is certainly its own, goes with the finding only if half
// of what was seen does.
func TestWhatIsNotItsOwnFollowsByWhatWasSeen(t *testing.T) {
	for first, want := range map[int]string{2000: "lead", 6000: "minor"} {
		tl := newTimeline()
		every(tl, "GET /", 40, func(int) []piece {
			return []piece{{timeline.PhaseRemote, timeline.CauseRemote, first}, {timeline.PhaseReceive, timeline.CauseRemote, 8000 - first}, {timeline.PhaseHandler, timeline.CauseOnCPU, 1000}}
		})
		calls := but(taking("calls", timeline.CauseRemote), func(c *Case, cd *Candidate) {
			cd.Spans = c.Spans(func(_ *timeline.Request, s *timeline.Segment) bool { return s.Phase == timeline.PhaseRemote })
		})
		calls.Explains = []string{"peer"}
		peer := but(taking("peer", timeline.CauseRemote), func(_ *Case, cd *Candidate) { cd.Seen, cd.Spans = cd.Spans, nil })
		peer.Where = true
		expect(t, Diagnose(tl, []Hypothesis{calls, peer}, Options{}), map[string]string{"calls": "found", "peer": want})
	}
}
