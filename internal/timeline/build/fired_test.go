package build

import (
	"fmt"
	"strings"
)

// sleepers plays a Node loop. Two requests come at once; each makes three calls, and sleeps between them. What
// continues after a sleep has no ids.
type sleepers struct {
	out   strings.Builder
	at    int64 // us
	ids   int64
	sent  [5]int64 // by connection: bytes
	read  [5]int64
	truth []int // by call: the connection of its request
}

func (p *sleepers) say(format string, args ...any) {
	p.at += 20
	fmt.Fprintf(&p.out, "%d000 %s\n", p.at, fmt.Sprintf(format, args...))
}

// until lets the loop sleep.
func (p *sleepers) until(us int64) {
	p.say("off thread=1 since=%d000 woken=%d000 syscall=epoll_pwait waker-kind=interrupt counter=%d", p.at+10, us, p.ids)
	p.at = us
}

func (p *sleepers) arrives(r int) {
	p.say("chunk conn=1%d thread=1 dir=read offset=%d bytes=40 arrived=%d000 last=%d000 counter=%d", r, p.read[r], p.at-2, p.at-2, p.ids)
	p.say("http-request conn=1%d offset=%d head=40 method=GET route=/a", r, p.read[r])
	p.read[r] += 40
	p.ids += 3
}

// calls sends a call for a request, on that request's own connection.
func (p *sleepers) calls(r int) {
	c := r + 2
	p.ids++
	p.say("chunk conn=2%d thread=1 dir=write offset=%d bytes=10 counter=%d", r, p.sent[c], p.ids)
	p.say("command conn=2%d offset=%d length=10 operation=GET", r, p.sent[c])
	p.sent[c] += 10
	p.truth = append(p.truth, r)
}

func (p *sleepers) answered(r int) {
	c := r + 2
	p.say("chunk conn=2%d thread=1 dir=read offset=%d bytes=5 arrived=%d000 last=%d000 counter=%d", r, p.read[c], p.at-2, p.at-2, p.ids)
	p.say("reply conn=2%d offset=%d length=5 outcome=ok", r, p.read[c])
	p.read[c] += 5
	p.ids += 2
}

// sleeps returns the id of the timer that is set.
func (p *sleepers) sleeps() int64 {
	p.ids++
	return p.ids
}

func (p *sleepers) responds(r int) {
	p.say("chunk conn=1%d thread=1 dir=write offset=%d bytes=60 counter=%d", r, p.sent[r], p.ids)
	p.say("http-response conn=1%d offset=%d head=60 status=200", r, p.sent[r])
	p.sent[r] += 60
}

// play returns the recording of a number of rounds, in which timers fire in any order. The function told returns what
// is recorded of a timer.
func (p *sleepers) play(rounds int, told func(round int, timer int64) string) string {
	p.at, p.ids = 1000, 100
	p.say(`manifest cpus=2 hooks="sched io sockets arrivals async"`)
	p.say("process id=1 pid=100 runtime=node comm=x")
	p.say("thread id=1 tid=100 process=1")
	for r := range 2 {
		p.say("conn id=1%d side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:500%d existing=1", r, r)
		p.say("conn id=2%d side=out process=1 local=127.0.0.1:600%d peer=10.0.0.1:6379 existing=1", r, r)
		p.say("conn-protocol conn=2%d protocol=redis", r)
	}
	p.say("thread-state thread=1 state=sleep syscall=epoll_pwait")
	for round := range rounds {
		var timers [2]int64
		for r := range 2 {
			p.until(p.at + 500)
			p.arrives(r)
			p.calls(r)
		}
		for nap := range 2 {
			for r := range 2 {
				p.until(p.at + 1000)
				p.answered(r)
				timers[r] = p.sleeps()
			}
			p.until(p.at + 3000 + int64(round*7919%20_000))
			p.say("boundary thread=1 what=timers counter=%d", p.ids)
			for k := range 2 {
				r := (k + nap + round) % 2
				if fact := told(round, timers[r]); fact != "" {
					p.say("boundary thread=1 %s counter=%d", fact, p.ids)
				}
				p.calls(r)
			}
		}
		for r := range 2 {
			p.until(p.at + 1000)
			p.answered(r)
			p.responds(r)
		}
	}
	return p.out.String()
}
