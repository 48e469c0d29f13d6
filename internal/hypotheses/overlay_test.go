package hypotheses

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
)

// Waits with every beginning and end lie over five deeds, one after the other and with a gap. The overlay must say what
// walking through the deeds says.
func TestOverlayIsWhatAWalkSays(t *testing.T) {
	list := []deed{
		{from: 2, to: 5, kind: deedCPU}, {from: 5, to: 6, kind: deedIO}, {from: 8, to: 12, kind: deedUnknown},
		{from: 12, to: 15, kind: deedIO}, {from: 15, to: 17, kind: deedCPU},
	}
	over, weights := newOverlay(list), make([]Duration, len(list))
	for from := diagnosis.Time(0); from < 20; from++ {
		for to := from + 1; to <= 20; to++ {
			var want [deedKinds]Duration
			want[deedUnknown] = to.Sub(from)
			for i, x := range list {
				if d := min(to, x.to).Sub(max(from, x.from)); d > 0 && x.kind != deedUnknown {
					want[x.kind] += d
					want[deedUnknown] -= d
					weights[i] += d
				}
			}
			if got := over.lay(from, to); got != want {
				t.Errorf("from %d to %d: %v, want %v", from, to, got, want)
			}
		}
	}
	if got := over.weights(); !slices.Equal(got, weights) {
		t.Errorf("weights %v, want %v", got, weights)
	}
}

// Thread pools are in order of their time, those with equal time by name.
func TestFamiliesAreInOrderOfTheirTime(t *testing.T) {
	c := &diagnosis.Case{Timeline: &timeline.Timeline{}}
	for _, name := range []string{"exec-1", "exec-2", "timer-7", "main", "async-3"} {
		c.Strands = append(c.Strands, timeline.Strand{Name: name})
	}
	f := newFamilies(c)
	for id, d := range []Duration{3, 2, 9, 1, 1} {
		f.of(timeline.StrandID(id), d)
	}
	if got, want := f.longest(), []string{"timer-*", "exec-*", "async-*", "main"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if f.of(0, 0) != f.of(1, 0) {
		t.Error("exec-1 and exec-2 are of one pool")
	}
}

// A goroutine is off the processor from when it left it until it is back, whatever the causes in between.
func TestAwayIsFromProcessorToProcessor(t *testing.T) {
	r := &timeline.Request{Start: 0, End: 60}
	var list []timeline.Segment
	for i, cause := range []timeline.Cause{timeline.CauseOnCPU, timeline.CauseRemote, timeline.CauseUnknown, timeline.CauseRunnable, timeline.CauseOnCPU, timeline.CauseUnknown} {
		list = append(list, timeline.Segment{From: timeline.Time(10 * i), To: timeline.Time(10*i + 10), Cause: cause})
	}
	r.SetSegments(list)
	for _, x := range [][4]timeline.Time{{20, 30, 10, 40}, {50, 60, 50, 60}, {10, 20, 10, 40}} {
		if from, to := away(r, diagnosis.Span{From: x[0], To: x[1]}); from != x[2] || to != x[3] {
			t.Errorf("from %d to %d: away from %d to %d, want %d to %d", x[0], x[1], from, to, x[2], x[3])
		}
	}
}
