package build

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// oneConn plays a Node loop whose requests all use one connection to Redis. In a tick, requests ask for what they need.
// At the end of the tick all of that is written at once, by a callback that the first of them scheduled. Answers come
// later, several in one read, and their requests continue in the same order.
type oneConn struct {
	out     strings.Builder
	at, ids int64
	random  uint32
	asked   []command // in this tick, not written yet
	flushes int64     // the id of the callback that writes them; 0: not scheduled
	under   []command // written, not answered
	sent    int64     // bytes
	read    int64
	left    map[int]int // by request: calls that it waits for
	step    map[int]int
	truth   []int // by call: its request
	same    bool  // all requests are of one endpoint
	mixed   bool  // writes in reverse order
	naps    bool  // requests sleep before they continue
	jobs    bool  // before everything the thread pool does something: a tick of its callback resolves the promise
	held    bool  // nothing is written until all that was written is answered
	whole   bool  // until then no request continues either, and what waits is written first
	later   []int // requests that continue then
	each    bool  // a request that waits for several continues as each is answered
	more    map[int]int
	named   bool // promises have ids of their own, and what continues after a promise has its id
	promise map[int]int64
	both    map[int]int64 // id made between two calls in parallel, resolved when both are answered
	aside   bool          // each request also calls something on a connection of its own
	asides  []int         // requests that wait for such calls
	beds    [][2]int64    // requests that sleep, and the ids of their timers
	waits   bool          // it is recorded what waits for each promise that an answer resolves
	place   map[int]int64 // the place of what waits; moved now and then
}

type command struct {
	request int
	name    string
}

// kinds lists the requests by what they send at each step: none, one, two at once, one after the other, two after one,
// and three after each other.
var kinds = []struct {
	route string
	steps [][]string
}{
	{"/health", nil},
	{"/one", [][]string{{"GET"}}},
	{"/both", [][]string{{"GET", "GET"}}},
	{"/then", [][]string{{"GET"}, {"SET"}}},
	{"/more", [][]string{{"INCR"}, {"GET", "HGET"}}},
	{"/last", [][]string{{"GET"}, {"GET"}, {"SET"}}},
}

func (p *oneConn) say(format string, args ...any) {
	p.at += 10_000
	fmt.Fprintf(&p.out, "%d %s\n", p.at, fmt.Sprintf(format, args...))
}

func (p *oneConn) upTo(n int) int {
	p.random = p.random*1664525 + 1013904223
	return int(p.random>>16)%n + 1
}

// goOn lets a request do its next step.
func (p *oneConn) goOn(r int) {
	k := kinds[r%len(kinds)]
	if p.step[r] == len(k.steps) {
		p.say("chunk conn=1%d thread=1 dir=write bytes=60 exec=%d trigger=%d counter=%d", r, p.promise[r], p.promise[r], p.ids)
		p.say("http-response conn=1%d head=60 status=200", r)
		return
	}
	for _, name := range k.steps[p.step[r]] {
		p.ask(command{r, name})
		p.left[r]++
	}
	if n := len(k.steps[p.step[r]]); p.each && n > 1 {
		p.more[r] = n
	}
	if p.aside && p.step[r] == 1 {
		for k := range 2 {
			exec, trigger := int64(0), int64(0)
			if p.named {
				p.ids++
				exec, trigger = p.ids, p.promise[r]
			}
			p.say("chunk conn=%d%d thread=1 dir=write bytes=30 exec=%d trigger=%d counter=%d", 3+k, r, exec, trigger, p.ids)
			p.say("http-request conn=%d%d head=30 method=GET route=/b", 3+k, r)
			p.asides = append(p.asides, 10*r+k)
			p.left[r]++
			if p.named && k == 0 {
				p.ids++
				p.both[r] = p.ids
			}
		}
	}
	p.step[r]++
	if p.named {
		p.promise[r] = p.ids + 1
		p.ids += 6 // and of what waits for it
	}
}

