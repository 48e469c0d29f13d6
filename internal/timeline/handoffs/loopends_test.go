package handoffs

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// A loop waits for events from 20 to 50, when a worker that is done with its call wakes it. What the loop answers
// before it waits again is what the worker did. What it answers later, or had answered before, is not; nor is what it
// does after a packet wakes it.
func TestWhatALoopAnswersNextIsWhatWhoWokeItDid(t *testing.T) {
	const loop, worker = timeline.StrandID(0), timeline.StrandID(1)
	for name, c := range map[string]struct {
		ends  []recording.Time // of requests 0, 1, ...
		woken recording.WakerKind
		want  timeline.RequestID
	}{
		"the next one":              {[]recording.Time{15, 90, 60, 65}, recording.WakerThread, 2},
		"it waits for events first": {[]recording.Time{15, 90}, recording.WakerThread, timeline.None},
		"a packet woke it":          {[]recording.Time{15, 60}, recording.WakerInterrupt, timeline.None},
	} {
		tl := &timeline.Timeline{Strands: []timeline.Strand{{Process: 1, Loop: true}, {Process: 1}}}
		for i, end := range c.ends {
			tl.Requests = append(tl.Requests, timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, ID: timeline.RequestID(i), Process: 1, Strand: loop, End: end})
		}
		f := &facts.Facts{Threads: make([]facts.Thread, 2)}
		f.ThreadIndex.Set(1, 0)
		f.ThreadIndex.Set(2, 1)
		for _, off := range []recording.Off{{Since: 20, Woken: 50, WakerKind: c.woken, Waker: 2}, {Since: 70, Woken: 80, WakerKind: recording.WakerInterrupt}} {
			off.State, off.Syscall = recording.OffSleep, "epoll_wait"
			f.Threads[loop].Steps = append(f.Threads[loop].Steps, facts.Step{At: off.Woken, Off: facts.NewOff(&off)})
		}
		tl.Calls = []timeline.Call{{SendFrom: 30, End: 48}}
		h := &jobFinder{activity: &activity{t: tl, f: f, strands: []strand{{}, {calls: []timeline.CallID{0}}}, ways: make([]callWay, 1)}}
		findLoopEnds(h.activity)
		j := job{strand: worker, from: 25, to: 55, by: loop, claim: timeline.None}
		h.fill(&j)
		got := timeline.RequestID(timeline.None)
		if len(j.results) > 0 && j.results[0].calls == 1 {
			got = j.results[0].request
		}
		if got != c.want {
			t.Errorf("%s: it did %d (%+v), want %d", name, got, j.results, c.want)
		}
	}
}
