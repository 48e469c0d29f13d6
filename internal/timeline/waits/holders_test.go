package waits

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// Thread 1 lets a lock go, sleeps, takes it again without having to wait, and lets it go. Whether
// it had the lock while it slept follows from what it slept for.
//
//	us       0         100       200                 900       1000
//	thread 1 |has it---|         |sleeps.............|         |lets it go
//	thread 2 ....waits.|
//	thread 3 ....waits..........................................|
func TestNobodyHasALockWhileItWaitsForWork(t *testing.T) {
	had := func(from, to recording.Time) timeline.Hold {
		return timeline.Hold{Strand: 0, From: from * us, To: to * us}
	}
	for rule, want := range map[string][]timeline.Hold{
		timeline.RuleIdle:  {had(1, 100), had(900, 1000)}, // the holder in between is not known
		timeline.RuleChild: {had(1, 100), had(100, 1000)}, // a lock's holder may wait for a program
	} {
		tl := &timeline.Timeline{Locks: []timeline.Lock{{Kind: timeline.CauseLock}}, Strands: make([]timeline.Strand, 3)}
		s := &Sleeps{t: tl, f: facts.New(tl)}
		for id := range recording.ThreadID(3) {
			s.f.Take(recording.Event{Fact: &recording.Thread{ID: id + 1}})
		}
		sleep := func(strand timeline.StrandID, from, to recording.Time, rule string, lock timeline.LockID) {
			off := facts.NewOff(&recording.Off{Syscall: "futex", Woken: to * us, WakerKind: recording.WakerThread, Waker: 1, Release: 1})
			id := timeline.WaitID(len(tl.Waits))
			tl.Strands[strand].Waits = append(tl.Strands[strand].Waits, id)
			tl.Waits = append(tl.Waits, timeline.Wait{Strand: strand, From: from * us, To: to * us, Rule: rule, Lock: lock, Cause: timeline.CauseLock})
			s.all = append(s.all, sleepAt{strand: strand, from: from * us, to: to * us, off: off, wait: id})
		}
		sleep(1, 1, 100, timeline.RuleOwner, 0)
		sleep(0, 200, 900, rule, timeline.None)
		sleep(2, 1, 1000, timeline.RuleOwner, 0)
		s.holders()
		if diff := cmp.Diff(want, tl.Waits[2].Holds); diff != "" {
			t.Errorf("%s: who had it while thread 3 waited (-want +got)\n%s", rule, diff)
		}
	}
}
