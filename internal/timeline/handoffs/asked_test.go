package handoffs

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// pythonWaits is a strand of CPython with waits of one kind each: where, in which stack, how long.
func pythonWaits(waits []timeline.Wait, offs []recording.Off) *idlePlaces {
	f := &facts.Facts{Threads: make([]facts.Thread, 1)}
	tl := &timeline.Timeline{
		Strands: make([]timeline.Strand, 1),
		Frames:  make([]recording.Frame, 1),
		Stacks:  []timeline.Stack{{Caller: timeline.None}, {Caller: 0}, {Caller: 1}, {Caller: 0}}, // 2 is deeper than 1 and 3
	}
	for i := range offs {
		off := facts.NewOff(&offs[i])
		off.State, off.Syscall = recording.OffSleep, "futex"
		w := waits[i]
		w.From, w.To, w.Off = off.Since, off.Woken, off
		tl.Waits = append(tl.Waits, w)
		tl.Strands[0].Waits = append(tl.Strands[0].Waits, timeline.WaitID(i))
		f.Threads[0].Steps = append(f.Threads[0].Steps, facts.Step{At: off.Woken, Off: off})
	}
	return &idlePlaces{&activity{t: tl, f: f, o: timeline.Stints{nil}, strands: make([]strand, 1)}}
}

// At word 7 a mutex is waited for, as some of the sleeps there tell, and longest of all.
func TestMutexesAreNoQueues(t *testing.T) {
	var waits []timeline.Wait
	var offs []recording.Off
	for i := range 12 {
		one := recording.Off{Since: recording.Time(100 * i), Woken: recording.Time(100*i + 20), Arg: 5, Owner: recording.NoThread}
		if i%2 == 0 {
			one.Arg, one.Woken = 7, one.Since+90
		}
		if i == 4 {
			one.Owner = 3
		}
		waits, offs = append(waits, timeline.Wait{Stack: timeline.None}), append(offs, one)
	}
	if got := pythonWaits(waits, offs).queueOf(0); got != 5 {
		t.Errorf("it waits for work at %d, want 5", got)
	}
}

// Strand 1 works on what it took for request 0, and makes a thread, which tells it that it has
// begun: that is no result.
func TestBeginningsAreNoResultsForWhoTookWork(t *testing.T) {
	h := &jobFinder{activity: &activity{
		t: &timeline.Timeline{Strands: make([]timeline.Strand, 3), Requests: []timeline.Request{{RequestBy: &timeline.RequestBy{}, RequestMore: &timeline.RequestMore{}, End: 100}}}, o: make(timeline.Stints, 3), serving: make(timeline.Stints, 3),
		strands: []strand{{}, {takings: []taking{{strand: 1, from: 10, to: 90, request: 0}}}, {jobs: []job{{strand: 2, from: 20, to: 80, by: 1, made: true, results: []result{{at: 25}, {at: 70, calls: 1}}}}}},
	}}
	h.dropBegins()
	if got := h.strands[2].jobs[0].results; len(got) != 1 || got[0].at != 70 {
		t.Errorf("results: %+v, want the one at 70", got)
	}
}
