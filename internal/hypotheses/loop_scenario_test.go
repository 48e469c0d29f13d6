package hypotheses

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// eventLoop plays one Node process whose loop takes what is ready, in order of time.
type eventLoop struct {
	*thread
	todo  []task
	idle  []*outgoing // connections kept open
	keep  bool
	drop  int            // one in so many of the kept connections is closed all the same; 0: none
	used  int            // connections that came back
	ids   int64          // async ids given out
	late  recording.Time // how long after it was woken it gets a processor
	epoll int64          // the instance at which it waits; 0: not known
}

// task is something that becomes ready, and what the loop then does.
type task struct {
	ready recording.Time
	run   func()
}

// visit is one request on its way.
type visit struct {
	in    recording.ConnID
	bytes [2]int64
	async int64 // its own async id
	out   *outgoing
	cost  cost
}

// cost is what a request makes the loop do.
type cost struct {
	before, handshake, after, remote recording.Time
	dial                             recording.Time // before it connects: to build the socket
	asleep                           recording.Time // before all else: in a call that blocks the loop
	asleepIn                         string         // that call; "": clock_nanosleep
	starts                           recording.Time // then: until a program that it starts runs
	runs                             recording.Time // then: how long a program that it starts takes
	nested                           bool           // it waits for that in place of the loop
	pieces                           int            // then it computes in so many pieces
	each                             recording.Time // the length of each; between them the loop takes what is ready
	code                             string         // the code that runs before, sampled; "": not sampled
}

const rtt = 100 * us

func newLoop(keep bool) *eventLoop {
	s := newScenario(recording.RuntimeNode)
	t := &thread{scenario: s, id: 1, at: us}
	s.add(us, &recording.Thread{ID: 1, TID: 100, Process: 1, Name: "node"})
	s.add(us, &recording.ThreadState{Thread: 1, State: recording.OffSleep, Syscall: "epoll_wait"})
	s.add(us, &recording.Listen{Process: 1, Port: 80, Backlog: 511})
	return &eventLoop{thread: t, keep: keep, ids: 10}
}

func (l *eventLoop) later(ready recording.Time, run func()) {
	i, _ := slices.BinarySearchFunc(l.todo, ready, func(t task, at recording.Time) int {
		if t.ready <= at {
			return -1
		}
		return 1
	})
	l.todo = slices.Insert(l.todo, i, task{ready, run})
}

// play runs the loop until nothing is left to do.
func (l *eventLoop) play() *scenario {
	for len(l.todo) > 0 {
		next := l.todo[0]
		l.todo = l.todo[1:]
		if next.ready > l.at {
			l.sleep(next.ready, 3*us+l.late, "epoll_wait")
			l.events[len(l.events)-1].Fact.(*recording.Off).Arg = l.epoll
		}
		next.run()
	}
	return l.scenario
}

// arrive lets a request come on a new connection.
func (l *eventLoop) arrive(at recording.Time, route string, c cost) {
	l.conns++
	l.port++
	v := &visit{in: l.conns, cost: c}
	l.add(at-50*us, &recording.Conn{ID: v.in, Side: recording.Inbound, Process: 1, Local: "10.0.0.1:80", Peer: fmt.Sprintf("10.0.0.9:%d", l.port)})
	l.later(at, func() { l.read(v, at, route) })
}

// moved records a read or write of the loop, with where the async ids stand.
func (l *eventLoop) moved(c recording.ConnID, pos *[2]int64, f recording.Chunk) int64 {
	f.Conn, f.Thread, f.Offset, f.First, f.Counter = c, l.id, pos[f.Dir], l.at, l.ids
	f.Last = f.Arrived
	pos[f.Dir] += f.Bytes
	l.add(l.at, &f)
	return f.Offset
}

func (l *eventLoop) read(v *visit, arrived recording.Time, route string) {
	l.compute(10 * us)
	at := l.moved(v.in, &v.bytes, recording.Chunk{Dir: recording.Read, Bytes: 100, Arrived: arrived})
	l.add(l.at, &recording.HTTPRequest{Conn: v.in, Offset: at, Head: 100, Method: "GET", Route: route, Host: "shop"})
	v.async = l.ids + 1
	l.ids += 4
	if v.cost.asleep > 0 {
		l.sleep(l.at+v.cost.asleep, 3*us, cmp.Or(v.cost.asleepIn, "clock_nanosleep"))
	}
	if v.cost.starts > 0 {
		l.sleep(l.at+v.cost.starts, 3*us, "vfork")
	}
	if v.cost.code != "" {
		l.computeIn(v.cost.before, v.cost.code)
	} else {
		l.compute(v.cost.before)
	}
	if v.cost.runs > 0 {
		l.run(v.cost.runs, v.cost.nested, func() { l.goOn(v) })
		return
	}
	l.goOn(v)
}

