package build

import (
	"fmt"
	"slices"
	"strings"
)

// toldPlay plays a Node loop whose requests make calls through a client that has a few connections. A request continues
// after an answer when a promise is resolved, under no id of its own. A request that finds no connection free waits for
// one, and gets it in the callback in which another request's call is answered.
type toldPlay struct {
	out     strings.Builder
	at, ids int64
	random  uint32

	rounds   []int // calls that a request makes at once; when all are answered, the next round
	branches bool  // alternatively: one more as each is answered
	itself   bool  // the client calls back under an id of each call
	last     bool  // the last one to come gets the connection
	named    bool  // promises have ids of their own, and what continues after a promise has its id
	queued   bool  // calls wait in a queue of the program, which sends the next in the context of the answered request
	calm     int   // requests at once, most of the time; 0: two
	jobs     bool  // between rounds the thread pool does something
	files    bool  // with a file, twice; the callback runs in the current turn
	worker   bool  // alternatively a worker thread, one task after the other: messages come under the id of their handle
	ports    int   // or this many workers, which get messages through their own ports, each one after the other
	pairs    bool  // or one callback is for two at once, under their own ids
	pings    bool  // additionally, messages make calls of no request
	once     bool  // a request that comes during another's first call waits for that call
	valid    int   // after its answer, this many requests need no such call

	conns    []*toldConn
	waiting  []toldCall
	working  []toldJob
	open     int // number of requests
	pinged   int
	promise  map[int]int64 // by request: the promise that it continues after
	fetching []int         // requests that wait for that call, the caller first
	fetched  int           // how many requests need no call from now on
	left     map[int]int   // by request: calls that it waits for
	step     map[int]int
	more     map[int]int // by request: calls that branches have yet to make
	truth    map[int][]int
}

type toldConn struct {
	call       *toldCall
	sent, read int64
}

type toldCall struct {
	request int
	id      int64
}

type toldJob struct {
	request int
	id      int64
	again   bool // the file is used once more then
	port    int  // through which the message was sent
}

func (p *toldPlay) say(format string, args ...any) {
	p.at += 10_000
	fmt.Fprintf(&p.out, "%d %s\n", p.at, fmt.Sprintf(format, args...))
}

func (p *toldPlay) upTo(n int) int {
	p.random = p.random*1664525 + 1013904223
	return int(p.random>>16) % n
}

// ask lets a request make a number of calls.
func (p *toldPlay) ask(r, calls int) {
	for range calls {
		p.ids++
		c := toldCall{r, p.ids}
		p.left[r]++
		if k := slices.IndexFunc(p.conns, func(c *toldConn) bool { return c.call == nil }); k >= 0 {
			p.send(k, c, 0)
		} else {
			p.waiting = append(p.waiting, c)
		}
	}
}

func (p *toldPlay) send(k int, c toldCall, exec int64) {
	trigger := int64(0)
	if p.named && exec == 0 {
		p.ids++
		exec, trigger = p.ids, p.promise[c.request]
	}
	p.sendAs(k, c, exec, trigger)
}

func (p *toldPlay) sendAs(k int, c toldCall, exec, trigger int64) {
	conn := p.conns[k]
	conn.call = &c
	p.say("chunk conn=2%d thread=1 dir=write offset=%d bytes=10 exec=%d trigger=%d counter=%d", k, conn.sent, exec, trigger, p.ids)
	p.say("command conn=2%d offset=%d length=10 operation=GET", k, conn.sent)
	conn.sent += 10
	p.truth[k] = append(p.truth[k], c.request)
}

func (p *toldPlay) sleep() {
	p.say("off thread=1 since=%d woken=%d syscall=epoll_pwait waker-kind=interrupt counter=%d", p.at+1000, p.at+9000, p.ids)
}

