package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// Others wait 60 ms while holders sleep between tries, 35 while they compute, 5 while they do
// what is not known: half of it and more is known.
func TestWhatMembersOfAPoolAreUsedFor(t *testing.T) {
	c := &diagnosis.Case{Timeline: &timeline.Timeline{}}
	k := &contention{
		did: []deed{{kind: deedIO, cause: timeline.CauseSleep, stack: timeline.None, call: timeline.None},
			{kind: deedCPU, cause: timeline.CauseOnCPU, call: timeline.None}, {kind: deedOther, cause: timeline.CauseCondition, call: timeline.None}},
		weights: []Duration{60, 35, 5}, total: 190,
	}
	k.by[deedUnknown] = 90
	if got, want := k.usedFor(c), "; whoever has one sleeps until a timer for 60 % and computes for 35 % of that time"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if k.by[deedUnknown] = 100; k.usedFor(c) != "" {
		t.Errorf("of 90 of 190 ms it is known, and said is %q", k.usedFor(c))
	}
}
