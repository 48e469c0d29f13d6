package hypotheses

import "github.com/getdwell/dwell/recording"

const (
	gil      = "native take_gil < native PyEval_RestoreThread < shop/app.py:handle"
	entering = "native ObjectMonitor::enter < "
	cached   = entering + "com.shop.Cache.put < com.shop.Prices.get < com.shop.Handler.handle"
	digest   = "com.shop.Digest.update < com.shop.Cache.put < com.shop.Prices.get < com.shop.Handler.handle"
	token    = entering + "com.shop.Tokens.current < com.shop.Prices.get < com.shop.Handler.handle"
	drawing  = "sun.security.provider.NativePRNG$RandomIO.implNextBytes < java.security.SecureRandom.nextBytes < java.util.UUID.randomUUID < com.shop.Client.newId < com.shop.Handler.handle"
)

// lockStories are services whose threads wait for each other.
func lockStories() []story {
	jvm := func(busy int64, each func(t *thread, burst int)) func() *recording.Recording {
		return func() *recording.Recording { return done(bursts(newScenario(recording.RuntimeJVM), 4, each), busy) }
	}
	python := func(each func(t *thread, burst int)) func() *recording.Recording {
		return func() *recording.Recording { return done(bursts(newScenario(recording.RuntimePython), 4, each), 50) }
	}
	quiet := jvm(30, func(t *thread, _ int) { keptCall(t, 600*us) })
	unseen := func() *recording.Recording { // futex waits of which it is not known what for
		return done(without(bursts(newScenario(recording.RuntimeJVM), 4, locked("", nil)), allHooks), 50)
	}
	return []story{
		{"lock-convoy/supported", "Four requests come at once; each computes 5 ms with the lock of a cache in its hand:\nexec-1 |5|   exec-2 wait 5 |5|   exec-3 wait 10 |5|   exec-4 wait 15 |5|",
			jvm(50, locked(cached, func(t *thread) { t.computeIn(5000*us, digest) }))},
		{"lock-convoy/small-supported", "The same lock is held for 100 us.", jvm(50, locked(cached, func(t *thread) { t.computeIn(100*us, digest) }))},
		{"lock-convoy/busy-supported", "The same waits, while two other threads of the service use both processors: the work would wait for a CPU instead.",
			func() *recording.Recording {
				s := bursts(newScenario(recording.RuntimeJVM), 4, locked(cached, func(t *thread) { t.computeIn(5000*us, digest) }))
				for id := recording.ThreadID(50); id < 52; id++ {
					s.add(us, &recording.Thread{ID: id, TID: int64(id), Process: 1, Name: "indexer"})
					s.add(us, &recording.ThreadState{Thread: id, On: 1})
					s.add(s.end, &recording.Off{Thread: id, Since: s.end - us, Woken: s.end - us, State: recording.OffPreempted})
				}
				return done(s, 100)
			}},
		{"lock-convoy/chain-supported", "The first of four requests exports with the lock of an index in its hand; the second takes the cache's, waits for the index, and the others wait for the cache:\nexec-1 |index 20|   exec-2 cache, wait 20 |index .1|   exec-3 wait for cache 20   exec-4 wait for cache 20",
			jvm(90, behindExport())},
		{"lock-convoy/undecided", "Stacks were not recorded: what the threads wait for in futexes is not known.", unseen},
		{"refresh-under-lock/supported", "The lock is held while its holder asks the database: 5 ms each.",
			jvm(30, locked(token, func(t *thread) { keptCall(t, 5000*us) }))},
		{"refresh-under-lock/helped-supported", "The lock is held while its holder waits for another thread, which asks the database for it: 5 ms each.",
			jvm(40, locked(token, loadedBy()))},
		{"refresh-under-lock/refuted", "The lock is held over computing; the database is asked without it.",
			jvm(50, locked(cached, func(t *thread) { t.computeIn(5000*us, digest) }))},
		{"refresh-under-lock/undecided", "Stacks were not recorded.", unseen},
		{"entropy-wait/supported", "Ids are drawn under a lock, whose holder blocks in read(/dev/random) for 5 ms.",
			jvm(30, locked(entering+drawing, func(t *thread) { t.blocked(t.at+5000*us, 20*us, "read", drawing) }))},
		{"entropy-wait/refuted", "A service that draws none.", quiet},
		{"entropy-wait/undecided", "Stacks were not recorded.", unseen},
		{"pool-exhausted/supported", "Four requests at once share two connections to the database, which needs 5 ms to answer.",
			jvm(30, pooled(2))},
		{"pool-exhausted/undecided", "Stacks were not recorded.", unseen},
		{"pool-exhausted/refuted", "No request waits for a connection.", quiet},
		{"gc-pause/supported", "Every other burst of requests is stopped for 20 ms, all of them at once.",
			jvm(50, func(t *thread, burst int) {
				if t.compute(200 * us); burst%2 == 1 {
					t.stopped(recording.Time(burst+1)*100_000*us + 20_000*us)
				}
			})},
		{"gc-pause/workers-supported", "Every third request waits 8 ms for the only processor, on which the collector of Go marks on a thread of its own.",
			func() *recording.Recording { return collectedBeside("runtime.gcBgMarkWorker") }},
		{"gc-pause/workers-refuted", "The same, but it is the service's own job that has the processor.",
			func() *recording.Recording { return collectedBeside("main.job") }},
		{"gc-pause/assisting-supported", "Every third request of Ruby makes the collector work for 20 ms, besides 0.6 ms of its own.", oftenCollecting()},
		{"cpu-bound/collector-lead", "What happens is as in gc-pause/assisting-supported.txt: the collector's work is not the requests' own.", oftenCollecting()},
		{"gc-pause/before-read-supported", "A worker of Ruby collects for 70 ms when it has answered every other request, and reads the next, which comes meanwhile, only then.",
			func() *recording.Recording {
				s := newScenario(recording.RuntimeRuby)
				t := s.worker(1, 1000*us)
				for i := range requestsPlayed {
					t.request(recording.Time(i+1)*50_000*us, 10*us, "/prices/{}")
					t.computeIn(600*us, "/srv/app.rb:page")
					if t.respond(); i%2 == 0 {
						t.computeIn(70_000*us, "<gc>:(marking) < <gc>:(garbage collection)")
					}
				}
				return done(without(s, stackHooks), 30)
			}},
		{"gc-pause/refuted", "No request was stopped.", quiet},
		{"gc-pause/undecided", "A request computes 9 ms, and stacks were not recorded: what part of that is the collector's is not known.",
			func() *recording.Recording {
				return done(serve(newScenario(recording.RuntimePython), func(t *thread, _ int) { t.compute(9000 * us) }), 50)
			}},
		{"interpreter-lock/supported", "A thread that serves nobody computes; every request waits 5 ms until it lets go of the interpreter.",
			python(behindReport)},
		{"page-fault/interpreter-supported", "Four requests come at once; each sleeps 5 ms in a page fault with the interpreter in its hand: the others wait behind it.",
			python(interpreting(func(t *thread) { t.fault(t.at+5000*us, 0) }))},
		{"gc-pause/interpreter-supported", "Four requests come at once; each has the collector work for 5 ms, with the interpreter in its hand: the others wait behind it.",
			python(interpreting(func(t *thread) { t.computeIn(5000*us, "native gc_collect_main < shop/app.py:handle") }))},
		{"child-process/interpreter-supported", "Four requests come at once; each starts a program, and has the interpreter in its hand for the 5 ms until that runs: the others wait behind it.",
			python(interpreting(func(t *thread) { t.blocked(t.at+5000*us, 20*us, "vfork", "shop/app.py:convert") }))},
		{"interpreter-lock/queue-supported", "Four requests come at once; each computes 5 ms, one at a time: they queue as for one processor.",
			python(locked(gil, func(t *thread) { t.computeIn(5000*us, "shop/app.py:handle") }))},
		{"interpreter-lock/small-lead", "Each computes 100 us.", python(locked(gil, func(t *thread) { t.computeIn(100*us, "shop/app.py:handle") }))},
		{"interpreter-lock/undecided", "Neither stacks nor time limits tell that the futex is the interpreter's.", func() *recording.Recording {
			return done(without(bursts(newScenario(recording.RuntimePython), 4, locked("", nil)), allHooks), 50)
		}},
	}
}

