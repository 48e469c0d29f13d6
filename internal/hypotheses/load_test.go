package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Requests that come together wait while others of them compute on both processors; who waits for a
// processor that somebody else has does not wait for other requests.
func TestWaitsForOtherRequestsWorkAreLoad(t *testing.T) {
	for want, rec := range map[int]*recording.Recording{
		1: done(crowding(6, -80_000*us, 0), 68),
		0: done(starved(), 50),
	} {
		tl, err := timeline.Build(rec)
		if err != nil {
			t.Fatal(err)
		}
		look := diagnosis.Hypothesis{ID: "look", Test: func(c *diagnosis.Case) diagnosis.Result {
			s := serverOf(c)
			if got := forEachOthersWork(c, &s, nil); len(got) != want {
				t.Errorf("%d candidates, want %d", len(got), want)
			}
			return diagnosis.Result{}
		}}
		diagnosis.Diagnose(tl, []diagnosis.Hypothesis{look}, diagnosis.Options{})
	}
}