func (p *toldPlay) arrive(r int) {
	p.ids += 2 // the ids of a connection and of its parser
	p.sleep()
	p.say("chunk conn=1%d thread=1 dir=read bytes=40 arrived=%d last=%d counter=%d", r, p.at-2000, p.at-2000, p.ids)
	p.say("http-request conn=1%d head=40 method=GET route=/a", r)
	p.say("boundary thread=1 what=resolved exec=%d trigger=%d counter=%d", p.ids, p.ids-1, p.ids) // by the connection's parser
	p.promise[r] = p.ids - 1
	p.ids += 3
	if p.once && p.fetched > 0 {
		p.fetched--
		p.step[r] = 1
		p.ask(r, p.rounds[1])
		return
	}
	if p.once {
		p.fetching = append(p.fetching, r)
		if len(p.fetching) > 1 {
			return
		}
	}
	p.ask(r, p.rounds[0])
	p.awaits(r)
	if p.branches {
		p.more[r] = p.rounds[0]
	}
}

// answer answers the call on a connection. Handles have the ids from 3 on.
func (p *toldPlay) answer(k int) {
	conn, done := p.conns[k], p.conns[k].call
	p.sleep()
	p.say("chunk conn=2%d thread=1 dir=read offset=%d bytes=5 arrived=%d last=%d counter=%d", k, conn.read, p.at-2000, p.at-2000, p.ids)
	p.say("reply conn=2%d offset=%d length=5 outcome=ok", k, conn.read)
	conn.read += 5
	conn.call = nil
	if n := len(p.waiting); n > 0 && !p.queued {
		next := 0
		if p.last {
			next = n - 1
		}
		c := p.waiting[next]
		p.waiting = slices.Delete(p.waiting, next, next+1)
		p.send(k, c, int64(3+k))
	}
	exec := int64(3 + k)
	if p.itself {
		exec = done.id
	}
	p.say("boundary thread=1 what=resolved exec=%d counter=%d", exec, p.ids)
	if p.queued && len(p.waiting) > 0 {
		c := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.ids++
		p.sendAs(k, c, p.ids, p.promise[done.request])
	}
	p.goOn(done.request)
}

func (p *toldPlay) goOn(r int) {
	p.left[r]--
	if p.once && p.step[r] == 0 {
		all := p.fetching
		p.fetching, p.fetched = nil, p.valid
		for _, r := range all {
			p.step[r] = 1
			p.ask(r, p.rounds[1])
		}
		return
	}
	switch {
	case p.more[r] > 0:
		p.more[r]--
		p.ask(r, 1)
	case p.left[r] > 0:
	case p.branches || p.step[r] == len(p.rounds)-1:
		exec := int64(0)
		if p.named {
			exec = p.promise[r]
		}
		p.say("chunk conn=1%d thread=1 dir=write bytes=60 exec=%d trigger=%d counter=%d", r, exec, exec, p.ids)
		p.say("http-response conn=1%d head=60 status=200", r)
		p.open--
	case p.jobs:
		p.ids += 2
		job := toldJob{r, p.ids, p.files, 0}
		if p.ports > 0 {
			job.port = 70 + p.upTo(p.ports)
			exec := int64(0)
			if p.named {
				exec = p.promise[r]
				p.awaits(r)
			}
			p.say("boundary thread=1 what=posted port=%d exec=%d trigger=%d counter=%d", job.port, exec, exec, p.ids)
		}
		p.working = append(p.working, job)
	default:
		p.step[r]++
		p.ask(r, p.rounds[p.step[r]])
		p.awaits(r)
	}
}

// awaits lets a request wait for a promise that is made now; branches wait for the one that was made first.
func (p *toldPlay) awaits(r int) {
	p.ids++
	p.promise[r] = p.ids
}

// crowd returns how many requests are served at once: now and then more than there is room for.
func (p *toldPlay) crowd(next int) int {
	if next%20 < 15 {
		return p.calm
	}
	return 6
}

