package hypotheses

import "github.com/getdwell/dwell/recording"

// story is one imagined service; its name is hypothesis/verdict.
type story struct {
	name string
	text string // what happens, drawn or in words
	play func() *recording.Recording
}

const requestsPlayed = 24

// serve makes one thread answer requests, 50 ms apart, and returns the scenario.
func serve(s *scenario, each func(t *thread, i int)) *scenario {
	t := s.worker(1, 1000*us)
	for i := range requestsPlayed {
		t.request(recording.Time(i+1)*50_000*us, 10*us, "/prices/{}")
		t.compute(500 * us)
		each(t, i)
		t.respond()
	}
	return s
}

// keptCall makes a plain call on a connection that is opened once and kept.
func keptCall(t *thread, remote recording.Time) {
	if t.kept == nil {
		t.kept = t.dial(200 * us)
	}
	t.call(t.kept, remote, "/items/{}")
}

func churning(by recording.Closer) *scenario {
	return serve(newScenario(recording.RuntimePython), func(t *thread, _ int) {
		o := t.dial(300 * us)
		t.handshake(o, 300*us, 900*us)
		t.sealed(o, 600*us)
		t.hangUp(o, by)
	})
}

func healthy() *scenario {
	return serve(newScenario(recording.RuntimePython), func(t *thread, _ int) { keptCall(t, 600*us) })
}

func without(s *scenario, hooks string) *scenario {
	s.hooks = hooks
	return s
}

func done(s *scenario, busy int64) *recording.Recording {
	s.hosts(busy)
	return s.recording(int64(s.cpu) / 200)
}

