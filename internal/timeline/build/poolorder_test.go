package build

import (
	"fmt"
	"slices"
	"strings"
)

// fullPool plays a Node loop: eight requests come at once, each makes four calls one after the other, and a pool has
// two connections. Like node-postgres it sends, in the callback of an answer, what the next in line asked for; only
// then does the answered request continue.
type fullPool struct {
	out   strings.Builder
	at    int64
	ids   int64
	line  []int // requests
	calls [9]int
	on    [4]int   // by connection: the request whose call is under way
	sent  [4]int64 // by connection: bytes
	read  [4]int64
	spare int   // a connection that is always free, as only two calls may run at once; 0: none is
	truth []int // by call: its request
	next  func(line []int) int
	naps  bool       // requests sleep between calls
	beds  [][2]int64 // requests that sleep, and the ids of their timers
}

func (p *fullPool) say(format string, args ...any) {
	p.at += 10_000
	fmt.Fprintf(&p.out, "%d %s\n", p.at, fmt.Sprintf(format, args...))
}

// send sends the call of the request that is next in line. The ids are those of the connection's handle. If something
// other than the client made it wait, there are no ids: a promise sends it.
func (p *fullPool) send(conn int) {
	k := p.next(p.line)
	r := p.line[k]
	p.line = slices.Delete(p.line, k, k+1)
	exec, trigger := 3+10*conn, 2+10*conn
	if p.spare != 0 {
		conn, p.spare, exec, trigger = p.spare, conn, 0, 0
	}
	p.say("chunk conn=2%d thread=1 dir=write offset=%d bytes=10 exec=%d trigger=%d counter=%d", conn, p.sent[conn], exec, trigger, p.ids)
	p.say("command conn=2%d offset=%d operation=SELECT target=authors", conn, p.sent[conn])
	p.sent[conn] += 10
	p.on[conn] = r
	p.truth = append(p.truth, r)
}

// running returns how many calls are under way.
func (p *fullPool) running() (n int) {
	for _, r := range p.on {
		n += min(r, 1)
	}
	return n
}

// answer lets the call of a connection be answered.
func (p *fullPool) answer(conn int) {
	r := p.on[conn]
	p.on[conn] = 0
	p.say("off thread=1 since=%d woken=%d syscall=epoll_pwait waker-kind=interrupt counter=%d", p.at+1000, p.at+9000, p.ids)
	p.say("chunk conn=2%d thread=1 dir=read offset=%d bytes=20 arrived=%d last=%d counter=%d", conn, p.read[conn], p.at-2000, p.at-2000, p.ids)
	p.say("reply conn=2%d offset=%d length=20 outcome=ok transaction=idle", conn, p.read[conn])
	p.read[conn] += 20
	p.ids += 3
	if len(p.line) > 0 {
		p.send(conn)
	}
	if p.calls[r]++; p.calls[r] < 4 && p.naps {
		p.ids++
		p.beds = append(p.beds, [2]int64{int64(r), p.ids})
		return
	}
	if p.calls[r] < 4 {
		p.line = append(p.line, r)
		if p.running() < 2 {
			p.send(conn)
		}
		return
	}
	p.say("chunk conn=1%d thread=1 dir=write bytes=60 counter=%d", r, p.ids)
	p.say("http-response conn=1%d head=60 status=200", r)
}

// wake fires the timer of the request that sleeps shortest: the timer that was set last.
func (p *fullPool) wake() {
	bed := p.beds[len(p.beds)-1]
	p.beds = p.beds[:len(p.beds)-1]
	p.say("off thread=1 since=%d woken=%d syscall=epoll_pwait waker-kind=interrupt counter=%d", p.at+1000, p.at+9000, p.ids)
	p.say("boundary thread=1 what=timers counter=%d", p.ids)
	p.say("boundary thread=1 what=resolved exec=%d counter=%d", bed[1], p.ids)
	p.line = append(p.line, int(bed[0]))
	for c := 1; c <= 2 && len(p.line) > 0; c++ {
		if p.on[c] == 0 {
			p.send(c)
		}
	}
}

// play returns the recording, and the request of each call in order of sending.
func (p *fullPool) play() (text string, truth []int) {
	p.at, p.ids = 1_000_000, 100
	p.say(`manifest cpus=2 hooks="sched io sockets arrivals async"`)
	p.say("process id=1 pid=100 runtime=node comm=x")
	p.say("thread id=1 tid=100 process=1")
	for r := 1; r <= 8; r++ {
		p.say("conn id=1%d side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:500%d existing=1", r, r)
	}
	for c := 1; c <= 3; c++ {
		p.say("conn id=2%d side=out process=1 local=127.0.0.1:600%d peer=10.0.0.1:5432 existing=1", c, c)
		p.say("conn-protocol conn=2%d protocol=postgres", c)
	}
	p.say("thread-state thread=1 state=sleep syscall=epoll_pwait")
	for r := 1; r <= 8; r++ {
		p.say("off thread=1 since=%d woken=%d syscall=epoll_pwait waker-kind=interrupt counter=%d", p.at+1000, p.at+9000, p.ids)
		p.say("chunk conn=1%d thread=1 dir=read bytes=40 arrived=%d last=%d counter=%d", r, p.at-2000, p.at-2000, p.ids)
		p.say("http-request conn=1%d head=40 method=GET route=/a", r)
		p.ids += 5
		p.line = append(p.line, r)
		if r <= 2 {
			p.send(r)
		}
	}
	for turn := 0; p.running()+len(p.beds) > 0; turn++ {
		if len(p.beds) > turn%3 {
			p.wake()
		}
		if c := 1 + turn%3; p.on[c] != 0 {
			p.answer(c)
		}
	}
	return p.out.String(), p.truth
}
