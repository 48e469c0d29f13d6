package handoffs

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Request 0 is served on strand 0, request 1 on strand 1; both hand work to strand 2, which
// each wakes for that. While the other may have put something in too, results tell whether
// the worker has the task of who woke it; if they always do, that counts where none tells.
func TestWhoWakesAWorkerHandsItTheTask(t *testing.T) {
	for name, c := range map[string]struct {
		result    timeline.RequestID // what the last of the worker's results is
		of        int                // results
		contested bool
		by        timeline.StrandID
		want      bool
	}{
		"always of who woke it":      {0, manyKnown / 2, true, 0, true},
		"once of another":            {1, manyKnown / 2, true, 0, false},
		"too few":                    {0, manyKnown/2 - 1, true, 0, false},
		"nobody else put in any":     {0, manyKnown / 2, false, 0, false},
		"it was woken by a worker":   {0, manyKnown / 2, true, 3, false},
		"its claim is not the waker": {0, manyKnown / 2, true, 1, false},
	} {
		h := &decisions{activity: &activity{
			t:       &timeline.Timeline{Strands: make([]timeline.Strand, 4), End: 1000},
			o:       timeline.Stints{{{From: 0, To: 1000, Request: 0}}, {{From: 0, To: 1000, Request: 1}}, nil, nil},
			serving: make(timeline.Stints, 4), strands: []strand{{least: 1}, {least: 1}, {least: 1}, {least: 1}},
		}}
		var jobs []job
		for i := range c.of {
			at := recording.Time(10 * (i + 1))
			h.t.Calls = append(h.t.Calls, timeline.Call{ID: timeline.CallID(i), Strand: 2, Request: timeline.None, Why: timeline.WhyNoOwner, SendFrom: at + 2, End: at + 4})
			of := timeline.RequestID(0)
			if i == c.of-1 {
				of = c.result
			}
			jobs = append(jobs, job{strand: 2, from: at, to: at + 9, by: c.by, claim: 0, root: at, late: c.contested, calls: []timeline.CallID{timeline.CallID(i)}, results: []result{{at: at + 8, request: of, calls: 1}}})
		}
		h.strands[2].jobs = jobs
		if got := h.directOnes()[0]; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