func threadStories() []story {
	return []story{
		{"connection-churn/supported", "Every request opens a TLS connection to db.test, uses it once and closes it:\nread | connect 300 us | hello 300 us | 900 us of own CPU | finished 300 us | answer 600 us | write",
			func() *recording.Recording { return done(churning(recording.ClosedByUs), 30) }},
		{"client-per-request/session-supported", "Every request connects to a database in 200 us, opens a session in 3 ms, asks one statement and hangs up.",
			func() *recording.Recording {
				return done(serve(newScenario(recording.RuntimePython), func(t *thread, _ int) {
					o := t.session()
					t.statement(o, &recording.Command{Operation: "STARTUP"}, recording.TransactionIdle, 3000*us)
					t.statement(o, &recording.Command{Operation: "SELECT", Target: "items"}, recording.TransactionIdle, 400*us)
					t.hangUp(o, recording.ClosedByUs)
				}), 30)
			}},
		{"client-per-request/session-some-refuted", "The same, but one session in six is kept, and the next request asks on it: a pool that keeps too few.",
			func() *recording.Recording { return done(fewKept(), 40) }},
		{"connection-churn/session-some-supported", "What happens is as in client-per-request/session-some-refuted.txt.",
			func() *recording.Recording { return done(fewKept(), 40) }},
		{"connection-churn/refuted", "The first request opens a connection, the others use it again.",
			func() *recording.Recording { return done(healthy(), 30) }},
		{"connection-churn/undecided", "A healthy service, but facts of reads and writes were lost while a request ran.",
			func() *recording.Recording {
				s := healthy()
				s.add(251_000*us, &recording.Loss{Hook: recording.HookIO, CPU: 1, Count: 12, From: 250_000 * us})
				return done(s, 30)
			}},
		{"slow-peer/supported", "The database answers in 600 us, every fifth time in 40 ms.",
			func() *recording.Recording {
				return done(serve(newScenario(recording.RuntimePython), func(t *thread, i int) {
					keptCall(t, map[bool]recording.Time{false: 600 * us, true: 40_000 * us}[i%5 == 4])
				}), 30)
			}},
		{"slow-peer/steady-lead", "The database needs an honest 12 ms for every answer.",
			func() *recording.Recording {
				return done(serve(newScenario(recording.RuntimePython), func(t *thread, _ int) { keptCall(t, 12_000*us) }), 30)
			}},
		{"slow-peer/undecided", "Arrivals in sockets were not recorded: the peer's time and ours cannot be told apart.",
			func() *recording.Recording {
				return done(without(healthy(), "dns host io processes sched sockets tls"), 30)
			}},
		{"cpu-bound/lead", "Every request computes for 9 ms and waits 600 us for the database.",
			func() *recording.Recording {
				return done(serve(newScenario(recording.RuntimePython), func(t *thread, _ int) { t.compute(9000 * us); keptCall(t, 600*us) }), 50)
			}},
		{"cpu-bound/frames-lead", "The same with stacks: two thirds of it is spent rendering.",
			func() *recording.Recording {
				s := serve(newScenario(recording.RuntimePython), func(t *thread, _ int) {
					t.computeIn(6000*us, "/srv/pages.py:render < /srv/app.py:handle")
					t.computeIn(3000*us, "/srv/app.py:handle")
					keptCall(t, 600*us)
				})
				return done(without(s, stackHooks), 50)
			}},
		{"cpu-bound/rare-supported", "Every eighth request computes for 20 ms, the others for half a millisecond: slow ones are slow by that.",
			func() *recording.Recording {
				return done(serve(newScenario(recording.RuntimePython), func(t *thread, i int) {
					if t.compute(500 * us); i%8 == 4 {
						t.compute(20_000 * us)
					}
				}), 30)
			}},
		{"cpu-bound/small-lead", "A request computes for half a millisecond.",
			func() *recording.Recording { return done(healthy(), 30) }},
		{"cpu-bound/undecided", "Scheduling was not recorded.",
			func() *recording.Recording { return done(without(healthy(), "arrivals dns host io sockets tls"), 30) }},
		{"slow-dns/supported", "24 requests come at once, each on its own thread: every one needs its first connection, and a look-up of 4 ms before it.",
			func() *recording.Recording {
				return done(burst(func(t *thread) { t.lookup(4000 * us); keptCall(t, 600*us) }), 30)
			}},
		{"slow-dns/once-lead", "One look-up of 4 ms, for the first request; the connection is kept.",
			func() *recording.Recording {
				return done(serve(newScenario(recording.RuntimePython), func(t *thread, i int) {
					if i == 0 {
						t.lookup(4000 * us)
					}
					keptCall(t, 600*us)
				}), 30)
			}},
		{"slow-dns/undecided", "Look-ups were not recorded.",
			func() *recording.Recording {
				return done(without(healthy(), "arrivals host io processes sched sockets tls"), 30)
			}},
		{"tls-handshake/supported", "24 requests come at once, each on its own thread: every one needs its first connection, with a handshake of 2 x 4 ms.",
			func() *recording.Recording {
				return done(burst(func(t *thread) {
					o := t.dial(100 * us)
					t.handshake(o, 4000*us, 900*us)
					t.sealed(o, 600*us)
				}), 30)
			}},
		{"tls-handshake/churn-minor", "One kept connection would do, but every request opens one: the handshakes are a consequence.",
			func() *recording.Recording { return done(churning(recording.ClosedByPeer), 30) }},
		{"slow-dns/churn-minor", "Every request looks its database up, which takes 4 ms, and opens a connection that it need not.",
			func() *recording.Recording { return done(lookingUp(4000*us), 30) }},
		{"slow-dns/silent-supported", "Every request looks its database up, and opens a connection that it need not; the server of names that is asked first does not answer,\nand another is asked after 20 ms. Connections kept would hide that, but it is the look-up that is slow.",
			func() *recording.Recording {
				return done(serve(newScenario(recording.RuntimePython), func(t *thread, _ int) {
					t.lookup(200*us, "10.0.0.52:53")
					t.oneCall()
				}), 30)
			}},
		{"tls-handshake/refuted", "Plain HTTP on a kept connection: no handshake at all.",
			func() *recording.Recording { return done(healthy(), 30) }},
		{"tls-handshake/undecided", "TLS records were not looked at.",
			func() *recording.Recording {
				return done(without(healthy(), "arrivals dns host io processes sched sockets"), 30)
			}},
		{"run-queue/supported", "The host is 98 % busy: one request in five waits 9 ms for a CPU although its bytes are there.",
			func() *recording.Recording { return done(starved(), 98) }},
		{"run-queue/all-supported", "The host is 98 % busy: every request waits 9 ms for a CPU, fast and slow ones alike.",
			func() *recording.Recording { return done(starvedOneIn(1), 98) }},
		{"run-queue/idle-lead", "The same waits on a host that is half idle: not for want of a CPU on the whole.", func() *recording.Recording { return done(starved(), 50) }},
		{"run-queue/ahead-lead", "The same, and it is known what had the processor until then: a backup before long waits ended, nothing before short ones.", func() *recording.Recording { return done(behindBackup(starved()), 50) }},
		{"run-queue/refuted", "A quiet host, on which a ready thread gets its CPU at once.", func() *recording.Recording { return done(healthy(), 30) }},
		{"run-queue/undecided", "No sample of the host was taken.",
			func() *recording.Recording { return starved().recording(1000) }},
		{"load/supported", "Two processors, four threads: every request computes for 9 ms, and one comes for each processor every 8.5 ms.\nEach waits longer for its CPU than the one before.",
			func() *recording.Recording { return done(overloaded(), 98) }},
		{"load/refuted", "A quiet host and a healthy service.",
			func() *recording.Recording { return done(healthy(), 30) }},
		{"load/undecided", "No event loop, and no sample of the host: nothing says how busy the server was.",
			func() *recording.Recording { return healthy().recording(1000) }},
		{"event-loop-blocked/refuted", "A service of threads: no event loop to block.",
			func() *recording.Recording { return done(healthy(), 30) }},
		{"event-loop-blocked/undecided", "Scheduling was not recorded.",
			func() *recording.Recording { return done(without(healthy(), "arrivals dns host io sockets tls"), 30) }},
	}
}

