package hypotheses

import (
	"fmt"

	"github.com/getdwell/dwell/recording"
)

// crewStories are about work that is handed to threads and programs.
func crewStories() []story {
	return []story{
		{"child-process/nested-supported", "One request in ten runs a program for 30 ms, and waits for it in place of its loop, at an instance of epoll of its own; the others, one every 5 ms, wait for the loop.",
			func() *recording.Recording { return done(renders(true), 40) }},
		{"event-loop-blocked/nested-minor", "What happens is as in child-process/nested-supported.txt.",
			func() *recording.Recording { return done(renders(true), 40) }},
		{"event-loop-blocked/brief-supported", "Every third request sleeps for 7 ms in a call that blocks the loop; the others wait behind it.",
			func() *recording.Recording {
				return done(reports(3, "/prices/{}", cost{asleep: 7000 * us, before: 500 * us}), 60)
			}},
		{"event-loop-blocked/brief-refuted", "The same, but it is for another thread that the loop waits.",
			func() *recording.Recording {
				return done(reports(3, "/prices/{}", cost{asleep: 7000 * us, asleepIn: "futex", before: 500 * us}), 60)
			}},
		{"event-loop-blocked/split-refuted", "Every third request computes for 24 ms in pieces of 1 ms, between which the loop turns to whatever is ready; the others wait for a piece at most.",
			func() *recording.Recording { return done(inPieces(24, 1000*us), 60) }},
		{"event-loop-blocked/whole-supported", "The same work in one piece.",
			func() *recording.Recording { return done(inPieces(1, 24_000*us), 60) }},
		{"event-loop-blocked/spawned-refuted", "The same programs are waited for where the loop waits for its sockets: nobody else waits for them.",
			func() *recording.Recording { return done(renders(false), 40) }},
		{"pool-exhausted/processes-supported", "Six requests come at once, each with work of 10 ms for one of two processes that had been started before. A thread hands over what they write: whose each piece is, nothing tells.",
			func() *recording.Recording { return done(pieces(2), 40) }},
		{"pool-exhausted/processes-refuted", "The same with six processes: each piece of work is begun with at once.",
			func() *recording.Recording { return done(pieces(6), 40) }},
		{"pool-exhausted/thread-supported", "Six requests come at once, each with work of 10 ms for the only thread that does such work. Whose each piece is, nothing tells.",
			func() *recording.Recording { return done(rendered(1), 40) }},
		{"pool-exhausted/thread-undecided", "The same with six threads, each of which begins at once: that it is their work that requests wait for is not known.",
			func() *recording.Recording { return done(rendered(6), 40) }},
		{"pool-exhausted/room-supported", "Four requests come at once. Each puts a record into a queue that has room for one, which one thread takes from: it sends each on its own, in a call of 5 ms. Two find room, two wait for it.",
			func() *recording.Recording { return done(audited(recordPath, false), 30) }},
		{"pool-exhausted/room-served-refuted", "The same, but who takes from the queue is the thread of another request, which makes the calls.",
			func() *recording.Recording { return done(audited(recordPath, true), 30) }},
		{"sync-telemetry/room-supported", "What they put there are lines of a log that one thread sends on.",
			func() *recording.Recording {
				return done(audited("ch.qos.logback.core.AsyncAppenderBase.put < ch.qos.logback.core.spi.AppenderAttachableImpl.appendLoopOnAppenders < com.shop.Handler.handle", false), 30)
			}},
		{"pool-exhausted/room-loop-supported", "Six requests come at once to a service on asyncio. Each puts a record into a queue, which one task takes from: it sends each on its own, in a call of 4 ms, and who puts waits until it takes.",
			func() *recording.Recording { return done(auditedLoop(1), 10) }},
		{"pool-exhausted/room-loop-refuted", "The same with six tasks that take from the queue: nobody waits for room.",
			func() *recording.Recording { return done(auditedLoop(6), 10) }},
		{"slow-dns/searched-supported", "Every request looks its database up, and opens a connection that it need not. Three search domains are tried before the name that exists, 2 ms each: connections kept would hide that, but it is the look-ups that are needless.",
			func() *recording.Recording {
				return done(serve(newScenario(recording.RuntimePython), func(t *thread, _ int) {
					for _, domain := range []string{".shop.svc.cluster.local", ".svc.cluster.local", ".cluster.local"} {
						t.searched("db.test"+domain, 2000*us)
					}
					t.lookup(2000 * us)
					t.oneCall()
				}), 30)
			}},
	}
}

// searched asks for a name that does not exist.
func (t *thread) searched(name string, took recording.Time) {
	t.compute(20 * us)
	id := int64(t.conns) + 7
	t.add(t.at, &recording.DNS{Thread: t.id, Part: recording.DNSQuery, ID: id, Name: name, Type: "A", Server: "10.0.0.53:53"})
	arrives := t.at + took
	t.sleep(arrives, 5*us, "poll")
	t.add(t.at, &recording.DNS{Thread: t.id, Part: recording.DNSAnswer, ID: id, Name: name, Type: "A", Rcode: rcodeNameError, Server: "10.0.0.53:53", Arrived: arrives})
}

