package hypotheses

import "github.com/getdwell/dwell/recording"

// peerStories are services whose Redis is asked for something long by a thread that serves no request, on a connection
// of its own, while requests ask for one key each.
func peerStories() []story {
	play := func(alone bool, late recording.Time) func() *recording.Recording {
		return func() *recording.Recording { return done(besideKeys(alone, late), 30) }
	}
	carrier := func(path string) func() *recording.Recording {
		return func() *recording.Recording {
			return done(crowdsBehind(recording.RuntimeJVM, func(t *thread) { t.callIn(5000*us, path) }), 20)
		}
	}
	keeping := func(calls int, apart recording.Time) func() *recording.Recording {
		return func() *recording.Recording { return done(keptCrowds(calls, apart), 20) }
	}
	const called = "com.example.Shop.fetch < com.example.Shop.handle < java.lang.VirtualThread.run"
	return []story{
		{"accept-queue/pinned-supported", "One thread carries virtual ones. Each waits 5 ms for its database within a synchronized method, and so keeps its carrier from the others.",
			carrier("java.lang.VirtualThread.parkOnCarrierThread < " + called)},
		{"accept-queue/carried-supported", "One worker waits 5 ms for its database for each request: no virtual thread is pinned to it, and nothing is said of that.", carrier(called)},
		{"accept-queue/kept-supported", "One worker has twelve connections, which clients keep, and waits 5 ms for its database for each request; every tenth time a request comes on each at once.", keeping(1, 0)},
		{"accept-queue/kept-often-supported", "The same, but for each request it waits eight times for 600 us: a wait behind many requests is summed up, and whom that was for is not kept.", keeping(8, 0)},
		{"accept-queue/kept-refuted", "The same, but requests come one after the other.", keeping(1, 10_000*us)},
		{"head-of-line/there-supported", "Work of no request asks Redis for KEYS, 20 ms each, on a connection of its own; Redis answers who asks meanwhile once that is done.", play(true, 150*us)},
		{"head-of-line/there-early-supported", "The same, but those are answered half a millisecond before: Redis lets others go on, and sends the long answer when it next gets a processor.", play(true, -500*us)},
		{"head-of-line/there-refuted", "The same, at a peer that answers others meanwhile.", play(false, 0)},
	}
}

// keptCrowds makes one worker serve twelve connections, which clients keep. Most requests come alone, and every tenth
// time one comes on each connection, so long after the one before. The worker makes so many calls for each request, one
// after the other, of 5 ms in all.
func keptCrowds(calls int, apart recording.Time) *scenario {
	s := newScenario(recording.RuntimeNative)
	t := s.worker(1, 1000*us)
	type kept struct {
		id    recording.ConnID
		bytes [2]int64
	}
	conns := []kept{{t.in, t.bytes}}
	for range 11 {
		t.accept(1000 * us)
		conns = append(conns, kept{t.in, t.bytes})
	}
	at := 20_000 * us
	for range 5 {
		for i := range 22 {
			c := &conns[i%12]
			t.in, t.bytes = c.id, c.bytes
			t.request(at, 10*us, "/prices/{}")
			for range calls {
				keptCall(t, 5000*us/recording.Time(calls))
			}
			t.respond()
			c.bytes = t.bytes
			if at += apart; i < 10 {
				at += 20_000 * us
			}
		}
		at += 100_000 * us
	}
	return s
}

// besideKeys makes two in three requests ask for a key 2 ms after a long command was sent. alone: the peer does one
// thing at a time, and answers the requests so late after that command.
func besideKeys(alone bool, late recording.Time) *scenario {
	s := newScenario(recording.RuntimePython)
	const other = 50
	s.add(us, &recording.Thread{ID: other, TID: 150, Process: 1, Name: "stats"})
	s.add(us, &recording.ThreadState{Thread: other, State: recording.OffSleep, Syscall: "futex"})
	b := &thread{scenario: s, id: other, at: us}
	return serve(s, func(t *thread, i int) {
		takes := 200 * us
		if i%3 != 0 {
			b.sleep(t.at-2000*us, 10*us, "futex")
			b.command("KEYS", 20_000*us)
			if alone {
				takes = b.at - 20*us + late - t.at
			}
		}
		t.command("GET", takes)
	})
}

// command sends Redis a command on the thread's own connection.
func (t *thread) command(operation string, takes recording.Time) {
	if t.kept == nil {
		t.kept = t.dial(200 * us)
		t.add(t.at, &recording.ConnProtocol{Conn: t.kept.id, Protocol: recording.ProtocolRedis})
	}
	t.compute(10 * us)
	at := t.chunk(t.kept.id, &t.kept.bytes, recording.Write, 20, 0)
	t.add(t.at, &recording.Command{Conn: t.kept.id, Offset: at, Length: 20, Operation: operation})
	arrives := t.at + takes
	t.sleep(arrives, 10*us, "recvfrom")
	t.compute(10 * us)
	at = t.chunk(t.kept.id, &t.kept.bytes, recording.Read, 10, arrives)
	t.add(t.at, &recording.Reply{Conn: t.kept.id, Offset: at, Length: 10})
}

// callIn makes a call on the kept connection, and waits for its answer in some code.
func (t *thread) callIn(remote recording.Time, path string) {
	if t.kept == nil {
		t.kept = t.dial(200 * us)
	}
	t.add(t.at+24*us, &recording.StackAt{Thread: t.id, Stack: t.stack(path), Origin: recording.StackBlocked})
	t.call(t.kept, remote, "/items/{}")
}