// overloaded gives two processors more work than they can do; two threads share each.
func overloaded() *scenario {
	s := newScenario(recording.RuntimePython)
	for cpu := range 2 {
		threads := [2]*thread{s.worker(recording.ThreadID(2*cpu+1), 1000*us), s.worker(recording.ThreadID(2*cpu+2), 1000*us)}
		free := recording.Time(0)
		for i := range requestsPlayed {
			t, arrives := threads[i%2], recording.Time(i+2)*8500*us
			t.request(arrives, max(10*us, free-arrives), "/prices/{}")
			t.compute(9000 * us)
			t.respond()
			free = t.at
		}
	}
	return s
}

// cheap is a request whose handshake, if it needs one, costs more than everything else.
var cheap = cost{before: 250 * us, handshake: 900 * us, after: 150 * us, remote: 600 * us}

func loopStories() []story {
	return []story{
		{"connection-churn/overload-supported", "A Node service opens a TLS connection a request. A request comes every 1.2 ms, needs 1.5 ms of the loop, and 0.5 without\nits handshake: nearly all of the wait before the handler is a consequence of the handshakes.",
			func() *recording.Recording { return done(loopOf(false, 80, 1200*us, cheap), 60) }},
		{"connection-churn/piled-supported", "The same, a request every 0.7 ms: calls pile up behind handshakes, so that none finds an idle connection. With connections\nkept the loop would be 70 % busy.",
			func() *recording.Recording { return done(loopOf(false, 200, 700*us, cheap), 60) }},
		{"connection-churn/loop-refuted", "The same service and load with connections kept: the first few are opened, then used again.",
			func() *recording.Recording { return done(loopOf(true, 80, 1200*us, cheap), 40) }},
		{"load/loop-supported", "Connections are kept, but a request comes every 1.2 ms and needs 1.6 ms of the loop for itself.",
			func() *recording.Recording {
				return done(loopOf(true, 60, 1200*us, cost{before: 1200 * us, handshake: 900 * us, after: 300 * us, remote: 600 * us}), 60)
			}},
		{"load/loop-lead", "Connections are kept; the loop runs 70 % of the time.",
			func() *recording.Recording {
				return done(loopOf(true, 60, 1200*us, cost{before: 600 * us, handshake: 900 * us, after: 150 * us, remote: 600 * us}), 60)
			}},
		{"event-loop-blocked/supported", "Every tenth request is a report that computes for 30 ms; the others need 0.5 ms each and wait behind it.",
			func() *recording.Recording { return done(reports(10, "/report", cost{before: 30_000 * us}), 60) }},
		{"event-loop-blocked/frames-supported", "The same with stacks: the reports render tables.",
			func() *recording.Recording {
				return done(without(reports(10, "/report", cost{before: 30_000 * us, code: "/srv/report.js:renderTable < /srv/report.js:report < /srv/app.js:handle"}), "arrivals async dns host io late processes sched sockets stacks tls"), 60)
			}},
		{"event-loop-blocked/compiles-supported", "The same, but a package compiles the schema of the reports each time, in nameless functions of its own, called in a nameless one of the service.",
			func() *recording.Recording {
				return done(without(reports(10, "/report", cost{before: 30_000 * us, code: "/srv/node_modules/schema/code.js:<anonymous> < /srv/node_modules/schema/core.js:compile < /srv/app.js:<anonymous>"}), "arrivals async dns host io late processes sched sockets stacks tls"), 60)
			}},
		{"event-loop-blocked/seventh-supported", "Every seventh request computes for 18 ms, under the same route as the others: what it takes, and what waits behind it.",
			func() *recording.Recording { return done(reports(7, "/prices/{}", cost{before: 18_000 * us}), 60) }},
		{"event-loop-blocked/asleep-supported", "Every tenth request is a report that sleeps for 30 ms in a call that blocks the loop; the others wait behind it.",
			func() *recording.Recording {
				return done(reports(10, "/report", cost{asleep: 30_000 * us, before: 500 * us}), 60)
			}},
		{"event-loop-blocked/beside-supported", "Every tenth of a second a job of no request computes for 30 ms, from a timer; requests wait behind it.",
			func() *recording.Recording { return done(beside(30_000*us), 60) }},
		{"gc-pause/loop-supported", "Every tenth request makes the collector work on the loop's thread for 30 ms; the others wait behind it.",
			func() *recording.Recording {
				return done(without(reports(10, "/report", cost{before: 30_000 * us, code: "native v8::internal::Heap::Scavenge < native v8::internal::Heap::CollectGarbage < /srv/app.js:handle"}), "arrivals async dns host io late processes sched sockets stacks tls"), 60)
			}},
		{"event-loop-blocked/loop-refuted", "Connections are kept; the loop runs 70 % of the time, never for long at once.",
			func() *recording.Recording {
				return done(loopOf(true, 60, 1200*us, cost{before: 600 * us, handshake: 900 * us, after: 150 * us, remote: 600 * us}), 60)
			}},
		{"accept-queue/supported", "One worker serves a request after the other, each waits 5 ms for its database. Every tenth time twelve come at once:\nthey wait in the accept queue, up to 60 ms.",
			func() *recording.Recording { return done(crowds(), 20) }},
		{"accept-queue/lingering-supported", "One worker that has answered waits 200 ms for more on that connection. Every third request comes on a new one\nmeanwhile, and waits until that is over.",
			func() *recording.Recording { return done(keepsWaiting(), 20) }},
		{"accept-queue/refuted", "A Node service with time to spare reads every request at once.",
			func() *recording.Recording { return done(loopOf(true, 60, 3000*us, cheap), 30) }},
		{"accept-queue/undecided", "Arrivals in sockets were not recorded.",
			func() *recording.Recording {
				return done(without(loopOf(true, 60, 3000*us, cheap), "async dns host io processes sched sockets tls"), 30)
			}},
	}
}

