package handoffs

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// A loop reads a request each 100, wakes a worker 10 later and waits for events; the worker wakes it when it is done, 50
// after the request was read, and the loop answers. What it answers then tells whether it wakes workers for what it has just read.
func TestWhatALoopHasReadIsWhatItWakesAWorkerFor(t *testing.T) {
	const loop, worker = timeline.StrandID(0), timeline.StrandID(1)
	for name, c := range map[string]struct {
		answers int            // of which request, counted from that which was read last
		woken   recording.Time // the worker, after that was read
		want    bool
	}{
		"hands on what it read":          {0, 10, true},
		"waits for events meanwhile":     {0, 25, false},
		"answers another":                {-1, 10, false},
		"has answered another meanwhile": {0, 65, false},
	} {
		tl := &timeline.Timeline{Strands: []timeline.Strand{{Process: 1, Loop: true}, {Process: 1}}}
		f := &facts.Facts{Threads: make([]facts.Thread, 2)}
		f.ThreadIndex.Set(1, 0)
		f.ThreadIndex.Set(2, 1)
		h := &jobFinder{activity: &activity{t: tl, f: f, strands: make([]strand, 2)}}
		sleeps := func(at recording.Time, off recording.Off) {
			off.State, off.Syscall = recording.OffSleep, "epoll_wait"
			f.Threads[loop].Steps = append(f.Threads[loop].Steps, facts.Step{At: at, Off: facts.NewOff(&off)})
		}
		for i := range 20 {
			at := recording.Time(1000 + 100*i)
			answered := at + 60 + recording.Time(100*-c.answers)
			tl.Requests = append(tl.Requests, timeline.Request{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{},
				ID: timeline.RequestID(i), Process: 1, Strand: loop, End: answered, FirstRead: at})
			sleeps(at+50, recording.Off{Since: at + 20, Woken: at + 50, WakerKind: recording.WakerThread, Waker: recording.ThreadID(2)})
			sleeps(at+95, recording.Off{Since: at + 70, Woken: at + 95, WakerKind: recording.WakerInterrupt})
			h.strands[worker].jobs = append(h.strands[worker].jobs, job{strand: worker, from: at + c.woken, to: at + 55 + c.woken, by: loop, claim: timeline.None})
		}
		h.tellByReads()
		for i := range h.strands[worker].jobs[1:18] {
			if j := &h.strands[worker].jobs[i+1]; j.told != c.want || c.want && j.claim != timeline.RequestID(i+1) {
				t.Errorf("%s: job %d is for %d (told: %t), want %t", name, i+1, j.claim, j.told, c.want)
				break
			}
		}
	}
}
