package hypotheses

import (
	"fmt"
	"slices"

	"github.com/getdwell/dwell/recording"
)

// us is a microsecond in a scenario.
const us = recording.Time(1000)

// scenario writes the facts of an imagined service. The steps of every thread follow each other, so that its recordings
// are whole and consistent.
type scenario struct {
	events  []recording.Event
	runtime recording.Runtime
	hooks   string
	conns   recording.ConnID
	port    int
	end     recording.Time
	cpu     recording.Time // the time that all threads spent on CPUs
	code    code
	vm      bool // whether the JVM's own thread is there
	born    int64
}

const allHooks = "arrivals async dns host io late processes sched sockets tls"

func (s *scenario) add(at recording.Time, f recording.Fact) {
	s.events = append(s.events, recording.Event{Time: at, Fact: f})
	s.end = max(s.end, at)
}

// hosts adds samples of a machine with two processors that are busy so many percent of the time.
func (s *scenario) hosts(busy int64) {
	for at := us; at < s.end; at += 100_000 * us {
		s.add(at, &recording.Host{Busy: int64(at) * 2 * busy / 100, Idle: int64(at) * 2 * (100 - busy) / 100, Running: 1})
	}
	last := s.end
	s.add(last, &recording.Host{Busy: int64(last) * 2 * busy / 100, Idle: int64(last) * 2 * (100 - busy) / 100, Running: 1})
}

// recording puts the manifest first, sorts, and closes the recording.
func (s *scenario) recording(bpf int64) *recording.Recording {
	end := s.end + 1000*us
	s.add(end-us, &recording.Overhead{UserCPU: int64(end) / 100, BPF: bpf, Events: int64(len(s.events))})
	s.add(end, &recording.End{Reason: "time"})
	head := []recording.Event{
		{Time: us, Fact: &recording.Manifest{Tool: "scenario", Kernel: "6.18.0", Arch: "amd64", CPUs: 2, Hooks: s.hooks, Target: "pid"}},
		{Time: us, Fact: &recording.Process{ID: 1, PID: 100, Comm: "shop", Exe: "shop", Runtime: s.runtime, Start: s.born}},
	}
	slices.SortStableFunc(s.events, func(a, b recording.Event) int { return int(min(1, max(-1, a.Time-b.Time))) })
	return &recording.Recording{Events: append(head, s.events...)}
}

// thread serves one inbound connection, one request after the other.
type thread struct {
	*scenario
	id    recording.ThreadID
	at    recording.Time
	in    recording.ConnID
	kept  *outgoing
	sts   *outgoing
	bytes [2]int64
}

// outgoing is a connection to the upstream.
type outgoing struct {
	id    recording.ConnID
	bytes [2]int64
}

func newScenario(rt recording.Runtime) *scenario {
	return &scenario{runtime: rt, hooks: allHooks, port: 20000}
}

// worker starts a thread with an inbound connection that is open at from.
func (s *scenario) worker(id recording.ThreadID, from recording.Time) *thread {
	t := &thread{scenario: s, id: id, at: from}
	s.add(us, &recording.Thread{ID: id, TID: 100 + int64(id), Process: 1, Name: "worker"})
	s.add(us, &recording.ThreadState{Thread: id, State: recording.OffSleep, Syscall: "recvfrom"})
	t.at = us
	t.accept(from)
	return t
}

// accept takes up a new inbound connection.
func (t *thread) accept(at recording.Time) {
	t.conns++
	t.port++
	t.in, t.bytes = t.conns, [2]int64{}
	t.add(at, &recording.Conn{ID: t.in, Side: recording.Inbound, Process: 1, Local: "10.0.0.1:80", Peer: fmt.Sprintf("10.0.0.9:%d", t.port)})
}

func (t *thread) compute(d recording.Time) { t.at += d; t.cpu += d }

// sleep makes the thread wait in a syscall until a time; it runs again after ready.
func (t *thread) sleep(until, ready recording.Time, syscall string) {
	if until <= t.at {
		return
	}
	off := &recording.Off{Thread: t.id, Since: t.at, Woken: until, State: recording.OffSleep, WakerKind: recording.WakerOther, Syscall: syscall}
	if syscall == "clock_nanosleep" || syscall == "ppoll" { // until its time is over
		off.WakerKind, off.Timed = recording.WakerInterrupt, 1
	}
	t.at = until + ready
	t.add(t.at, off)
}

// chunk reads or writes on a connection; arrived matters for reads only.
func (t *thread) chunk(c recording.ConnID, pos *[2]int64, dir recording.Direction, size int64, arrived recording.Time) int64 {
	at := pos[dir]
	f := &recording.Chunk{Conn: c, Thread: t.id, Dir: dir, Offset: at, Bytes: size, First: t.at}
	if dir == recording.Read {
		f.Arrived, f.Last = arrived, arrived
	}
	pos[dir] += size
	t.add(t.at, f)
	return at
}

