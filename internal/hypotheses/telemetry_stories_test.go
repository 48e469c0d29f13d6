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
		{"sync-telemetry/small-supported", "Each request sends 2 metrics under a lock and waits for nothing.", python(counted(2, 0))},
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
		{"sync-telemetry/undecided", "No request sends a metric, as far as is known: facts of reads and writes were lost while they ran.", func() *recording.Recording {
			s := bursts(newScenario(recording.RuntimePython), 4, counted(0, 0))
			s.add(201_000*us, &recording.Loss{Hook: recording.HookIO, CPU: 1, Count: 12, From: 200_000 * us})
			return done(s, 30)
		}},
	}
}

// counted makes a request send metrics under a lock; after each it waits for the interpreter.
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

// heldStories are services whose requests hold transactions open.
func heldStories() []story {
	python := func(each func(t *thread, burst int)) func() *recording.Recording {
		return func() *recording.Recording { return done(bursts(newScenario(recording.RuntimePython), 4, each), 30) }
	}
	return []story{
		{"held-while-waiting/supported", "Four requests come at once and update the same row; each asks another service for 5 ms before it commits:\n1 |update|ask 5|commit|   2 |update waits for 1's commit|ask 5|commit|   ...",
			python(reserved("UPDATE", true, 0))},
		{"held-while-waiting/late-supported", "The same on a busy host: who waited has the answer 900 us after the one before has that to its commit.", python(reserved("UPDATE", true, 900*us))},
		{"held-while-waiting/refuted", "The same, each with a row of its own: sessions are idle in transaction, and nobody waits for them.", python(reserved("UPDATE", false, 0))},
		{"held-while-waiting/chance-refuted", "Two of four update rows of their own every millisecond; what the others update takes 8 ms. A transaction ends as that is answered, as at any other time.", python(amidCommits("UPDATE"))},
		{"held-while-waiting/read-supported", "Each reads its row to update it (SELECT ... FOR UPDATE), asks another service for 5 ms, and updates it: who reads the same row waits for the commit.", python(reserved("SELECT", true, 0))},
		{"held-while-waiting/read-refuted", "They only read before they update: reading takes some of them 8 ms, whoever commits meanwhile.", python(amidCommits("SELECT"))},
		{"held-while-waiting/undecided", "The sessions are encrypted.", python(func(t *thread, _ int) {
			if t.kept == nil {
				t.kept = t.session()
				t.handshake(t.kept, 300*us, 900*us)
			}
			t.sealed(t.kept, 2000*us)
		})},
	}
}

// reserved makes a request lock a row by a statement, ask another service, update the row, and commit. A request that
// locks the same row waits for the commit, and has its answer so late after that.
func reserved(locks string, same bool, late recording.Time) func(t *thread, burst int) {
	sessions := map[recording.ThreadID]*outgoing{}
	var free recording.Time
	return func(t *thread, _ int) {
		s := sessions[t.id]
		if s == nil {
			s = t.session()
			sessions[t.id] = s
		}
		t.statement(s, &recording.Command{Operation: "BEGIN"}, recording.TransactionOpen, 200*us)
		took := 300 * us
		if same {
			took = max(took, free+late-t.at)
		}
		t.statement(s, &recording.Command{Operation: locks, Target: "stock"}, recording.TransactionOpen, took)
		keptCall(t, 5000*us)
		if locks != "UPDATE" {
			t.statement(s, &recording.Command{Operation: "UPDATE", Target: "stock"}, recording.TransactionOpen, 300*us)
		}
		t.statement(s, &recording.Command{Operation: "COMMIT"}, recording.TransactionIdle, 200*us)
		free = t.at
	}
}

// amidCommits makes every other thread commit a short transaction again and again, while a statement of the others on
// the same table takes long.
func amidCommits(verb string) func(t *thread, burst int) {
	sessions := map[recording.ThreadID]*outgoing{}
	return func(t *thread, burst int) {
		s := sessions[t.id]
		if s == nil {
			s = t.session()
			sessions[t.id] = s
		}
		took, times := 300*us, 10
		if t.id%2 == 0 {
			took, times = 8000*us, 1
		}
		for range times {
			t.statement(s, &recording.Command{Operation: "BEGIN"}, recording.TransactionOpen, 100*us)
			t.statement(s, &recording.Command{Operation: verb, Target: "stock"}, recording.TransactionOpen, took)
			t.compute(200 * us)
			if verb != "UPDATE" {
				t.statement(s, &recording.Command{Operation: "UPDATE", Target: "stock"}, recording.TransactionOpen, 100*us)
			}
			t.statement(s, &recording.Command{Operation: "COMMIT"}, recording.TransactionIdle, 100*us)
		}
	}
}

// session opens a connection to PostgreSQL.
func (t *thread) session() *outgoing {
	o := t.dial(200 * us)
	for i := len(t.events) - 1; ; i-- {
		if c, ok := t.events[i].Fact.(*recording.Conn); ok {
			c.Peer = "10.0.0.3:5432"
			return o
		}
	}
}

// statement sends a statement on a session; the answer takes so long.
func (t *thread) statement(o *outgoing, c *recording.Command, state recording.Transaction, took recording.Time) {
	if o.bytes[recording.Write] == 0 {
		t.add(t.at, &recording.ConnProtocol{Conn: o.id, Protocol: recording.ProtocolPostgres})
	}
	t.compute(20 * us)
	c.Conn, c.Length = o.id, 60
	c.Offset = t.chunk(o.id, &o.bytes, recording.Write, c.Length, 0)
	t.add(t.at, c)
	arrives := t.at + took
	t.sleep(arrives, 10*us, "recvfrom")
	t.compute(10 * us)
	at := t.chunk(o.id, &o.bytes, recording.Read, 30, arrives)
	t.add(t.at, &recording.Reply{Conn: o.id, Offset: at, Length: 30, Operation: c.Operation, Transaction: state})
}
