package score

import (
	"testing"

	"github.com/getdwell/dwell/internal/lab"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// What the laboratory writes is a recording without contradiction, from which each request comes
// out as long as it was.
func TestTheLabWritesWhatItPlayed(t *testing.T) {
	faults := lab.Faults()
	for i := range faults {
		trial, _ := lab.NewTrial(&faults[i], 0.2, 100, uint64(i))
		rec, took := trial.Faulty.Record()
		for _, err := range recording.Validate(rec) {
			t.Errorf("%s: %v", faults[i].Name, err)
		}
		tl, err := timeline.Build(rec)
		if err != nil || len(tl.Requests) != len(took) {
			t.Fatalf("%s: %d requests of %d, %v", faults[i].Name, len(tl.Requests), len(took), err)
		}
		var played, rebuilt timeline.Duration
		for k, d := range took {
			played += timeline.Duration(d)
			rebuilt += tl.Requests[k].Duration()
		}
		if off := played - rebuilt; off > played/1000 || off < -played/1000 {
			t.Errorf("%s: requests took %d in all, rebuilt they take %d", faults[i].Name, played, rebuilt)
		}
	}
}

// A sample of what make lab plays: half of the mean is never overlooked.
func TestHalfOfTheMeanIsFound(t *testing.T) {
	faults := lab.Faults()
	for i := range faults {
		row, err := Play(recording.Workers{}, &faults[i], 0.5, Size{Services: 1, Requests: 200})
		if err != nil {
			t.Fatal(err)
		}
		if row.trials() == 0 || row.Said[RuledOut]+row.Said[Absent]+row.Said[Undecided]+row.Said[Minor] > 0 {
			t.Errorf("%s: found, lead, minor, ruled out, undecided, absent: %v", row.Fault, row.Said)
		}
	}
}

// Nothing is found where nothing is wrong.
func TestHealthyServicesHaveNoFinding(t *testing.T) {
	said, seeds, err := Healthy(recording.Workers{}, 15, 300)
	if err != nil || len(said) > 0 {
		t.Errorf("%v, in services %v: %v", said, seeds, err)
	}
}
