package gocalls

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// Goroutine 23 takes tasks from a channel with a buffer, makes a call for each, and wakes goroutines 7 and then 17,
// which wait for its results. That it woke 17 is seen twice, in how 17's wait ended and in the stack with which 23
// woke it, but counts as one result: the call between the two results is the task of 17's request.
func TestResultsOfGoroutinesAreCountedOnce(t *testing.T) {
	const process = recording.ProcessID(1)
	tl := &timeline.Timeline{
		Strands:  []timeline.Strand{{Process: process, Goroutine: 7}, {Process: process, Goroutine: 17}, {Process: process, Goroutine: 23}},
		Requests: []timeline.Request{{RequestMore: &timeline.RequestMore{}, FirstRead: 100, End: 1100}, {RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, FirstRead: 200, End: 2000}},
		Calls:    []timeline.Call{{Strand: 2, SendFrom: 1200}},
		Frames:   []recording.Frame{{Function: goSend}}, Stacks: []timeline.Stack{{Caller: timeline.None, Frame: 0}},
	}
	f := &facts.Facts{Threads: []facts.Thread{{ID: 1, Process: process}}}
	f.ThreadIndex.Set(1, 0)
	f.Stacks.StackIndex.Set(9, 0)
	for _, x := range []struct {
		of             recording.GoroutineID
		at, since, ran recording.Time
	}{{7, 1000, 120, 1010}, {17, 1900, 220, 1910}} {
		f.Parks.Unparks = append(f.Parks.Unparks, facts.Unpark{At: x.at, Unpark: &recording.Unpark{Thread: 1, Goroutine: 23, Woken: x.of, Stack: 9}})
		f.Parks.Parks = append(f.Parks.Parks, facts.Park{At: x.ran, Park: &recording.Park{Thread: 1, Left: 1, Goroutine: x.of, Since: x.since, Reason: recording.ParkReceive}})
	}
	o := timeline.Stints{{{From: 100, To: 1100, Request: 0}}, {{From: 200, To: 2000, Request: 1}}, nil}
	g := &goroutines{t: tl, f: f, owners: o, strands: facts.IndexGoroutines(tl)}
	g.made = g.whenMade()
	got := g.tasks()
	if len(got[2]) != 1 || got[2][0] != (timeline.Stint{From: 1000, To: 1900, Request: 1}) {
		t.Errorf("goroutine 23 worked for %+v, want request 1 from 1000 to 1900", got[2])
	}
}