// goOn makes the call of a request, or answers it.
func (l *eventLoop) goOn(v *visit) {
	switch {
	case v.cost.pieces > 0:
		v.cost.pieces--
		l.later(l.at, func() {
			l.compute(v.cost.each)
			l.goOn(v)
		})
	case v.cost.remote == 0:
		l.answer(v)
	case len(l.idle) > 0:
		v.out = l.idle[0]
		l.idle = l.idle[1:]
		l.send(v)
	default:
		l.connect(v)
	}
}

func (l *eventLoop) connect(v *visit) {
	l.compute(v.cost.dial)
	l.conns++
	l.port++
	v.out = &outgoing{id: l.conns}
	l.add(l.at, &recording.Conn{ID: v.out.id, Side: recording.Outbound, Process: 1, Thread: l.id,
		Local: fmt.Sprintf("10.0.0.1:%d", l.port), Peer: "10.0.0.2:443", Exec: v.async, Trigger: v.async, Counter: l.ids})
	l.compute(20 * us)
	up := l.at + rtt
	l.add(up, &recording.Established{Conn: v.out.id})
	l.later(up, func() { l.hello(v) })
}

func (l *eventLoop) hello(v *visit) {
	l.compute(50 * us)
	at := l.moved(v.out.id, &v.out.bytes, recording.Chunk{Dir: recording.Write, Bytes: 205, Exec: v.async + 1, Trigger: v.async + 1})
	l.add(l.at, &recording.TLS{Conn: v.out.id, Dir: recording.Write, Record: recording.TLSClientHello, Offset: at, Bytes: 200, SNI: "db.test", Version: 0x0303})
	back := l.at + rtt
	l.later(back, func() {
		l.compute(10 * us)
		at := l.moved(v.out.id, &v.out.bytes, recording.Chunk{Dir: recording.Read, Bytes: 1505, Arrived: back})
		l.add(l.at, &recording.TLS{Conn: v.out.id, Dir: recording.Read, Record: recording.TLSServerHello, Offset: at, Bytes: 1500, Version: 0x0303, Resumed: recording.No})
		l.compute(v.cost.handshake)
		at = l.moved(v.out.id, &v.out.bytes, recording.Chunk{Dir: recording.Write, Bytes: 105, Exec: v.async + 1, Trigger: v.async + 1})
		l.add(l.at, &recording.TLS{Conn: v.out.id, Dir: recording.Write, Record: recording.TLSHandshake, Offset: at, Bytes: 100})
		done := l.at + rtt
		l.later(done, func() {
			l.compute(10 * us)
			at := l.moved(v.out.id, &v.out.bytes, recording.Chunk{Dir: recording.Read, Bytes: 65, Arrived: done})
			l.add(l.at, &recording.TLS{Conn: v.out.id, Dir: recording.Read, Record: recording.TLSHandshake, Offset: at, Bytes: 60})
			l.send(v)
		})
	})
}

func (l *eventLoop) send(v *visit) {
	l.compute(20 * us)
	at := l.moved(v.out.id, &v.out.bytes, recording.Chunk{Dir: recording.Write, Bytes: 85, Exec: v.async + 1, Trigger: v.async})
	l.add(l.at, &recording.TLS{Conn: v.out.id, Dir: recording.Write, Record: recording.TLSApplication, Offset: at, Bytes: 80})
	arrives := l.at + v.cost.remote
	l.later(arrives, func() {
		l.compute(10 * us)
		at := l.moved(v.out.id, &v.out.bytes, recording.Chunk{Dir: recording.Read, Bytes: 305, Arrived: arrives})
		l.add(l.at, &recording.TLS{Conn: v.out.id, Dir: recording.Read, Record: recording.TLSApplication, Offset: at, Bytes: 300})
		l.compute(v.cost.after)
		if l.used++; l.keep && (l.drop == 0 || l.used%l.drop != 0) {
			l.idle = append(l.idle, v.out)
		} else {
			l.hangUp(v.out, recording.ClosedByUs)
		}
		l.answer(v)
	})
}

func (l *eventLoop) answer(v *visit) {
	l.compute(20 * us)
	at := l.moved(v.in, &v.bytes, recording.Chunk{Dir: recording.Write, Bytes: 200, Exec: v.async, Trigger: v.async})
	l.add(l.at, &recording.HTTPResponse{Conn: v.in, Offset: at, Head: 50, Length: 150, Status: 200})
}

// loopOf plays n requests of the same cost, gap apart.
func loopOf(keep bool, n int, gap recording.Time, c cost) *scenario {
	l := newLoop(keep)
	for i := range n {
		l.arrive(10_000*us+recording.Time(i)*gap, "/prices/{}", c)
	}
	return l.play()
}
