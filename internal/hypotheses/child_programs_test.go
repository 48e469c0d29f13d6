package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// A wait is for a program that was started before the recording if a thread of such another process ended it. A thread
// of the waiting process itself does not count, nor one of which nothing is known.
func TestWhoEndedAWaitForAnOlderProgram(t *testing.T) {
	const service, program, unknown = recording.ThreadID(1), recording.ThreadID(7), recording.ThreadID(9)
	woken := func(by recording.ThreadID) timeline.Wait {
		off := &timeline.Off{OffBy: &timeline.OffBy{}}
		off.WakerKind, off.Waker = recording.WakerThread, by
		return timeline.Wait{Off: off}
	}
	c := &diagnosis.Case{Timeline: &timeline.Timeline{
		Processes: []timeline.Process{{ID: 100, By: timeline.None}, {ID: 200, By: timeline.None}},
		Strands:   []timeline.Strand{{Process: 100, Thread: service}, {Process: 200, Thread: program}},
		Waits:     []timeline.Wait{woken(program), woken(service), woken(unknown)},
	}}
	for id, want := range []timeline.StrandID{1, timeline.None, timeline.None} {
		if got := startedBefore(c).ended(c, timeline.WaitID(id)); got != want {
			t.Errorf("wait %d: ended by strand %d, want %d", id, got, want)
		}
	}
}
