package hypotheses

import "github.com/getdwell/dwell/recording"

// ordinaryStories are services that are not slow for a reason that makes others slow.
func ordinaryStories() []story {
	python := func(each func(t *thread, i int)) func() *recording.Recording {
		return func() *recording.Recording { return done(serve(newScenario(recording.RuntimePython), each), 30) }
	}
	return []story{
		{"slow-peer/refuted", "Every request computes for 9 ms; the database answers in 100 us.",
			python(func(t *thread, _ int) { t.compute(9000 * us); keptCall(t, 100*us) })},
		{"cpu-bound/refuted", "The database needs 80 ms for every answer; a request computes for half a millisecond.",
			python(func(t *thread, _ int) { keptCall(t, 80_000*us) })},
		{"slow-dns/refuted", "Every request looks its database up, which takes 20 us, and the database needs 3 ms.",
			python(func(t *thread, _ int) {
				t.lookup(20 * us)
				o := t.dial(100 * us)
				t.call(o, 3000*us, "/items/{}")
				t.hangUp(o, recording.ClosedByUs)
			})},
		{"interpreter-lock/refuted", "Requests come one at a time, and nobody else runs: each takes the interpreter at once.",
			func() *recording.Recording {
				return done(bursts(newScenario(recording.RuntimePython), 1, locked(gil, func(t *thread) { t.computeIn(5000*us, "shop/app.py:handle") })), 50)
			}},
	}
}