// beside plays a loop whose timer makes it compute every tenth of a second, for no request.
func beside(job recording.Time) *scenario {
	l := newLoop(true)
	for i := range 90 {
		l.arrive(10_000*us+recording.Time(i)*9_000*us, "/prices/{}", cost{before: 500 * us})
	}
	for i := range 8 {
		l.later(20_000*us+recording.Time(i)*100_000*us, func() { l.compute(job) })
	}
	return l.play()
}

// reports makes every n-th request compute for long.
func reports(n int, of string, report cost) *scenario {
	l := newLoop(true)
	for i := range 60 {
		c, route := cheap, "/prices/{}"
		if i%n == n/2 {
			c, route = report, of
		}
		l.arrive(10_000*us+recording.Time(i)*4000*us, route, c)
	}
	return l.play()
}

// crowds makes one worker serve requests on new connections; most come alone.
func crowds() *scenario {
	return crowdsBehind(recording.RuntimeRuby, func(t *thread) { keptCall(t, 5000*us) })
}

// crowdsBehind plays one worker to which every tenth time twelve requests come at once.
func crowdsBehind(rt recording.Runtime, each func(t *thread)) *scenario {
	s := newScenario(rt)
	s.add(us, &recording.Listen{Process: 1, Port: 80, Backlog: 64})
	t := s.worker(1, 1000*us)
	at := 20_000 * us
	for range 5 {
		for i := range 22 {
			t.accept(at - 50*us)
			s.add(at-50*us, &recording.Backlog{Port: 80, Depth: int64(max(1, i-9)), Limit: 64})
			t.request(at, 10*us, "/prices/{}")
			each(t)
			t.respond()
			if i < 10 {
				at += 20_000 * us
			}
		}
		at += 100_000 * us
	}
	return s
}