// request takes the next request, which arrives at a time, and leaves the thread on the CPU after reading it. The
// thread gets its CPU only after ready.
func (t *thread) request(arrives, ready recording.Time, route string) {
	t.sleep(arrives, ready, "recvfrom")
	t.compute(10 * us)
	at := t.chunk(t.in, &t.bytes, recording.Read, 100, arrives)
	t.add(t.at, &recording.HTTPRequest{Conn: t.in, Offset: at, Head: 100, Method: "GET", Route: route, Host: "shop"})
}

// respond answers the request.
func (t *thread) respond() {
	t.compute(20 * us)
	at := t.chunk(t.in, &t.bytes, recording.Write, 200, 0)
	t.add(t.at, &recording.HTTPResponse{Conn: t.in, Offset: at, Head: 50, Length: 150, Status: 200})
}

// dial opens a connection to the upstream over a network with this round-trip time.
func (t *thread) dial(rtt recording.Time) *outgoing {
	t.conns++
	t.port++
	o := &outgoing{id: t.conns}
	t.add(t.at, &recording.Conn{ID: o.id, Side: recording.Outbound, Process: 1, Thread: t.id, Local: fmt.Sprintf("10.0.0.1:%d", t.port), Peer: "10.0.0.2:443"})
	t.sleep(t.at+rtt, 5*us, "connect")
	t.add(t.at-5*us, &recording.Established{Conn: o.id})
	return o
}

// inherit takes up a connection that was open before the recording.
func (t *thread) inherit(rtt recording.Time) *outgoing {
	t.conns++
	t.port++
	t.add(t.at, &recording.Conn{ID: t.conns, Side: recording.Outbound, Process: 1, Thread: t.id, Local: fmt.Sprintf("10.0.0.1:%d", t.port), Peer: "10.0.0.2:443", Existing: 1, RoundTrip: int64(rtt)})
	return &outgoing{id: t.conns}
}

// handshake does one of TLS 1.2: a round trip, cpu of our own work, another round trip.
func (t *thread) handshake(o *outgoing, rtt, cpu recording.Time) {
	t.compute(20 * us)
	at := t.chunk(o.id, &o.bytes, recording.Write, 205, 0)
	t.add(t.at, &recording.TLS{Conn: o.id, Dir: recording.Write, Record: recording.TLSClientHello, Offset: at, Bytes: 200, SNI: "db.test", Version: 0x0303})
	t.sleep(t.at+rtt, 5*us, "read")
	at = t.chunk(o.id, &o.bytes, recording.Read, 1505, t.at-5*us)
	t.add(t.at, &recording.TLS{Conn: o.id, Dir: recording.Read, Record: recording.TLSServerHello, Offset: at, Bytes: 1500, Version: 0x0303, Resumed: recording.No})
	t.compute(cpu)
	at = t.chunk(o.id, &o.bytes, recording.Write, 105, 0)
	t.add(t.at, &recording.TLS{Conn: o.id, Dir: recording.Write, Record: recording.TLSHandshake, Offset: at, Bytes: 100})
	t.sleep(t.at+rtt, 5*us, "read")
	at = t.chunk(o.id, &o.bytes, recording.Read, 65, t.at-5*us)
	t.add(t.at, &recording.TLS{Conn: o.id, Dir: recording.Read, Record: recording.TLSHandshake, Offset: at, Bytes: 60})
}

// call makes one plain exchange on a connection; the answer takes remote.
func (t *thread) call(o *outgoing, remote recording.Time, route string) {
	t.compute(20 * us)
	at := t.chunk(o.id, &o.bytes, recording.Write, 80, 0)
	t.add(t.at, &recording.HTTPRequest{Conn: o.id, Offset: at, Head: 80, Method: "POST", Route: route, Host: "db.test"})
	arrives := t.at + remote
	t.sleep(arrives, 10*us, "recvfrom")
	t.compute(10 * us)
	at = t.chunk(o.id, &o.bytes, recording.Read, 300, arrives)
	t.add(t.at, &recording.HTTPResponse{Conn: o.id, Offset: at, Head: 50, Length: 250, Status: 200})
}

// sealed makes one exchange inside TLS.
func (t *thread) sealed(o *outgoing, remote recording.Time) { t.sealedIn(o, remote, "") }

// sealedIn is sealed, made in some code.
func (t *thread) sealedIn(o *outgoing, remote recording.Time, path string) {
	t.compute(20 * us)
	at := t.chunk(o.id, &o.bytes, recording.Write, 85, 0)
	t.add(t.at, &recording.TLS{Conn: o.id, Dir: recording.Write, Record: recording.TLSApplication, Offset: at, Bytes: 80})
	arrives := t.at + remote
	t.blocked(arrives, 10*us, "read", path)
	t.compute(10 * us)
	at = t.chunk(o.id, &o.bytes, recording.Read, 305, arrives)
	t.add(t.at, &recording.TLS{Conn: o.id, Dir: recording.Read, Record: recording.TLSApplication, Offset: at, Bytes: 300})
}

func (t *thread) hangUp(o *outgoing, by recording.Closer) {
	t.add(t.at, &recording.Closed{Conn: o.id, By: by, Thread: t.id})
}