// renders is a loop in which one request in ten runs a program; nested: the thread waits for it in place of the loop.
func renders(nested bool) *scenario {
	l := newLoop(true)
	l.epoll = 13
	for i := range 200 {
		c := cost{before: 400 * us}
		if i%10 == 0 {
			c.runs, c.nested = 30_000*us, nested
		}
		l.arrive(10_000*us+recording.Time(i)*5000*us, "/prices/{}", c)
	}
	return l.play()
}

// run starts a program that takes some time, and waits for it at an epoll instance of its own, or where the loop waits;
// then it goes on.
func (l *eventLoop) run(takes recording.Time, nested bool, on func()) {
	l.born++
	p, child := recording.ProcessID(1+l.born), recording.ThreadID(1000+l.born)
	l.add(l.at, &recording.Process{ID: p, PID: 2000 + l.born, Comm: "render", Exe: "render", Start: int64(l.at), Parent: 1})
	l.add(l.at, &recording.Thread{ID: child, TID: 2000 + l.born, Process: p, Start: int64(l.at), Creator: l.id, Name: "render"})
	l.compute(200 * us)
	ends := l.at + takes
	l.add(ends, &recording.ThreadExit{Thread: child})
	l.add(ends, &recording.ProcessExit{Process: p})
	if !nested {
		l.later(ends, on)
		return
	}
	l.sleep(ends, 3*us, "epoll_wait")
	l.wokenBy(child)
	l.events[len(l.events)-1].Fact.(*recording.Off).Arg = 21
	on()
}

// pieces is a service of six threads that have processes work for them; a thread reads what those write.
func pieces(processes int) *scenario {
	const manager, piece = 50, 10_000 * us
	s := newScenario(recording.RuntimePython)
	s.add(us, &recording.Thread{ID: manager, TID: 150, Process: 1, Name: "manager"})
	s.add(us, &recording.ThreadState{Thread: manager, State: recording.OffSleep, Syscall: "poll"})
	m := &thread{scenario: s, id: manager, at: us}
	var on, crew []*thread
	for i := range 6 {
		on = append(on, s.worker(recording.ThreadID(1+i), 1000*us))
	}
	for i := range processes {
		p, id := recording.ProcessID(2+i), recording.ThreadID(60+i)
		s.add(us, &recording.Process{ID: p, PID: 200 + int64(i), Comm: "render", Exe: "python3", Runtime: recording.RuntimePython, Parent: 1})
		crew = append(crew, s.asleep(&recording.Thread{ID: id, TID: 200 + int64(i), Process: p, Name: "render"}, "read"))
	}
	for burst := range recording.Time(10) {
		at := (burst + 1) * 100_000 * us
		for i, t := range on {
			t.request(at, 10*us, "/reports/{}")
			t.compute(100 * us)
			c := crew[i%processes]
			if c.at < t.at {
				c.sleep(t.at, 10*us, "read")
				c.wokenBy(t.id)
			}
			c.compute(piece + recording.Time(i)*50*us)
			m.sleep(c.at, 10*us, "poll")
			m.wokenBy(c.id)
			m.compute(20 * us)
			t.sleep(m.at, 10*us, "futex")
			t.wokenBy(manager)
			t.respond()
		}
	}
	return s
}

// recordPath is the code that puts records into a queue.
const recordPath = "com.shop.Audit.record < com.shop.Handler.handle"

// audited is a service whose requests put records into a queue that has room for one. The thread that takes them sends
// them one by one; it may serve a request meanwhile.
func audited(path string, serves bool) *scenario {
	s := newScenario(recording.RuntimeJVM)
	s.hooks = stackHooks
	pool := crew(s, 4, "exec")
	audit := s.named(60, "audit")
	db := (*outgoing)(nil)
	for burst := range recording.Time(15) {
		at := (burst + 1) * 100_000 * us
		if serves {
			audit.request(at, 10*us, "/audits/{}")
		}
		for i := range 4 {
			t := pool.free(at)
			t.request(at, 10*us, "/orders/{}")
			t.compute(recording.Time(i+1) * 100 * us)
			if i == 0 && !serves {
				audit.sleep(t.at, 10*us, "futex")
				audit.wokenBy(t.id)
			}
			if i > 1 {
				off := t.blocked(audit.at, 10*us, "futex", "jdk.internal.misc.Unsafe.park < java.util.concurrent.locks.LockSupport.park < "+
					"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await < java.util.concurrent.ArrayBlockingQueue.put < "+path)
				off.WakerKind, off.Waker, off.Release = recording.WakerThread, audit.id, 1
			}
			if t.respond(); i != 1 {
				if db == nil {
					db = audit.dial(100 * us)
				}
				audit.call(db, 5000*us, "/records")
			}
		}
		if audit.call(db, 5000*us, "/records"); serves {
			audit.respond()
		}
	}
	return s
}