// keepsWaiting makes one worker answer requests on new connections; after each it waits for more.
func keepsWaiting() *scenario {
	s := newScenario(recording.RuntimeRuby)
	s.add(us, &recording.Listen{Process: 1, Port: 80, Backlog: 64})
	t := s.worker(1, 1000*us)
	keptCall(t, 5000*us) // for no request: to be ready
	at := 20_000 * us
	for i := range 2 * requestsPlayed {
		t.accept(at - 50*us)
		t.request(at, 10*us, "/prices/{}")
		keptCall(t, 5000*us)
		t.respond()
		at = t.at + 250_000*us
		if i%3 == 0 {
			at = t.at + 100_000*us
		}
		t.sleep(t.at+200_000*us, 10*us, "ppoll")
	}
	return s
}

// burst makes requests come all at once, each on its own thread.
func burst(each func(t *thread)) *scenario {
	s := newScenario(recording.RuntimePython)
	for i := range requestsPlayed {
		t := s.worker(recording.ThreadID(i+1), 1000*us)
		t.request(50_000*us+recording.Time(i)*10*us, 10*us, "/prices/{}")
		t.compute(500 * us)
		each(t)
		t.respond()
	}
	return s
}

// starved makes one request in five wait for a CPU.
func starved() *scenario { return starvedOneIn(5) }

// starvedOneIn makes one request in n wait for a CPU.
func starvedOneIn(n int) *scenario {
	s := newScenario(recording.RuntimePython)
	t := s.worker(1, 1000*us)
	for i := range requestsPlayed {
		ready := 10 * us
		if i%n == n-1 {
			ready = 9000 * us
		}
		t.request(recording.Time(i+1)*50_000*us, ready, "/prices/{}")
		t.compute(500 * us)
		keptCall(t, 600*us)
		t.respond()
	}
	return s
}

func lookingUp(took recording.Time) *scenario {
	return serve(newScenario(recording.RuntimePython), func(t *thread, _ int) {
		t.lookup(took)
		t.oneCall()
	})
}

// oneCall opens a connection for one call.
func (t *thread) oneCall() {
	o := t.dial(100 * us)
	t.call(o, 600*us, "/items/{}")
	t.hangUp(o, recording.ClosedByUs)
}

// lookup asks the resolver for the upstream's address, after asking servers that do not answer for 20 ms each.
func (t *thread) lookup(took recording.Time, silent ...string) {
	t.compute(20 * us)
	id := int64(t.conns) + 7
	for _, server := range silent {
		t.add(t.at, &recording.DNS{Thread: t.id, Part: recording.DNSQuery, ID: id, Name: "db.test", Type: "A", Server: server})
		t.sleep(t.at+20_000*us, 5*us, "poll")
	}
	t.add(t.at, &recording.DNS{Thread: t.id, Part: recording.DNSQuery, ID: id, Name: "db.test", Type: "A", Server: "10.0.0.53:53"})
	arrives := t.at + took
	t.sleep(arrives, 5*us, "poll")
	t.add(t.at, &recording.DNS{Thread: t.id, Part: recording.DNSAnswer, ID: id, Name: "db.test", Type: "A", Addrs: "10.0.0.2", Server: "10.0.0.53:53", Arrived: arrives})
}
