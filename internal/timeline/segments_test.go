package timeline

import (
	"slices"
	"testing"
)

// Packing a request's segments preserves each of them: with gaps between them, parts of calls in any order, changing
// strands, and other requests that the request waited behind.
func TestSegmentsAreKeptAsTheyWere(t *testing.T) {
	want := []Segment{
		{From: 1000, To: 1300, Phase: PhaseUnread, Cause: CauseEventLoop, Quality: Exact, Call: None, Strand: 2, Blocker: 90},
		{From: 1300, To: 1300 + 1<<40, Phase: PhaseQueue, Cause: CausePool, Quality: Inferred, Call: 1 << 30, Strand: 2, Blocker: 1<<31 - 1},
		{From: 1400 + 1<<40, To: 1401 + 1<<40, Phase: PhaseRemote, Cause: CauseSleep, Quality: Sampled, Call: 7, Strand: None, Blocker: None},
		{From: 1500 + 1<<40, To: 1600 + 1<<40, Phase: PhaseHandler, Cause: CauseUnknown, Quality: Inferred, Call: None, Strand: 1<<31 - 1, Blocker: 0},
	}
	r := Request{RequestBy: &RequestBy{}, RequestMore: &RequestMore{}, ID: 100, Strand: 2, Start: 900, End: 1 << 41}
	r.SetSegments(want)
	if got := r.SegmentList(); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for cause := range NumCauses {
		if is := slices.ContainsFunc(want, func(g Segment) bool { return g.Cause == cause }); r.Has(cause) != is {
			t.Errorf("%v: Has says %v", cause, !is)
		}
	}
	if none := new(Request); none.SegmentList() != nil || none.Has(CauseUnknown) {
		t.Error("a request without segments has some")
	}
}