// auditedLoop is a service on one Python event loop whose requests hand a record to one of some tasks, which send the
// records.
func auditedLoop(tasks int) *scenario {
	s := newScenario(recording.RuntimePython)
	s.add(us, &recording.Thread{ID: 1, TID: 100, Process: 1, Name: "uvicorn"})
	s.add(us, &recording.ThreadState{Thread: 1, State: recording.OffSleep, Syscall: "epoll_wait"})
	l := &eventLoop{thread: &thread{scenario: s, id: 1, at: us}, epoll: 13}
	var idle []*outgoing
	for range tasks {
		idle = append(idle, l.inherit(100*us))
	}
	var waiting []*visit
	var send func(o *outgoing)
	take := func(v *visit) {
		o := idle[0]
		idle = idle[1:]
		l.answer(v)
		l.later(l.at, func() { send(o) })
	}
	send = func(o *outgoing) {
		l.compute(20 * us)
		at := l.moved(o.id, &o.bytes, recording.Chunk{Dir: recording.Write, Bytes: 80})
		l.add(l.at, &recording.HTTPRequest{Conn: o.id, Offset: at, Head: 80, Method: "POST", Route: "/records", Host: "db.test"})
		arrives := l.at + 4000*us
		l.later(arrives, func() {
			l.compute(10 * us)
			at := l.moved(o.id, &o.bytes, recording.Chunk{Dir: recording.Read, Bytes: 300, Arrived: arrives})
			l.add(l.at, &recording.HTTPResponse{Conn: o.id, Offset: at, Head: 50, Length: 250, Status: 200})
			if idle = append(idle, o); len(waiting) > 0 {
				v := waiting[0]
				waiting = waiting[1:]
				take(v)
			}
		})
	}
	for i := range 120 {
		at := 10_000*us + recording.Time(i/6)*40_000*us + recording.Time(i%6)*200*us
		l.conns++
		l.port++
		v := &visit{in: l.conns}
		l.add(at-50*us, &recording.Conn{ID: v.in, Side: recording.Inbound, Process: 1, Local: "10.0.0.1:80", Peer: fmt.Sprintf("10.0.0.9:%d", l.port)})
		l.later(at, func() {
			l.compute(10 * us)
			off := l.moved(v.in, &v.bytes, recording.Chunk{Dir: recording.Read, Bytes: 100, Arrived: at})
			l.add(l.at, &recording.HTTPRequest{Conn: v.in, Offset: off, Head: 100, Method: "GET", Route: "/orders/{}", Host: "shop"})
			if l.compute(50 * us); len(idle) > 0 {
				take(v)
			} else {
				waiting = append(waiting, v)
			}
		})
	}
	return l.play()
}

// asleep adds a thread that serves no request and waits in a system call.
func (s *scenario) asleep(t *recording.Thread, syscall string) *thread {
	s.add(us, t)
	s.add(us, &recording.ThreadState{Thread: t.ID, State: recording.OffSleep, Syscall: syscall})
	return &thread{scenario: s, id: t.ID, at: us}
}

// rendered is a service of six threads that have other threads of their process work for them.
func rendered(others int) *scenario {
	s := newScenario(recording.RuntimePython)
	var on, crew []*thread
	for i := range 6 {
		on = append(on, s.worker(recording.ThreadID(1+i), 1000*us))
	}
	for i := range others {
		id := recording.ThreadID(60 + i)
		crew = append(crew, s.asleep(&recording.Thread{ID: id, TID: 200 + int64(i), Process: 1, Name: "renderer"}, "futex"))
	}
	for burst := range recording.Time(10) {
		at := (burst + 1) * 100_000 * us
		for i, t := range on {
			t.request(at, 10*us, "/reports/{}")
			t.compute(100 * us)
			c := crew[i%others]
			if c.at < t.at {
				c.sleep(t.at, 10*us, "futex")
				c.wokenBy(t.id)
				s.events[len(s.events)-1].Fact.(*recording.Off).Arg = 21
			}
			c.compute(10_000*us + recording.Time(i)*50*us)
			t.sleep(c.at, 10*us, "futex")
			t.wokenBy(c.id)
			t.respond()
		}
	}
	return s
}

// inPieces plays a loop in which every third request computes in so many pieces; between them the loop takes what is
// ready.
func inPieces(pieces int, each recording.Time) *scenario {
	l := newLoop(true)
	for i := range 120 {
		at := 10_000*us + recording.Time(i)*18_000*us
		if i%3 == 1 {
			l.arrive(at, "/report", cost{before: 500 * us, pieces: pieces, each: each})
			continue
		}
		l.arrive(at+recording.Time(i*7%9-3)*900*us, "/prices/{}", cost{before: 500 * us})
	}
	return l.play()
}
