package build

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Recording pauses from 30 to 60:
//
//	time    0    10    20    30    60    80    100
//	thread  runs                |  gap  |sleeps runs
func TestNothingRunsInAGap(t *testing.T) {
	rec := &recording.Recording{Events: []recording.Event{
		{Time: 1000, Fact: &recording.Manifest{}},
		{Time: 1000, Fact: &recording.Thread{ID: 1}},
		{Time: 1000, Fact: &recording.ThreadState{Thread: 1, On: 1}},
		{Time: 1060, Fact: &recording.Gap{From: 1030}},
		{Time: 1080, Fact: &recording.Off{Thread: 1, Since: 1060, Woken: 1080}},
		{Time: 1100, Fact: &recording.ThreadState{Thread: 1, On: 1}},
		{Time: 1100, Fact: &recording.End{}},
	}}
	tl, err := Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	var ran recording.Duration
	for _, iv := range tl.Strands[0].Intervals {
		if iv.State == timeline.StateRunning {
			ran += iv.To.Sub(iv.From)
		}
	}
	if ran != 50 {
		t.Errorf("it ran for %d, want 30 before the gap and 20 at the end", ran)
	}
	for _, c := range []struct {
		from, to recording.Time
		want     recording.Duration
	}{{1000, 1100, 70}, {1000, 1030, 30}, {1020, 1050, 10}, {1035, 1050, 0}, {1050, 1070, 10}, {1060, 1100, 40}, {900, 2000, 70}} {
		if got := tl.InWindows(c.from, c.to); got != c.want {
			t.Errorf("%d of %d to %d were recorded, want %d", got, c.from, c.to, c.want)
		}
	}
	if w := tl.WindowAt(1040); w != (timeline.Window{From: 1060, To: 1100}) {
		t.Errorf("what is seen in a gap belongs to the window %v", w)
	}
}

// Recording pauses at 30, and ends at 60 before it continued:
//
//	time    0    10    20    30    60
//	thread  sleeps     runs  |  gap  |
func TestARecordingEndsInAGap(t *testing.T) {
	rec := &recording.Recording{Events: []recording.Event{
		{Time: 1000, Fact: &recording.Manifest{}},
		{Time: 1000, Fact: &recording.Thread{ID: 1}},
		{Time: 1020, Fact: &recording.Off{Thread: 1, Since: 1000, Woken: 1020}},
		{Time: 1030, Fact: &recording.ThreadState{Thread: 1, On: 1}},
		{Time: 1050, Fact: &recording.Gap{From: 1030}},
		{Time: 1060, Fact: &recording.Gap{From: 1050}},
		{Time: 1060, Fact: &recording.End{}},
	}}
	tl, err := Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := timeline.Validate(tl); err != nil {
		t.Error(err)
	}
	if want := []timeline.Window{{From: 1000, To: 1030}}; !slices.Equal(tl.Windows, want) {
		t.Errorf("windows %v, want %v", tl.Windows, want)
	}
	var states []timeline.State
	for _, iv := range tl.Strands[0].Intervals {
		states = append(states, iv.State)
	}
	if want := []timeline.State{timeline.StateSleeping, timeline.StateRunning, timeline.StateUnknown}; !slices.Equal(states, want) {
		t.Errorf("the thread was %v, want %v", states, want)
	}
}
