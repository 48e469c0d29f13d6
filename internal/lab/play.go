package lab

import (
	"container/heap"
	"math/rand/v2"
)

// What a kernel and a library take for themselves.
const (
	wakeUp   = 8 * Microsecond // until a woken thread runs, if a processor is idle
	slice    = 3 * Millisecond // after which a thread yields to one that is ready
	reading  = 10 * Microsecond
	writing  = 20 * Microsecond
	hostTick = 100 * Millisecond
)

// event is something that happens at a time; events at one time keep their order.
type event struct {
	at    Time
	order int
	do    func()
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, k int) bool {
	return q[i].at < q[k].at || q[i].at == q[k].at && q[i].order < q[k].order
}
func (q queue) Swap(i, k int) { q[i], q[k] = q[k], q[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(event)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}

// play is a service being played.
type play struct {
	*Service
	facts   *facts // nil: no recording is wanted
	now     Time
	events  queue
	order   int
	idle    int       // number of idle processors
	ready   []*thread // for a processor, in order
	free    []*thread // that serve no request
	behind  []int     // requests for which no connection is free: the client keeps them
	took    []Time    // per request, from its arrival in a socket; 0: not over
	left    int       // requests to be answered
	used    Time      // by all processors
	arrived []Time
	others  *rand.Rand        // draws for another program
	done    [another + 1]Time // instances of the second peer: when each is done with all requested so far
}

// thread serves one connection, one request after the other.
type thread struct {
	id       int
	request  int // the one that it serves; -1 none
	arrived  Time
	steps    []Step
	next     int
	neighbor bool // belongs to another program
	off      *offSpan
	woken    Time   // last time
	then     func() // what it does once it has a processor
}

// offSpan is since when a thread is off its processor, and why.
type offSpan struct {
	since, woken Time
	step         *Step // nil: it waits for a request
	waker        *thread
	preempted    bool
	syscall      string
}

// Durations plays a service and returns how long each request took.
func (s *Service) Durations() []Time { return s.play(nil).took }

func (s *Service) play(f *facts) *play {
	p := &play{Service: s, facts: f, idle: s.CPUs, took: make([]Time, s.Requests), left: s.Requests, arrived: s.arrivals(), others: rand.New(rand.NewPCG(s.Seed, 2))}
	for i := range s.Threads {
		t := &thread{id: i + 1, request: -1, off: &offSpan{since: Microsecond, syscall: "recvfrom"}}
		p.free = append(p.free, t)
	}
	for i, at := range p.arrived {
		p.at(at, func() { p.arrive(i) })
	}
	p.at(2*Microsecond, p.host)
	if s.Neighbor > 0 {
		for range s.CPUs * neighbors {
			p.interfere(&thread{neighbor: true})
		}
	}
	for p.left > 0 {
		e := heap.Pop(&p.events).(event)
		p.now = e.at
		e.do()
	}
	return p
}

func (p *play) at(at Time, do func()) {
	p.order++
	heap.Push(&p.events, event{at, p.order, do})
}

// arrive gives a request to a thread that serves none.
func (p *play) arrive(i int) {
	if len(p.free) == 0 {
		p.behind = append(p.behind, i)
		return
	}
	t := p.free[0]
	p.free = p.free[1:]
	t.request, t.arrived, t.steps, t.next = i, p.now, p.steps(i), 0
	p.wake(t, nil, func() {
		p.on(t, reading, "", func() { p.facts.read(p.now, t); p.goOn(t) })
	})
}

// wake makes a thread ready; then is what it does once it runs.
func (p *play) wake(t *thread, by *thread, then func()) {
	t.off.woken, t.off.waker, t.then = p.now, by, then
	p.at(p.now+wakeUp, func() {
		p.ready = append(p.ready, t)
		p.dispatch()
	})
}

// dispatch lets ready threads run on idle processors.
func (p *play) dispatch() {
	for p.idle > 0 && len(p.ready) > 0 {
		t := p.ready[0]
		p.ready = p.ready[1:]
		p.idle--
		if t.off != nil && !t.neighbor {
			t.woken = t.off.woken
			p.facts.off(p.now, t)
		}
		t.off = nil
		t.then()
	}
}

// on uses the processor that a thread has, one slice at a time.
func (p *play) on(t *thread, d Time, code string, then func()) {
	now := min(d, slice)
	if !t.neighbor {
		p.facts.running(p.now, now, t, code)
	}
	p.at(p.now+now, func() {
		p.used += now
		switch {
		case d == now:
			then()
		case len(p.ready) == 0:
			p.on(t, d-now, code, then)
		default:
			t.off = &offSpan{since: p.now, woken: p.now, preempted: true}
			t.then = func() { p.on(t, d-now, code, then) }
			p.ready = append(p.ready, t)
			p.yield()
		}
	})
}

// yield gives a processor back.
func (p *play) yield() {
	p.idle++
	p.dispatch()
}

// goOn does the next step of a request.
func (p *play) goOn(t *thread) {
	if t.next == len(t.steps) {
		p.on(t, writing, "", func() { p.answer(t) })
		return
	}
	s := &t.steps[t.next]
	t.next++
	then := func() { p.goOn(t) }
	switch s.do {
	case compute:
		p.on(t, s.took, s.code, then)
	case enter:
		p.enter(t, s, then)
	case leave:
		p.leave(t, s.on)
		then()
	case call:
		p.ask(t, s, then)
	case start:
		p.start(t, s, then)
	case freshCall:
		p.fresh(t, s, then)
	case lookUp:
		p.facts.lookUp(p.now, t)
		p.asleep(t, offSpan{step: s, syscall: "poll"}, s.took, func() { p.facts.found(p.now, t); then() })
	default:
		p.asleep(t, offSpan{step: s, syscall: map[deed]string{sleep: "clock_nanosleep", draw: "getrandom", sync: "fsync", fault: ""}[s.do]}, s.took, then)
	}
}

// ask calls a peer, together with the calls that accompany this one.
func (p *play) ask(t *thread, s *Step, then func()) {
	calls, longest := Time(1), s.took
	for ; t.next < len(t.steps) && t.steps[t.next].with != alone; t.next++ {
		also := &t.steps[t.next]
		longest = max(longest, also.took)
		if also.with == alongside {
			calls++
		}
	}
	p.on(t, calls*writing, "", func() {
		p.facts.asks(p.now, t, s)
		p.asleep(t, offSpan{step: s, syscall: "recvfrom"}, p.remote(s)+longest-s.took, func() { p.facts.answered(p.now, t, s); p.on(t, calls*reading, "", then) })
	})
}

// fresh opens a connection, makes a call, and closes the connection.
func (p *play) fresh(t *thread, s *Step, then func()) {
	p.facts.dials(p.now, t, s)
	p.asleep(t, offSpan{step: s, syscall: "connect"}, s.connect, func() {
		p.facts.established(p.now, t)
		p.on(t, writing, "", func() {
			p.facts.asks(p.now, t, s)
			p.asleep(t, offSpan{step: s, syscall: "recvfrom"}, s.took, func() {
				p.facts.answered(p.now, t, s)
				p.facts.hangsUp(p.now, t)
				p.on(t, reading, "", then)
			})
		})
	})
}

// asleep lets a thread wait for a duration.
func (p *play) asleep(t *thread, off offSpan, d Time, then func()) {
	off.since, t.off = p.now, &off
	p.at(p.now+d, func() { p.wake(t, nil, then) })
	p.yield()
}

func (p *play) enter(t *thread, s *Step, then func()) {
	if s.on.used < s.on.size {
		s.on.used++
		then()
		return
	}
	t.off, t.then = &offSpan{since: p.now, step: s, syscall: "futex"}, then
	s.on.waiting = append(s.on.waiting, t)
	p.yield()
}

// leave hands a resource to the thread that has waited longest.
func (p *play) leave(t *thread, r *Resource) {
	if len(r.waiting) == 0 {
		r.used--
		return
	}
	next := r.waiting[0]
	r.waiting = r.waiting[1:]
	p.wake(next, t, next.then)
}

func (p *play) answer(t *thread) {
	p.took[t.request] = p.now - t.arrived
	p.facts.write(p.now, t)
	t.request, t.off = -1, &offSpan{since: p.now, syscall: "recvfrom"}
	p.free = append(p.free, t)
	p.left--
	p.yield()
	if len(p.behind) > 0 {
		i := p.behind[0]
		p.behind = p.behind[1:]
		p.at(p.now+100*Microsecond, func() { p.arrive(i) })
	}
}

// neighbors is how many threads another program has per processor.
const neighbors = 6

// interfere lets a thread of another program compute now and then.
func (p *play) interfere(t *thread) {
	work := Time(p.others.ExpFloat64() * float64(4*Millisecond))
	rest := Time(float64(work) * (neighbors - p.Neighbor) / p.Neighbor)
	p.at(p.now+rest, func() {
		t.then = func() {
			p.on(t, max(work, Microsecond), "", func() { p.interfere(t); p.yield() })
		}
		p.ready = append(p.ready, t)
		p.dispatch()
	})
}

// host samples the machine.
func (p *play) host() {
	p.facts.host(p)
	p.at(p.now+hostTick, p.host)
}
