package hypotheses

import "github.com/getdwell/dwell/recording"

// preempted makes the thread lose the processor for some time.
func (t *thread) preempted(d recording.Time) {
	t.add(t.at+d, &recording.Off{Thread: t.id, Since: t.at, Woken: t.at, State: recording.OffPreempted})
	t.at += d
}

// coldStories are services that have just begun, or not.
func coldStories() []story {
	// young plays requests to a process that began at a time after boot; the first request comes after 50 ms.
	young := func(born recording.Time, each func(t *thread, i int)) *scenario {
		s := called(newScenario(recording.RuntimePython), 80, each)
		s.born = int64(born)
		return s
	}
	aged := func(born recording.Time, each func(t *thread, i int)) func() *recording.Recording {
		return func() *recording.Recording { return done(young(born, each), 30) }
	}
	const justNow, never = 10_000 * us, 0
	ready := func(t *thread, _ int) { keptCall(t, 2000*us) }
	return []story{
		{"cold-start/supported", "Code is interpreted in the first 20 of 80 calls, then compiled: 28 ms instead of none.",
			aged(justNow, func(t *thread, i int) {
				if i < 20 {
					t.compute(28_000 * us)
				}
				keptCall(t, 2000*us)
			})},
		{"cold-start/small-supported", "The first 36 of 80 calls compute 1.5 ms more than the later ones, which take 4 to 5 ms, as it happens; one in ten of all takes 30 ms.",
			aged(justNow, func(t *thread, i int) {
				if i < 36 {
					t.compute(1500 * us)
				}
				if i%10 == 9 {
					t.compute(30_000 * us)
				}
				keptCall(t, 4000*us+recording.Time(i*7%10)*100*us)
			})},
		{"cold-start/refuted", "A process that has just begun, and answers as fast as later.", aged(justNow, ready)},
		{"cold-start/random-refuted", "Every fifth call is slow, at any age.",
			aged(justNow, func(t *thread, i int) {
				keptCall(t, map[bool]recording.Time{false: 2000 * us, true: 40_000 * us}[i%5 == 4])
			})},
		{"cold-start/beside-refuted", "While a process is young another program has the processors: each of the first 20 of 80 calls waits 28 ms for one.",
			func() *recording.Recording {
				return done(competing(young(justNow, func(t *thread, i int) {
					if i < 20 {
						t.preempted(28_000 * us)
					}
					keptCall(t, 2000*us)
				}), "backup", 60), 96)
			}},
		{"cold-start/undecided", "When the process began is not known; the first calls are slow.",
			aged(never, func(t *thread, i int) {
				if i < 20 {
					t.compute(28_000 * us)
				}
				keptCall(t, 2000*us)
			})},
	}
}