// oftenCollecting makes every third request do the work of the collector, besides its own.
func oftenCollecting() func() *recording.Recording {
	return func() *recording.Recording {
		return done(without(serve(newScenario(recording.RuntimeRuby), func(t *thread, i int) {
			if t.computeIn(600*us, "/srv/app.rb:page"); i%3 == 1 {
				t.computeIn(20_000*us, "<gc>:(marking) < <gc>:(garbage collection)")
			}
		}), stackHooks), 30)
	}
}

// locked makes requests do something while they hold one lock, which they take in some code; "" leaves no stack.
func locked(path string, inside func(t *thread)) func(t *thread, burst int) {
	m := &mutex{}
	return func(t *thread, _ int) {
		if t.enter(m, path); inside == nil {
			t.compute(5000 * us)
		} else {
			inside(t)
		}
		t.leave(m)
	}
}

// behindExport makes the first request of each burst export while it holds one lock. The others take that lock while
// they hold another one.
func behindExport() func(t *thread, burst int) {
	index, cache := &mutex{}, &mutex{}
	last := -1
	return func(t *thread, burst int) {
		if burst != last {
			last = burst
			t.enter(index, entering+"com.shop.Index.export < com.shop.Handler.handle")
			t.computeIn(20_000*us, "com.shop.Index.export < com.shop.Handler.handle")
			t.leave(index)
			return
		}
		t.enter(cache, cached)
		t.enter(index, entering+"com.shop.Index.find < "+cached[len(entering):])
		t.computeIn(100*us, "com.shop.Index.find < "+cached[len(entering):])
		t.leave(index)
		t.leave(cache)
	}
}

