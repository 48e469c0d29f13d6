package build

import (
	"fmt"
	"strings"
)

// immediates plays a Node loop whose Redis client writes what was asked for in an immediate, whose id is assigned when
// the first request asks. Which request continues is recorded. Requests also make calls on connections of their own,
// before they ask for commands in the same turn.
type immediates struct {
	out     strings.Builder
	at, ids int64
	random  uint32
	writes  int64 // the id of the immediate; 0: not scheduled
	asked   []int // requests, by command that is not written yet
	under   []int // written, not answered
	asides  []int // requests that wait for a call of their own
	sent    int64 // bytes
	read    int64
	left    map[int]int // by request: calls that it waits for
	step    map[int]int
	truth   []int       // by command: its request
	owned   map[int]int // by request: calls of its own
}

// goes lists the requests by what they do at each step: the number of own calls, then of commands; two means one or
// none.
var goes = []struct {
	route string
	steps [][2]int
}{
	{"/beside", [][2]int{{1, 2}, {1, 2}}},
	{"/plain", [][2]int{{0, 1}}},
	{"/after", [][2]int{{1, 0}, {1, 2}, {0, 1}}},
	{"/own", [][2]int{{1, 0}, {1, 0}}},
}

func (p *immediates) say(format string, args ...any) {
	p.at += 10_000
	fmt.Fprintf(&p.out, "%d %s\n", p.at, fmt.Sprintf(format, args...))
}

func (p *immediates) upTo(n int) int {
	p.random = p.random*1664525 + 1013904223
	return int(p.random>>16) % n
}

// goOn lets a request do its next step, in the turn that runs.
func (p *immediates) goOn(r int) {
	k := goes[r%len(goes)]
	if p.step[r] == len(k.steps) {
		p.say("chunk conn=1%d thread=1 dir=write bytes=60 counter=%d", r, p.ids)
		p.say("http-response conn=1%d head=60 status=200", r)
		return
	}
	s := k.steps[p.step[r]]
	for range s[0] {
		p.say("chunk conn=3%d thread=1 dir=write offset=%d bytes=30 counter=%d", r, 30*p.owned[r], p.ids)
		p.say("http-request conn=3%d offset=%d head=30 method=GET route=/b", r, 30*p.owned[r])
		p.owned[r]++
		p.asides = append(p.asides, r)
	}
	if s[1] > 1 { // depending on whether the cache has it
		s[1] = p.upTo(2)
	}
	for range s[1] {
		if p.writes == 0 {
			p.ids++
			p.writes = p.ids
		}
		p.asked = append(p.asked, r)
	}
	p.ids++
	p.left[r] = s[0] + s[1]
	p.step[r]++
}

func (p *immediates) told() { p.say("boundary thread=1 exec=17 counter=%d what=resolved", p.ids) }

func (p *immediates) arrive(r int) {
	p.say("chunk conn=1%d thread=1 dir=read bytes=40 arrived=%d last=%d counter=%d", r, p.at-2000, p.at-2000, p.ids)
	p.say("http-request conn=1%d head=40 method=GET route=%s", r, goes[r%len(goes)].route)
	p.ids += 3
	p.told()
	p.goOn(r)
}

// answerOwn answers the first of the own calls.
func (p *immediates) answerOwn() {
	r := p.asides[0]
	p.asides = p.asides[1:]
	offset := 50 * (p.owned[r] - 1)
	p.say("chunk conn=3%d thread=1 dir=read offset=%d bytes=50 arrived=%d last=%d counter=%d", r, offset, p.at-2000, p.at-2000, p.ids)
	p.say("http-response conn=3%d offset=%d head=50 status=200", r, offset)
	p.ids += 2
	p.told()
	p.answered(r)
}

func (p *immediates) answered(r int) {
	if p.left[r]--; p.left[r] == 0 {
		p.goOn(r)
	}
}

// answer answers a number of commands in one read.
func (p *immediates) answer(n int) {
	p.say("chunk conn=20 thread=1 dir=read offset=%d bytes=%d arrived=%d last=%d counter=%d", p.read, 5*n, p.at-2000, p.at-2000, p.ids)
	for range n {
		p.say("reply conn=20 offset=%d length=5 outcome=ok", p.read)
		p.read += 5
	}
	p.ids++
	p.told()
	done := p.under[:n]
	p.under = p.under[n:]
	for _, r := range done {
		p.answered(r)
	}
}

func (p *immediates) flush() {
	if len(p.asked) == 0 {
		return
	}
	p.say("chunk conn=20 thread=1 dir=write offset=%d bytes=%d exec=%d counter=%d", p.sent, 30*len(p.asked), p.writes, p.ids)
	for _, r := range p.asked {
		p.say("command conn=20 offset=%d length=30 operation=GET", p.sent)
		p.sent += 30
		p.truth = append(p.truth, r)
	}
	p.under, p.asked, p.writes = append(p.under, p.asked...), nil, 0
}

// play returns the recording of a number of requests.
func (p *immediates) play(requests int) string {
	p.at, p.ids, p.left, p.step, p.owned = 1_000_000, 100, map[int]int{}, map[int]int{}, map[int]int{}
	p.say(`manifest cpus=2 hooks="sched io sockets arrivals async"`)
	p.say("process id=1 pid=100 runtime=node comm=x")
	p.say("thread id=1 tid=100 process=1")
	for r := range requests {
		p.say("conn id=1%d side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:%d existing=1", r, 10000+r)
		p.say("conn id=3%d side=out process=1 local=127.0.0.1:%d peer=10.0.0.2:80 existing=1", r, 20000+r)
	}
	p.say("conn id=20 side=out process=1 local=127.0.0.1:6000 peer=10.0.0.1:6379 existing=1")
	p.say("conn-protocol conn=20 protocol=redis")
	p.say("thread-state thread=1 state=sleep syscall=epoll_pwait")
	for next := 0; next < requests || len(p.under)+len(p.asides) > 0; {
		p.say("off thread=1 since=%d woken=%d syscall=epoll_pwait waker-kind=interrupt counter=%d", p.at+1000, p.at+9000, p.ids)
		sent := len(p.asides)
		for range min(1+p.upTo(3), requests-next) {
			p.arrive(next)
			next++
		}
		if n := len(p.under); n > 0 {
			p.answer(1 + p.upTo(n))
		}
		for range min(sent, 1+p.upTo(3)) {
			p.answerOwn()
		}
		p.flush()
	}
	return p.out.String()
}
