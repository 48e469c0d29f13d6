package hypotheses

import (
	"cmp"
	"math"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// queueStories are services whose requests queue for one server that computes for them and has time to spare.
func queueStories() []story {
	return []story{
		{"lock-convoy/rebuild-supported", "Requests come by chance, every 10 ms on average. Each rebuilds an index of 9 ms by chance (exponential, 8 ms on average) with a lock in its hand; two processors are half busy.",
			func() *recording.Recording { return done(rebuilding(1), 53) }},
		{"interpreter-lock/recompute-supported", "Requests come by chance. Most compute 2 ms in Python, one in eight recomputes 40 ms; the interpreter turns to the next thread every 5 ms.",
			func() *recording.Recording { return done(python(1).scenario, 40) }},
		{"interpreter-lock/ruby-supported", "The same in Ruby, which turns to the next thread every 100 ms, half as often.",
			func() *recording.Recording { return done(ruby(1).scenario, 28) }},
		{"interpreter-lock/chance-lead", "Requests come by chance and compute 2 ms each; the interpreter is idle for four fifths of the time. What waits is what came together.",
			func() *recording.Recording { return done(evenly().scenario, 40) }},
		{"run-queue/neighbour-supported", "The processors are busy half of the time, most of it with another program, which now and then has all of them: one request in five waits 9 ms.",
			func() *recording.Recording { return done(competing(starved(), "backup", 40), 50) }},
		{"run-queue/beside-lead", "Requests come by chance and look something up for 4 ms with a lock in their hand. The processors are busy a third of the time, most of it with that, but one request\nin five finds another program at all of them and waits 15 ms: that is the other program's doing, though it uses less than the service.",
			func() *recording.Recording { return done(competing(disturbed(), "backup", 15), 36) }},
		{"load/neighbour-refuted", "A loop with 0.4 ms of work every 1.2 ms gets a processor 2 ms after it is woken: it wants to run all the time, for want of a processor.",
			func() *recording.Recording { return done(competing(lateLoop(), "backup", 80), 98) }},
		{"load/crammed-supported", "Two processors, twelve workers: every request computes for 9 ms, and one comes for each processor every 7 ms. All workers serve\nall of the time in the end, but what they do is wait for a processor.",
			func() *recording.Recording { return done(crowding(6, 7000*us, 0), 92) }},
		{"load/beside-supported", "The same, while another program has each processor for 6 ms after each request: the service has 60 % of what they do, and what comes would be too much for all of it.",
			func() *recording.Recording { return done(competing(crowding(6, 7000*us, 6000*us), "backup", 39), 99) }},
		{"load/paced-supported", "The same, of clients that each send when they are answered: how many come is as many as are served, and more would if they were served faster.",
			func() *recording.Recording { return done(competing(crowding(6, 0, 6000*us), "backup", 39), 99) }},
		{"load/pair-refuted", "Two clients that each send when they are answered, and a processor for each; the other program has it for 6 ms after each request.",
			func() *recording.Recording { return done(competing(crowding(1, 0, 6000*us), "backup", 39), 99) }},
		{"load/slowed-refuted", "As many clients, but the other program has 18 ms after each request: the service has a third of the processors.",
			func() *recording.Recording { return done(competing(crowding(6, 0, 18_000*us), "backup", 66), 99) }},
		{"cpu-bound/bursts-lead", "Two processors, two thirds busy with requests that compute 9 ms each and come six at a time for each processor: what they wait for one, they wait for each other's work.",
			func() *recording.Recording { return done(crowding(6, -80_000*us, 0), 68) }},
		{"run-queue/bursts-minor", "What happens is as in cpu-bound/bursts-lead.txt.",
			func() *recording.Recording { return done(crowding(6, -80_000*us, 0), 68) }},
		{"run-queue/bursts-beside-minor", "The same, beside a program that uses an eighth of the processors: requests wait for each other all the same.",
			func() *recording.Recording { return done(competing(crowding(6, -80_000*us, 0), "backup", 12), 86) }},
		{"child-process/loop-supported", "One request in six starts a program, until whose start their loop sleeps for 12 ms; the others, one every 4 ms, wait for the loop.",
			func() *recording.Recording {
				l := newLoop(true)
				for i := range 120 {
					c := cost{before: 400 * us}
					if i%6 == 0 {
						c.starts = 12_000 * us
					}
					l.arrive(10_000*us+recording.Time(i)*4000*us, "/prices/{}", c)
				}
				return done(l.play(), 40)
			}},
		{"run-queue/loop-supported", "What happens is as in load/neighbour-refuted.txt.",
			func() *recording.Recording { return done(competing(lateLoop(), "backup", 80), 98) }},
	}
}

// disturbed plays requests that take a lock one after the other; one in five waits for a processor before that.
func disturbed() *scenario {
	s, m, seed := newScenario(recording.RuntimeJVM), &mutex{}, chance(7)
	s.hooks = stackHooks
	pool := crew(s, 40, "exec")
	type coming struct{ at, ready recording.Time }
	list := make([]coming, 300)
	at := 10_000 * us
	for i := range list {
		at += seed.gap(10_000 * us)
		if list[i] = (coming{at, 10 * us}); i%5 == 2 {
			list[i].ready = 15_000 * us
		}
	}
	slices.SortFunc(list, func(a, b coming) int { return cmp.Compare(a.at+a.ready, b.at+b.ready) })
	for _, x := range list {
		t := pool.free(x.at)
		t.request(x.at, x.ready, "/prices/{}")
		t.compute(100 * us)
		t.enter(m, finding)
		t.computeIn(4000*us, rebuild)
		t.leave(m)
		t.respond()
	}
	return s
}

// lateLoop plays a loop that waits for a processor whenever it is woken.
func lateLoop() *scenario {
	l := newLoop(true)
	l.late = 2000 * us
	for i := range 120 {
		l.arrive(10_000*us+recording.Time(i)*1200*us, "/prices/{}", cost{before: 400 * us})
	}
	return l.play()
}

// crowding makes so many workers share each of two processors, for 9 ms a request. After each request something else
// has the processor for a while (beside). One request comes for each processor at every multiple of every. If that is
// 0, it comes as the one before on its connection is answered. If it is negative, requests come that far apart, one for
// each worker at once.
func crowding(share int, every, beside recording.Time) *scenario {
	s := newScenario(recording.RuntimePython)
	for cpu := range 2 {
		threads := make([]*thread, share)
		for k := range threads {
			threads[k] = s.worker(recording.ThreadID(share*cpu+k+1), 1000*us)
		}
		free := recording.Time(0)
		for i := range requestsPlayed {
			t, arrives := threads[i%share], recording.Time(i+2)*every
			switch {
			case every < 0:
				arrives = -recording.Time(i/share+1) * every
			case every == 0:
				arrives = max(t.at, 10_000*us) + 100*us
			}
			if every != 0 {
				t.accept(arrives - 50*us)
			}
			t.request(arrives, 10*us, "/prices/{}")
			if free > t.at {
				s.add(free, &recording.Off{Thread: t.id, Since: t.at, Woken: t.at, State: recording.OffPreempted})
				t.at = free
			}
			t.compute(9000 * us)
			t.respond()
			free = t.at + beside
		}
	}
	return s
}

// competing makes a program that is not watched use some percent of two processors.
func competing(s *scenario, comm string, percent int64) *scenario {
	for since := us; since < s.end; since += 1_000_000 * us {
		at := min(s.end, since+1_000_000*us)
		s.add(at, &recording.Neighbour{Comm: comm, Since: since, CPU: int64(at-since) * 2 * percent / 100})
	}
	return s
}

// chance draws numbers from a seed.
type chance uint64

func (c *chance) next() float64 {
	*c = *c*6364136223846793005 + 1442695040888963407
	return float64(*c>>11) / (1 << 53)
}

// gap returns the time to the next of those that come by chance.
func (c *chance) gap(mean recording.Time) recording.Time {
	return recording.Time(-math.Log(1-c.next()) * float64(mean))
}

const (
	rebuild  = "com.shop.S.rebuild < com.shop.S.find < com.shop.Handler.handle"
	finding  = entering + "com.shop.S.find < com.shop.Handler.handle"
	recalc   = "shop/app.py:recompute < shop/app.py:handle"
	handling = "shop/app.py:handle"
	gvl      = "native gvl_acquire < shop/app.rb:handle"
)

// rebuilding plays requests that take a lock one after the other; what they do while they hold it takes so many times
// as long.
func rebuilding(work float64) *scenario {
	s, m, seed := newScenario(recording.RuntimeJVM), &mutex{}, chance(7)
	s.hooks = stackHooks
	pool := crew(s, 40, "exec")
	at := 10_000 * us
	for range 300 {
		at += seed.gap(10_000 * us)
		t := pool.free(at)
		t.request(at, 10*us, "/prices/{}")
		t.compute(100 * us)
		t.enter(m, finding)
		t.computeIn(recording.Time(work*float64(seed.gap(8000*us)))+us, rebuild)
		t.leave(m)
		t.respond()
	}
	return s
}

// team is a set of threads that take requests.
type team []*thread

func crew(s *scenario, n int, name string) (pool team) {
	for i := range n {
		pool = append(pool, s.named(recording.ThreadID(i+1), name+"-"+string(rune('a'+i/26))+string(rune('a'+i%26))))
	}
	return pool
}

// free returns a thread that has nothing to do at a time: the one that has been idle longest.
func (p team) free(at recording.Time) *thread {
	best := p[0]
	for _, t := range p {
		if t.at < best.at {
			best = t
		}
	}
	return best
}

// interpreter serves threads in slices.
type interpreter struct {
	*scenario
	slice recording.Time
	path  string // the stack of a wait for it
	free  recording.Time
	line  []*computation
	last  *thread        // that had it last
	robs  recording.Time // how long other programs have the processor amid each turn
	late  recording.Time // how long a thread that asks for it again waits for a processor to do so
}

// computation is what a request asks of an interpreter.
type computation struct {
	*thread
	left recording.Time
	in   string
}

func python(work float64) *interpreter {
	s := newScenario(recording.RuntimePython)
	return (&interpreter{scenario: s, slice: 5000 * us, path: gil}).serve(9300*us, work, [2]string{handling, recalc})
}

func evenly() *interpreter {
	s := newScenario(recording.RuntimePython)
	return (&interpreter{scenario: s, slice: 5000 * us, path: gil}).serve(10_000*us, 0.05, [2]string{handling, handling})
}

func ruby(work float64) *interpreter {
	s := newScenario(recording.RuntimeRuby)
	return (&interpreter{scenario: s, slice: 100_000 * us, path: gvl}).serve(13_500*us, work, [2]string{"shop/app.rb:handle", "shop/app.rb:recompute < shop/app.rb:handle"})
}

// serve plays requests that come by chance. One in eight recomputes, which takes so many times 40 ms.
func (p *interpreter) serve(mean recording.Time, work float64, in [2]string) *interpreter {
	p.hooks = stackHooks
	pool, seed, at := crew(p.scenario, 60, "worker"), chance(11), 10_000*us
	for range 320 {
		at += seed.gap(mean)
		c := &computation{left: 2000 * us, in: in[0]}
		if seed.next() < 0.125 {
			c.left, c.in = recording.Time(work*40_000)*us, in[1]
		}
		p.run(at)
		c.thread = pool.free(at)
		c.request(at, 5*us, "/items/{}")
		p.line = append(p.line, c)
	}
	p.run(math.MaxInt64)
	return p
}

// run makes the interpreter work until a time.
func (p *interpreter) run(until recording.Time) {
	for len(p.line) > 0 && max(p.free, p.line[0].at) < until {
		c := p.line[0]
		p.line = p.line[1:]
		c.wait(p)
		slice := min(c.left, p.slice)
		rest := slice
		if p.robs > 0 {
			rest -= slice / 2
			c.computeIn(slice/2, c.in)
			c.preempted(p.robs)
		}
		c.computeIn(rest, c.in)
		p.free, p.last = c.at, c.thread
		if c.left -= slice; c.left > 0 {
			p.line = append(p.line, c)
		} else {
			c.respond()
			p.free = c.at
		}
	}
}

// wait makes a computation wait until the interpreter is free: CPython's threads ask for it every 5 ms.
func (c *computation) wait(p *interpreter) {
	for c.at < p.free {
		until := p.free
		if c.runtime == recording.RuntimePython {
			until = min(until, c.at+5000*us)
		}
		late := 2 * us
		if until < p.free {
			late += p.late
		}
		off := c.blocked(until, late, "futex", p.path)
		off.Arg = 0x7000
		if c.runtime == recording.RuntimePython {
			off.Timed = 1
		}
		if off.WakerKind = recording.WakerInterrupt; until == p.free && p.last != nil {
			off.WakerKind, off.Waker, off.Release = recording.WakerThread, p.last.id, 1
		}
	}
}
