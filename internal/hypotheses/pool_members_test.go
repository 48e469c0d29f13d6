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

// A request waits for 30 ms, and a call of it of 8 ms ends then: what another thread calls for it is what it waits for from 22 ms on,
// and no member of a pool. What it calls itself, once it goes on, is none of that; and the other thread's call that goes on after it is not waited for.
func TestWhatARequestWaitsForBeforeAnotherThreadCallsForIt(t *testing.T) {
	for _, x := range []struct {
		by         timeline.StrandID
		start, end int
		want       Duration
		most       bool
	}{{2, 22, 30, 22, true}, {1, 22, 30, 30, false}, {2, 22, 38, 30, false}, {2, 0, 30, 0, true}} {
		more := &timeline.RequestMore{Calls: []timeline.CallID{0}}
		c := &diagnosis.Case{Timeline: &timeline.Timeline{
			Requests: []timeline.Request{{RequestMore: more}},
			Calls:    []timeline.Call{{Strand: x.by, Start: diagnosis.Time(x.start) * 1_000_000, End: diagnosis.Time(x.end) * 1_000_000}},
		}}
		k := &contention{stays: []stay{{Span: diagnosis.Span{From: 0, To: 30_000_000}, strand: 1}}}
		most := beforeTheirCalls(c, k)
		if got := diagnosis.Total(spansOf(k.stays)); got != x.want*1_000_000 || most != x.most {
			t.Errorf("%+v: waits %v for a member, mostly for others' work %v", x, got, most)
		}
	}
}