// ask requests a command, which is written at the end of the tick.
func (p *oneConn) ask(c command) {
	p.asked = append(p.asked, c)
	if p.flushes == 0 {
		p.ids++
		p.flushes = p.ids
	}
}

// answerAside answers the first of the calls on connections of their own.
func (p *oneConn) answerAside() {
	r, k := p.asides[0]/10, p.asides[0]%10
	p.asides = p.asides[1:]
	p.say("chunk conn=%d%d thread=1 dir=read bytes=50 arrived=%d last=%d counter=%d", 3+k, r, p.at-2000, p.at-2000, p.ids)
	p.say("http-response conn=%d%d head=50 status=200", 3+k, r)
	p.ids += 2
	if p.left[r]--; p.left[r] == 0 {
		if p.named {
			p.say("boundary thread=1 exec=%d trigger=%d counter=%d what=resolved", p.both[r], p.both[r]-1, p.ids)
		}
		p.goOn(r)
	}
}

func (p *oneConn) arrive(r int) {
	p.say("chunk conn=1%d thread=1 dir=read bytes=40 arrived=%d last=%d counter=%d", r, p.at-2000, p.at-2000, p.ids)
	route := kinds[r%len(kinds)].route
	if p.same {
		route = "/any"
	}
	p.say("http-request conn=1%d head=40 method=GET route=%s", r, route)
	p.ids += 3
	if p.jobs {
		p.beds = append(p.beds, [2]int64{int64(r), p.ids})
		return
	}
	p.goOn(r)
}

func (p *oneConn) answer(n int) {
	p.say("chunk conn=20 thread=1 dir=read offset=%d bytes=%d arrived=%d last=%d counter=%d", p.read, 5*n, p.at-2000, p.at-2000, p.ids)
	done, branch := []int{}, map[int]bool{} // by place in done
	for _, c := range p.under[:n] {
		p.say("reply conn=20 offset=%d length=5 outcome=ok", p.read)
		p.read += 5
		if p.more[c.request] > 0 {
			p.more[c.request]--
			branch[len(done)] = true
			done = append(done, c.request)
			continue // its place is taken at once
		}
		if p.left[c.request]--; p.left[c.request] == 0 {
			done = append(done, c.request)
		}
	}
	if p.waits {
		p.tellWaiters(n)
	}
	p.under = p.under[n:]
	p.ids += 2
	if p.whole {
		if p.later = append(p.later, done...); len(p.under) > 0 {
			return
		}
		p.flush()
		done, p.later = p.later, nil
	}
	for _, r := range done {
		if p.named {
			p.say("boundary thread=1 exec=%d trigger=%d counter=%d what=resolved", p.promise[r], p.promise[r]-1, p.ids)
		}
	}
	for k, r := range done {
		if branch[k] {
			p.ask(command{r, "SET"})
			continue
		}
		if p.naps && p.step[r] < len(kinds[r%len(kinds)].steps) {
			p.ids++
			p.beds = append(p.beds, [2]int64{int64(r), p.ids})
			continue
		}
		p.goOn(r)
	}
}

// tellWaiters records, for each of some answers, what waits for the promise that it resolves, under the id of the
// connection. Places are reused, and some of those that wait are moved before.
func (p *oneConn) tellWaiters(answers int) {
	for _, c := range p.under[:answers] {
		if before, ok := p.place[c.request]; !ok {
			p.place[c.request] = int64(c.request/100%2)<<18 + int64(c.request%100)*64 + 1
		} else if p.upTo(8) == 1 {
			p.place[c.request] = 7000 + p.at
			p.say("boundary thread=1 what=moved waiter=%d to=%d", before, p.place[c.request])
		}
	}
	what := "resolved"
	for _, c := range p.under[:answers] {
		p.say("boundary thread=1 exec=2 trigger=1 counter=%d what=%s waiter=%d", p.ids, what, p.place[c.request])
		what = "awaited"
	}
}

