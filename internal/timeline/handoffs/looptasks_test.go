package handoffs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// loopStory is a loop, strand 0, that reads a request each 100, wakes somebody 5 later, polls, and is woken by strand 1 when that is
// done with it, 60 later.
type loopStory struct {
	tl       *timeline.Timeline
	f        *facts.Facts
	requests []exchange.Request
	h        *activity
}

func newLoopStory(n int) *loopStory {
	s := &loopStory{tl: &timeline.Timeline{Strands: []timeline.Strand{{Process: 1, Loop: true}, {Process: 1}, {Process: 1}, {Process: 1}}}, f: &facts.Facts{Threads: make([]facts.Thread, 4)}}
	for i := range s.f.Threads {
		s.f.ThreadIndex.Set(recording.ThreadID(i+1), i)
		s.f.Threads[i].ID = recording.ThreadID(i + 1)
	}
	s.h = &activity{t: s.tl, f: s.f, o: make(timeline.Stints, 4), serving: make(timeline.Stints, 4), strands: make([]strand, 4)}
	for i := range n {
		at := recording.Time(100 * (i + 1))
		s.tl.Requests = append(s.tl.Requests, timeline.Request{
			RequestBy: &timeline.RequestBy{}, RequestMore: timeline.NoMore(), ID: timeline.RequestID(i), Process: 1, FirstRead: at, End: at + 70,
		})
		s.requests = append(s.requests, exchange.Request{Read: at})
		s.wake(1, at+5)
		s.polls(at+10, at+60, 1)
	}
	return s
}

// wake has the loop wake a strand.
func (s *loopStory) wake(of timeline.StrandID, at recording.Time) {
	off := facts.NewOff(&recording.Off{Since: at - 2, Woken: at})
	s.h.strands[0].woke = append(s.h.strands[0].woke, wake{at, 0, of, off})
}

// polls has the loop wait for events until a strand wakes it.
func (s *loopStory) polls(from, to recording.Time, by timeline.StrandID) {
	off := facts.NewOff(&recording.Off{Since: from, Woken: to, State: recording.OffSleep, Syscall: "epoll_wait", WakerKind: recording.WakerThread, Waker: recording.ThreadID(by + 1)})
	s.f.Threads[0].Steps = append(s.f.Threads[0].Steps, facts.Step{At: to, Off: off})
}

// parts are who did what for which request.
func (s *loopStory) parts() []string {
	s.h.strands[1].jobs = []job{{strand: 1, from: 100, to: 5000}}
	slices.SortStableFunc(s.h.strands[0].woke, func(a, b wake) int { return int(a.at - b.at) })
	p := partList{activity: s.h, parts: make([][]timeline.Handover, len(s.tl.Requests))}
	findLoopEnds(s.h)
	(&loopTasks{partList: &p}).find(s.requests)
	var said []string
	for r, list := range p.parts {
		for _, x := range list {
			said = append(said, fmt.Sprintf("%d: %d from %d to %d", r, x.Strand, x.From, x.To))
		}
	}
	return said
}

// What a loop has just read is done by the strand that it wakes, until that wakes it and it answers. Compilers do not wake
// loops. Of a strand that had not slept it shows in what the loop answers as it is woken. Where what loops answer is
// not what they had read, nothing is told.
func TestWhatALoopLeavesToThreads(t *testing.T) {
	told := newLoopStory(12)
	told.wake(2, 203) // a compiler
	told.h.strands[0].woke = slices.DeleteFunc(told.h.strands[0].woke, func(w wake) bool { return w.at == 405 })
	if got := told.parts(); len(got) != 12 || got[1] != "1: 1 from 205 to 260" || got[3] != "3: 1 from 400 to 460" {
		t.Errorf("told:\n%s", strings.Join(got, "\n"))
	}
	others := newLoopStory(12)
	for i := range others.tl.Requests { // the loop answers the one before
		others.tl.Requests[i].End += 95
	}
	if got := others.parts(); len(got) != 0 {
		t.Errorf("answers are others':\n%s", strings.Join(got, "\n"))
	}
	few := newLoopStory(enoughTasks - 1)
	if got := few.parts(); len(got) != 0 {
		t.Errorf("too few to tell:\n%s", strings.Join(got, "\n"))
	}
}
