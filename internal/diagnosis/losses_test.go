package diagnosis

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// TestLostSchedulingIsDoubtfulWhereItTouches loses a scheduling fact while a strand is in its second interval: only
// what lies in that interval is in doubt.
func TestLostSchedulingIsDoubtfulWhereItTouches(t *testing.T) {
	tl := newTimeline()
	every(tl, "GET /", 1, func(int) []piece { return work(2000) })
	r := &tl.Requests[0]
	r.Strand = 0
	at := r.Start
	tl.Strands = []timeline.Strand{{Intervals: []timeline.Interval{
		{From: at, To: at + 100, State: timeline.StateRunning},
		{From: at + 100, To: at + 200, State: timeline.StateSleeping},
		{From: at + 200, To: at + 300, State: timeline.StateRunning},
	}}}
	tl.Losses = []timeline.Loss{{Hook: recording.HookSched, From: at + 140, To: at + 150, Count: 1}}
	c, _ := newCase(tl, Options{})
	j := &judge{Case: c}
	all := []Span{{0, at + 50, at + 250}}
	for needs, want := range map[string][]Span{
		recording.HookSched: {{0, at + 50, at + 100}, {0, at + 200, at + 250}},
		recording.HookIO:    all,
	} {
		if got := j.doubts([]string{needs}).sure(all); !slices.Equal(got, want) {
			t.Errorf("needs %s: %v, want %v", needs, got, want)
		}
	}
	tl.Losses[0].Hook = recording.HookIO
	if got := j.doubts([]string{recording.HookIO}).sure(all); got != nil {
		t.Errorf("a lost read or write may change the whole request, but %v is sure", got)
	}
}

// TestFewLossesLeaveAFinding loses one scheduling fact in each of many requests that all wait for the same lock: the
// lock is still found. If nothing was seen of it, the lost facts may have been it.
func TestFewLossesLeaveAFinding(t *testing.T) {
	tl := waitersThatLose(40, 40)
	h := taking("lock", timeline.CauseLock)
	h.Needs = []string{recording.HookSched}
	expect(t, Diagnose(tl, []Hypothesis{h}, Options{}), map[string]string{"lock": "found"})
	h.Test = func(*Case) Result { return Result{} }
	expect(t, Diagnose(tl, []Hypothesis{h}, Options{}), map[string]string{"lock": "undecided"})
}

// TestALossIsHeldAgainstWhatItCanHide loses facts in some of a thousand requests. The others were seen completely: what
// occurs in none of them is ruled out, unless the requests with losses are the slow ones, or so many facts were lost
// that requests may be missing.
func TestALossIsHeldAgainstWhatItCanHide(t *testing.T) {
	for _, c := range []struct {
		name string
		lost int
		slow int // microseconds by which requests with losses take longer
		want string
	}{
		{"one", 1, 0, "ruled out"},
		{"15 like the others", 15, 0, "ruled out"},
		{"the 15 slow ones", 15, 20_000, "undecided"},
		{"25 like the others", 25, 0, "undecided"},
	} {
		tl := waitersThatLose(1000, c.lost)
		for i := range tl.Losses {
			r := &tl.Requests[i]
			r.End += Time(c.slow) * 1000
			list := r.SegmentList()
			list[1].To = r.End
			r.SetSegments(list)
			tl.Losses[i].Hook = recording.HookIO
		}
		h := taking("disk", timeline.CauseDisk)
		t.Log(c.name)
		expect(t, Diagnose(tl, []Hypothesis{h}, Options{}), map[string]string{"disk": c.want})
	}
}

// waitersThatLose makes requests that work and wait for a lock, and loses a scheduling fact in
// each of the first.
func waitersThatLose(requests, lost int) *timeline.Timeline {
	tl := newTimeline()
	every(tl, "GET /", requests, func(int) []piece { return work(4000) })
	tl.Strands = []timeline.Strand{{}}
	for i := range tl.Requests {
		r := &tl.Requests[i]
		r.Strand = 0
		if mid := r.Start + 500_000; i < lost {
			tl.Losses = append(tl.Losses, timeline.Loss{Hook: recording.HookSched, From: mid, To: mid + 1000, Count: 1})
		}
	}
	return tl
}