// wake lets one of the sleeping requests continue.
func (p *oneConn) wake() {
	k := p.upTo(len(p.beds)) - 1
	bed := p.beds[k]
	p.beds = slices.Delete(p.beds, k, k+1)
	if p.jobs {
		p.ids += 2
		p.say("boundary thread=1 exec=%d trigger=%d counter=%d what=resolved", p.ids, bed[1], p.ids)
	} else {
		p.say("boundary thread=1 counter=%d what=timers", p.ids)
		p.say("boundary thread=1 exec=%d counter=%d what=resolved", bed[1], p.ids)
	}
	p.goOn(int(bed[0]))
	p.flush()
}

// flush writes what was asked for.
func (p *oneConn) flush() {
	if len(p.asked) == 0 || p.held && len(p.under) > 0 {
		return
	}
	if p.mixed {
		slices.Reverse(p.asked)
	}
	p.say("chunk conn=20 thread=1 dir=write offset=%d bytes=%d exec=%d trigger=3 counter=%d", p.sent, 30*len(p.asked), p.flushes, p.ids)
	for _, c := range p.asked {
		p.say("command conn=20 offset=%d length=30 operation=%s", p.sent, c.name)
		p.sent += 30
		p.truth = append(p.truth, c.request)
	}
	p.under, p.asked, p.flushes = append(p.under, p.asked...), nil, 0
}

// play returns the recording of a number of requests, and by call the request that made it.
func (p *oneConn) play(requests int) (text string, truth []int) {
	p.at, p.ids, p.left, p.step, p.more = 1_000_000, 100, map[int]int{}, map[int]int{}, map[int]int{}
	p.promise, p.both, p.place = map[int]int64{}, map[int]int64{}, map[int]int64{}
	p.say(`manifest cpus=2 hooks="sched io sockets arrivals async"`)
	p.say("process id=1 pid=100 runtime=node comm=x")
	p.say("thread id=1 tid=100 process=1")
	for r := range requests {
		p.say("conn id=1%d side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:%d existing=1", r, 10000+r)
		for k := range 2 {
			p.say("conn id=%d%d side=out process=1 local=127.0.0.1:%d peer=10.0.0.2:80 existing=1", 3+k, r, 20000+1000*k+r)
		}
	}
	p.say("conn id=20 side=out process=1 local=127.0.0.1:6000 peer=10.0.0.1:6379 existing=1")
	p.say("conn-protocol conn=20 protocol=redis")
	p.say("thread-state thread=1 state=sleep syscall=epoll_pwait")
	for next := 0; next < requests || len(p.under)+len(p.beds)+len(p.asides)+len(p.asked) > 0; {
		for range p.upTo(3) {
			if len(p.beds) > 2 || len(p.beds) > 0 && next == requests {
				p.wake()
			}
		}
		p.say("off thread=1 since=%d woken=%d syscall=epoll_pwait waker-kind=interrupt counter=%d", p.at+1000, p.at+9000, p.ids)
		calm := next < requests/3
		for len(p.asides) > 0 && (calm || p.upTo(2) == 1 || next == requests) {
			p.answerAside()
		}
		if n := len(p.under); n > 0 && calm {
			p.answer(n)
		} else if next < requests {
			for range min(p.upTo(4), requests-next) {
				p.arrive(next)
				next++
			}
		}
		if n := len(p.under); n > 0 && !calm {
			p.answer(min(n, p.upTo(6)))
		}
		p.flush()
	}
	return p.out.String(), p.truth
}

// besideOf returns the connection of the request whose call uses a connection of its own.
func besideOf(conn recording.ConnID) recording.ConnID {
	var r int
	fmt.Sscanf(fmt.Sprint(conn)[1:], "%d", &r)
	return connOf(r)
}

func connOf(request int) recording.ConnID {
	var id recording.ConnID
	fmt.Sscanf(fmt.Sprintf("1%d", request), "%d", &id)
	return id
}