// finish ends something that the thread pool does: the callback's tick resolves the promise.
func (p *toldPlay) finish(k int) {
	k = slices.IndexFunc(p.working, func(j toldJob) bool { return j.port == p.working[k].port && (p.ports > 0 || j == p.working[k]) })
	job := p.working[k]
	p.working = slices.Delete(p.working, k, k+1)
	if p.ports > 0 {
		p.sleep()
		p.say("boundary thread=1 what=messages port=%d exec=%d counter=%d", job.port, job.port, p.ids)
		p.say("boundary thread=1 what=resolved exec=%d counter=%d", job.port, p.ids)
		p.carryOn(job)
		p.say("boundary thread=1 what=message port=%d exec=%d counter=%d", job.port, job.port, p.ids)
		return
	}
	if p.worker {
		p.sleep()
		p.say("boundary thread=1 what=resolved exec=2 counter=%d", p.ids)
		p.carryOn(job)
		return
	}
	if p.pairs {
		p.sleep()
		both := []toldJob{job}
		if len(p.working) > 0 {
			both, p.working = append(both, p.working[0]), p.working[1:]
		}
		for _, j := range both {
			p.say("boundary thread=1 what=resolved exec=%d trigger=2 counter=%d", j.id, p.ids)
		}
		for _, j := range both {
			p.carryOn(j)
		}
		return
	}
	if p.files {
		p.say("boundary thread=1 what=done exec=%d trigger=%d counter=%d", job.id, job.id-1, p.ids)
		if p.ids += 2; job.again {
			p.working = append(p.working, toldJob{job.request, p.ids, false, 0})
			return
		}
		p.carryOn(job)
		return
	}
	p.sleep()
	p.ids += 2
	p.say("boundary thread=1 what=resolved exec=%d trigger=%d counter=%d", p.ids, job.id, p.ids)
	p.carryOn(job)
}

func (p *toldPlay) carryOn(j toldJob) {
	p.step[j.request]++
	p.ask(j.request, p.rounds[p.step[j.request]])
}

// ping lets a message arrive, and make a call on a connection of its own.
func (p *toldPlay) ping() {
	p.sleep()
	p.say("boundary thread=1 what=resolved exec=2 counter=%d", p.ids)
	p.say("chunk conn=99 thread=1 dir=write offset=%d bytes=10 counter=%d", 10*p.pinged, p.ids)
	p.say("command conn=99 offset=%d length=10 operation=PING", 10*p.pinged)
	p.sleep()
	p.say("chunk conn=99 thread=1 dir=read offset=%d bytes=5 arrived=%d last=%d counter=%d", 5*p.pinged, p.at-2000, p.at-2000, p.ids)
	p.say("reply conn=99 offset=%d length=5 outcome=ok", 5*p.pinged)
	p.pinged++
}

func (p *toldPlay) play(requests, conns int) string {
	p.at, p.ids, p.random = 1_000_000, 100, 7
	if p.calm == 0 {
		p.calm = 2
	}
	p.promise = map[int]int64{}
	p.left, p.step, p.more, p.truth = map[int]int{}, map[int]int{}, map[int]int{}, map[int][]int{}
	p.say(`manifest cpus=2 hooks="sched io sockets arrivals async"`)
	p.say("process id=1 pid=100 runtime=node comm=x")
	p.say("thread id=1 tid=100 process=1")
	for r := range requests {
		p.say("conn id=1%d side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:%d existing=1", r, 10000+r)
	}
	for k := range conns {
		p.conns = append(p.conns, &toldConn{})
		p.say("conn id=2%d side=out process=1 local=127.0.0.1:%d peer=10.0.0.1:6379 existing=1", k, 6000+k)
		p.say("conn-protocol conn=2%d protocol=redis", k)
	}
	if p.pings {
		p.say("conn id=99 side=out process=1 local=127.0.0.1:5999 peer=10.0.0.9:6379 existing=1")
		p.say("conn-protocol conn=99 protocol=redis")
	}
	p.say("thread-state thread=1 state=sleep syscall=epoll_pwait")
	for next := 0; ; {
		if p.pings && p.upTo(4) == 0 {
			p.ping()
		}
		var busy []int
		for k, c := range p.conns {
			if c.call != nil {
				busy = append(busy, k)
			}
		}
		switch n := len(busy) + len(p.working); {
		case next < requests && (n == 0 || p.open < p.crowd(next) && p.upTo(2) == 0):
			p.arrive(next)
			p.open++
			next++
		case n == 0:
			return p.out.String()
		default:
			if k := p.upTo(n); k < len(busy) {
				p.answer(busy[k])
			} else if p.worker {
				p.finish(0)
			} else {
				p.finish(k - len(busy))
			}
		}
	}
}