// behindReport makes a request wait for the interpreter, which a thread holds that works for no request.
func behindReport(t *thread, burst int) {
	const report = 60
	if !t.vm {
		t.vm = true
		t.add(us, &recording.Thread{ID: report, TID: report, Process: 1, Name: "report"})
		t.add(us, &recording.ThreadState{Thread: report, On: 1})
	}
	off := t.blocked(t.at+5000*us, 20*us, "futex", gil)
	off.Timed, off.WakerKind, off.Waker, off.Release = 1, recording.WakerThread, report, 1
	t.compute(200 * us)
	t.add(t.at, &recording.Off{Thread: report, Since: t.at - us, Woken: t.at - us, State: recording.OffPreempted})
}

// interpreting makes requests do something while they hold the interpreter.
func interpreting(inside func(t *thread)) func(t *thread, burst int) {
	m := &mutex{}
	return func(t *thread, _ int) {
		t.enter(m, gil)
		if off, waited := t.events[len(t.events)-1].Fact.(*recording.Off); waited && off.Release > 0 {
			off.Timed = 1
		}
		inside(t)
		t.leave(m)
	}
}

// pooled makes requests share so many connections.
func pooled(size int) func(t *thread, burst int) {
	members, conns := make([]mutex, size), make([]*outgoing, size)
	return func(t *thread, _ int) {
		best := 0
		for i := range members {
			if members[i].free < members[best].free {
				best = i
			}
		}
		t.enter(&members[best], "jdk.internal.misc.Unsafe.park < java.util.concurrent.locks.LockSupport.park < com.zaxxer.hikari.pool.HikariPool.getConnection < com.shop.Prices.load < com.shop.Handler.handle")
		if conns[best] == nil {
			conns[best] = t.dial(200 * us)
		}
		t.call(conns[best], 5000*us, "/items/{}")
		t.leave(&members[best])
	}
}

// loadedBy makes another thread make a call of 5 ms, and waits for that.
func loadedBy() func(t *thread) {
	var loader *thread
	var db *outgoing
	return func(t *thread) {
		if loader == nil {
			loader = t.asleep(&recording.Thread{ID: 60, TID: 160, Process: 1, Name: "loader"}, "futex")
		}
		loader.sleep(t.at, 10*us, "futex")
		loader.wokenBy(t.id)
		if db == nil {
			db = loader.dial(100 * us)
		}
		loader.call(db, 5000*us, "/items/{}")
		loader.compute(20 * us)
		off := t.blocked(loader.at, 10*us, "futex", "jdk.internal.misc.Unsafe.park < java.util.concurrent.locks.LockSupport.park < java.util.concurrent.FutureTask.awaitDone < "+
			"java.util.concurrent.FutureTask.get < com.shop.Tokens.load < com.shop.Handler.handle")
		off.WakerKind, off.Waker, off.Release = recording.WakerThread, loader.id, 1
	}
}

// stopped stops the thread until the JVM lets it go.
func (t *thread) stopped(until recording.Time) {
	const vm = 99
	if !t.vm {
		t.vm = true
		t.add(us, &recording.Thread{ID: vm, TID: 100 + vm, Process: 1, Name: "VM Thread"})
		t.add(us, &recording.ThreadState{Thread: vm, State: recording.OffSleep, Syscall: "futex"})
	}
	off := t.blocked(until, 20*us, "futex", "native SafepointSynchronize::block < com.shop.Handler.handle")
	off.WakerKind, off.Waker, off.Release = recording.WakerThread, vm, 1
}
