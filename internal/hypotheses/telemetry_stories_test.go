package hypotheses

import "github.com/getdwell/dwell/recording"

const (
	sendLocked = "native PyThread_acquire_lock_timed < shop/statsd.py:send < shop/app.py:handle"
	sendGIL    = "native take_gil < native PyEval_RestoreThread < shop/statsd.py:send < shop/app.py:handle"
)

// telemetryStories are services that send metrics.
func telemetryStories() []story {
	python := func(each func(t *thread, burst int)) func() *recording.Recording {
		return func() *recording.Recording { return done(bursts(newScenario(recording.RuntimePython), 4, each), 50) }
	}
	return []story{
		{"sync-telemetry/supported", "Four requests come at once. Each sends 10 metrics under a lock, 20 us each, and waits 300 us after each send until it has the interpreter again.",
			python(counted(10, 300*us))},
		{"sync-telemetry/refuted", "Each request sends 2 metrics under a lock and waits for nothing.", python(counted(2, 0))},
		{"sync-telemetry/background-refuted", "Requests only count; a thread that serves none sends what was counted, many metrics in one datagram.",
			python(func(t *thread, burst int) {
				keptCall(t, 2000*us)
				if t.id != 1 {
					return
				}
				const sender = 70
				if burst == 0 {
					t.add(us, &recording.Thread{ID: sender, TID: sender, Process: 1, Name: "metrics"})
					t.add(us, &recording.ThreadState{Thread: sender, State: recording.OffSleep, Syscall: "clock_nanosleep"})
				}
				t.add(t.at, &recording.Datagram{Thread: sender, Protocol: recording.ProtocolStatsD, Peer: "/run/statsd.sock", Bytes: 1200, Messages: 40})
			})},
		{"sync-telemetry/undecided", "As refuted, but facts of reads and writes were lost while requests ran.", func() *recording.Recording {
			s := bursts(newScenario(recording.RuntimePython), 4, counted(2, 0))
			s.add(201_000*us, &recording.Loss{Hook: recording.HookIO, CPU: 1, Count: 12, From: 200_000 * us})
			return done(s, 30)
		}},
	}
}

// counted lets a request send metrics under a lock; after each it waits for the
// interpreter.
func counted(metrics int, interpreter recording.Time) func(t *thread, burst int) {
	m := &mutex{}
	return func(t *thread, _ int) {
		for range metrics {
			t.enter(m, sendLocked)
			t.compute(20 * us)
			t.add(t.at, &recording.Datagram{Thread: t.id, Protocol: recording.ProtocolStatsD, Peer: "127.0.0.1:8125", Bytes: 30, Messages: 1})
			if t.compute(5 * us); interpreter > 0 {
				off := t.blocked(t.at+interpreter, 20*us, "futex", sendGIL)
				off.Timed, off.Arg, off.WakerKind = 1, 0x9100, recording.WakerOther
			}
			t.leave(m)
			t.compute(30 * us)
		}
	}
}
