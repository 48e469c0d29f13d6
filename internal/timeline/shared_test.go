package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

// oneConn plays a Node loop whose requests all use one connection to Redis. Those of a tick
// ask for what they need; at its end all of that is written at once, by a callback that the
// first of them asked for. Answers come later, several in one read, and their requests go
// on in the same order.
type oneConn struct {
	out     strings.Builder
	at, ids int64
	random  uint32
	asked   []command // in this tick, not written yet
	flushes int64     // the id of the callback that writes them; 0: nobody asked for it
	under   []command // written, not answered
	sent    int64     // bytes
	read    int64
	left    map[int]int // by request: calls that it waits for
	step    map[int]int
	truth   []int      // by call: its request
	mixed   bool       // writes what was asked for last first
	naps    bool       // who goes on sleeps before
	beds    [][2]int64 // who sleeps, and the id of the timer
}

type command struct {
	request int
	name    string
}

// kinds are the requests by what they send at each step: none, one, two at once, one after
// the other, and two after one.
var kinds = []struct {
	route string
	steps [][]string
}{
	{"/health", nil},
	{"/one", [][]string{{"GET"}}},
	{"/both", [][]string{{"GET", "GET"}}},
	{"/then", [][]string{{"GET"}, {"SET"}}},
	{"/more", [][]string{{"INCR"}, {"GET", "HGET"}}},
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
		p.say("chunk conn=1%d thread=1 dir=write bytes=60 counter=%d", r, p.ids)
		p.say("http-response conn=1%d head=60 status=200", r)
		return
	}
	for _, name := range k.steps[p.step[r]] {
		p.asked = append(p.asked, command{r, name})
		p.left[r]++
	}
	if p.step[r]++; p.flushes == 0 {
		p.ids++
		p.flushes = p.ids
	}
}

func (p *oneConn) arrive(r int) {
	p.say("chunk conn=1%d thread=1 dir=read bytes=40 arrived=%d last=%d counter=%d", r, p.at-2000, p.at-2000, p.ids)
	p.say("http-request conn=1%d head=40 method=GET route=%s", r, kinds[r%len(kinds)].route)
	p.ids += 3
	p.goOn(r)
}

func (p *oneConn) answer(n int) {
	p.say("chunk conn=20 thread=1 dir=read offset=%d bytes=%d arrived=%d last=%d counter=%d", p.read, 5*n, p.at-2000, p.at-2000, p.ids)
	var done []int
	for _, c := range p.under[:n] {
		p.say("reply conn=20 offset=%d length=5 outcome=ok", p.read)
		p.read += 5
		if p.left[c.request]--; p.left[c.request] == 0 {
			done = append(done, c.request)
		}
	}
	p.under = p.under[n:]
	p.ids += 2
	for _, r := range done {
		if p.naps && p.step[r] < len(kinds[r%len(kinds)].steps) {
			p.ids++
			p.beds = append(p.beds, [2]int64{int64(r), p.ids})
			continue
		}
		p.goOn(r)
	}
}

// wake lets one of those go on who sleep.
func (p *oneConn) wake() {
	k := p.upTo(len(p.beds)) - 1
	bed := p.beds[k]
	p.beds = slices.Delete(p.beds, k, k+1)
	p.say("boundary thread=1 counter=%d what=timers", p.ids)
	p.say("boundary thread=1 exec=%d counter=%d what=resolved", bed[1], p.ids)
	p.goOn(int(bed[0]))
	p.flush()
}

// flush writes what was asked for.
func (p *oneConn) flush() {
	if len(p.asked) == 0 {
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

// play returns the recording of so many requests, and by call the request that made it.
func (p *oneConn) play(requests int) (text string, truth []int) {
	p.at, p.ids, p.left, p.step = 1_000_000, 100, map[int]int{}, map[int]int{}
	p.say(`manifest cpus=2 hooks="sched io sockets arrivals async"`)
	p.say("process id=1 pid=100 runtime=node comm=x")
	p.say("thread id=1 tid=100 process=1")
	for r := range requests {
		p.say("conn id=1%d side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:%d existing=1", r, 10000+r)
	}
	p.say("conn id=20 side=out process=1 local=127.0.0.1:6000 peer=10.0.0.1:6379 existing=1")
	p.say("conn-protocol conn=20 protocol=redis")
	p.say("thread-state thread=1 state=sleep syscall=epoll_pwait")
	for next := 0; next < requests || len(p.under)+len(p.beds) > 0; {
		for range p.upTo(3) {
			if len(p.beds) > 2 || len(p.beds) > 0 && next == requests {
				p.wake()
			}
		}
		p.say("off thread=1 since=%d woken=%d syscall=epoll_pwait waker-kind=interrupt counter=%d", p.at+1000, p.at+9000, p.ids)
		calm := next < requests/3
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

// TestSharedConnection: what many requests send on one connection is told apart by how many
// of them could go on, and by what requests of their kind do there; each response, written in
// the turn in which the last call of its request was answered, confirms it. A client that
// does not keep the order is not believed.
func TestSharedConnection(t *testing.T) {
	for _, c := range []struct {
		mixed bool
		naps  bool
		least int // percent of the calls that are given to a request
		most  int
	}{{false, false, 99, 100}, {true, false, 0, 0}, {false, true, 99, 100}} {
		text, truth := (&oneConn{mixed: c.mixed, naps: c.naps, random: 7}).play(400)
		tl := parsed(t, []byte(text))
		slices.SortStableFunc(tl.Calls, func(a, b Call) int { return a.Ordinal - b.Ordinal })
		given, wrong := 0, 0
		for i, call := range tl.Calls {
			if call.Why != WhyShared {
				continue
			}
			given++
			if tl.Requests[call.Request].Conn != connOf(truth[i]) {
				wrong++
			}
		}
		if share := 100 * given / len(truth); len(tl.Calls) != len(truth) || wrong > 0 || share < c.least || share > c.most {
			t.Errorf("in the order asked for: %v, asleep between: %v: of %d calls (of %d) %d were given to requests, %d wrongly",
				!c.mixed, c.naps, len(tl.Calls), len(truth), given, wrong)
		}
	}
}

func connOf(request int) recording.ConnID {
	var id recording.ConnID
	fmt.Sscanf(fmt.Sprintf("1%d", request), "%d", &id)
	return id
}

// Of few who are away it is kept that they may have sent a call that nobody was seen to ask
// for; of many it may be anyone, and a list for each call would grow with the recording.
func TestCallsOfThoseWhoAreAway(t *testing.T) {
	for _, c := range []struct{ away, listed int }{{0, 0}, {2, 2}, {mostAway, mostAway}, {mostAway + 1, 1}} {
		w := &sharing{
			t:    &Timeline{Calls: []Call{{Request: None}}},
			away: map[ref]habit{}, owner: map[CallID]ref{}, flying: map[ref]int{}, either: map[CallID][]ref{},
		}
		for r := range c.away {
			w.away[requestRef(RequestID(r))] = habit{}
		}
		w.unseen([]CallID{0})
		if got := w.either[0]; len(got) != c.listed || c.away > mostAway && got[0] != nobody {
			t.Errorf("%d are away: listed are %v", c.away, got)
		}
	}
}
