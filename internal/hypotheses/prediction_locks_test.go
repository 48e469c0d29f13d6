package hypotheses

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// TestPredictedSavingWithoutALock plays the same arrivals with a lock in the way and without. The saving predicted from
// the first must be what the second shows.
func TestPredictedSavingWithoutALock(t *testing.T) {
	io := func(t *thread) { keptCall(t, 5000*us) }
	for _, c := range []struct {
		name, id   string
		bad, fixed *recording.Recording
	}{
		{"held over a call", "refresh-under-lock", done(bursts(newScenario(recording.RuntimeJVM), 4, locked(token, io)), 30),
			done(bursts(newScenario(recording.RuntimeJVM), 4, func(t *thread, _ int) { io(t) }), 30)},
		{"held over a call by one of many, behind which nobody waits every other time", "refresh-under-lock",
			done(bursts(newScenario(recording.RuntimeJVM), 4, refreshing()), 30),
			done(bursts(newScenario(recording.RuntimeJVM), 4, func(*thread, int) {}), 30)},
		{"held over computing, two processors", "lock-convoy", done(bursts(newScenario(recording.RuntimeJVM), 4, locked(cached, computing)), 50),
			done(bursts(newScenario(recording.RuntimeJVM), 4, sharing(2)), 50)},
		{"held over a wait for random numbers", "entropy-wait", done(bursts(newScenario(recording.RuntimeJVM), 4, locked(entering+drawing, reading)), 30),
			done(bursts(newScenario(recording.RuntimeJVM), 4, func(*thread, int) {}), 30)},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad, was := meanTime(t, c.bad)
			fixed, is := meanTime(t, c.fixed)
			if len(bad.Findings) == 0 || bad.Findings[0].ID != c.id {
				t.Fatalf("%s does not come first: %+v", c.id, bad.Findings)
			}
			saved, predicted := was-is, bad.Findings[0].Impact.Total/diagnosis.Duration(len(bad.Overall.Requests))
			if off := predicted - saved; off > saved/10 || off < -saved/10 {
				t.Errorf("predicted to save %d us of a mean request, saved %d", predicted/1000, saved/1000)
			}
			if i := slices.IndexFunc(fixed.Findings, func(f diagnosis.Finding) bool { return f.ID == c.id }); i >= 0 {
				t.Errorf("the fixed twin has the finding: %s", fixed.Findings[i].Title)
			}
		})
	}
}

// TestLessUnderALockIsReplayed: work that takes two fifths of the time that a lock is held may make all of its queue.
// Since when the first strand holds the lock is not seen: a fifth of what is saved is not known.
func TestLessUnderALockIsReplayed(t *testing.T) {
	bad, was := meanTime(t, done(bursts(newScenario(recording.RuntimeJVM), 4, loggingUnder(true)), 90))
	_, is := meanTime(t, done(bursts(newScenario(recording.RuntimeJVM), 4, loggingUnder(false)), 90))
	if len(bad.Findings) == 0 || bad.Findings[0].ID != "refresh-under-lock" {
		t.Fatalf("refresh-under-lock does not come first: %+v", bad.Findings)
	}
	if saved, predicted := was-is, bad.Findings[0].Impact.Total/diagnosis.Duration(len(bad.Overall.Requests)); predicted < saved*4/5 || predicted > saved {
		t.Errorf("predicted to save %d us of a mean request, saved %d", predicted/1000, saved/1000)
	}
}

// meanTime diagnoses a recording, and returns the mean time of its requests.
func meanTime(t *testing.T, rec *recording.Recording) (*diagnosis.Diagnosis, diagnosis.Duration) {
	t.Helper()
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	d := diagnosis.Diagnose(tl, All(), diagnosis.Options{})
	var sum diagnosis.Duration
	for _, id := range d.Overall.Requests {
		sum += tl.Requests[id].Duration()
	}
	return d, sum / diagnosis.Duration(len(d.Overall.Requests))
}

func computing(t *thread) { t.computeIn(5000*us, digest) }

func reading(t *thread) { t.blocked(t.at+5000*us, 20*us, "read", drawing) }

// loggingUnder makes requests come for a lock 10 ms apart, hold it to compute for 9 ms, and sync a file for 2 ms before
// and 4 ms after that. They do the syncs while they hold the lock, or when they have given it back.
func loggingUnder(held bool) func(t *thread, burst int) {
	sync := func(t *thread, takes recording.Time) {
		t.blocked(t.at+takes, 10*us, "fsync", "com.shop.Log.write < com.shop.Handler.handle")
	}
	under := locked(cached, func(t *thread) {
		if held {
			sync(t, 2000*us)
		}
		t.computeIn(9000*us, digest)
		if held {
			sync(t, 4000*us)
		}
	})
	return func(t *thread, burst int) {
		keptCall(t, 10_000*us*recording.Time(t.id))
		if under(t, burst); !held {
			sync(t, 6000*us)
		}
	}
}

// sharing makes requests compute on so many processors, one after the other on each.
func sharing(processors int) func(t *thread, burst int) {
	free := make([]recording.Time, processors)
	return func(t *thread, _ int) {
		first := 0
		for i := range free {
			if free[i] < free[first] {
				first = i
			}
		}
		if free[first] > t.at {
			t.add(free[first], &recording.Off{Thread: t.id, Since: t.at, Woken: t.at, State: recording.OffPreempted})
			t.at = free[first]
		}
		computing(t)
		free[first] = t.at
	}
}

// refreshing makes about every eighth request renew, under a lock, what all use. By turns it is the first of a burst,
// behind which the others wait, and the last, behind which no other does.
func refreshing() func(t *thread, burst int) {
	m := &mutex{}
	return func(t *thread, burst int) {
		t.enter(m, token)
		if turn := burst % 4; turn == 0 && t.id == 1 || turn == 2 && t.id == 4 {
			keptCall(t, 20_000*us)
		}
		t.leave(m)
	}
}
