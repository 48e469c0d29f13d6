package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// hooks are the hooks that the recording of a service has.
const hooks = "arrivals blocks dns host io late memory processes retransmits sched sockets stacks storage tls wakings"

// sampleEvery is how often running code is sampled.
const sampleEvery = 5 * Millisecond

// youth is how long before its first requests a new process began.
const youth = 5 * Millisecond

// facts are what a recorder would have seen. A nil one sees nothing.
type facts struct {
	runtime recording.Runtime
	events  []recording.Event
	frames  map[string]recording.FrameID
	stacks  map[string]recording.StackID
	conns   recording.ConnID
	in      map[int]*connection    // by thread
	kept    [2]map[int]*connection // by thread: the connections kept to each peer
	fresh   map[int]*connection
	asked   map[int]host // the last host that each thread looked up
	names   int          // number of names that were looked up
}

type connection struct {
	id    recording.ConnID
	bytes [2]int64
}

// Record plays a service and returns its recording, and how long each request took.
func (s *Service) Record() (*recording.Recording, []Time) {
	f := &facts{runtime: s.Runtime, frames: map[string]recording.FrameID{}, stacks: map[string]recording.StackID{},
		in: map[int]*connection{}, kept: [2]map[int]*connection{{}, {}}, fresh: map[int]*connection{}, asked: map[int]host{}}
	const first = Microsecond
	f.add(first, &recording.Manifest{Tool: "lab", Kernel: "6.18.0", Arch: "amd64", CPUs: int64(s.CPUs), Hooks: hooks, Target: "pid"})
	shop := &recording.Process{ID: 1, PID: 100, Comm: "shop", Exe: "shop", Runtime: s.Runtime}
	if s.Young {
		shop.Start = int64(firstAfter - youth)
	}
	f.add(first, shop)
	f.add(first, &recording.File{ID: 1, Name: "orders.db", Size: 90 << 20})
	for id := range s.Threads {
		t := recording.ThreadID(id + 1)
		f.add(first, &recording.Thread{ID: t, TID: 100 + int64(t), Process: 1, Name: fmt.Sprintf("exec-%d", t)})
		f.add(first, &recording.ThreadState{Thread: t, State: recording.OffSleep, Syscall: "recvfrom"})
		f.in[id+1] = f.connection()
		f.add(first, &recording.Conn{ID: f.in[id+1].id, Side: recording.Inbound, Process: 1, Local: "10.0.0.1:80", Peer: fmt.Sprintf("10.0.0.9:%d", 20000+id), Existing: 1})
	}
	p := s.play(f)
	f.host(p)
	end := p.now + Millisecond
	f.add(end-Microsecond, &recording.Overhead{UserCPU: int64(p.used) / 100, BPF: int64(p.used) / 200, Events: int64(len(f.events))})
	f.add(end, &recording.End{Reason: "time"})
	slices.SortStableFunc(f.events, func(a, b recording.Event) int { return int(min(1, max(-1, a.Time-b.Time))) })
	return &recording.Recording{Events: f.events}, p.took
}

func (f *facts) add(at Time, fact recording.Fact) {
	f.events = append(f.events, recording.Event{Time: at, Fact: fact})
}

func (f *facts) connection() *connection {
	f.conns++
	return &connection{id: f.conns}
}

// chunk moves bytes on a connection, and returns the position at which they begin.
func (f *facts) chunk(at Time, t *thread, c *connection, what recording.Chunk) int64 {
	what.Conn, what.Thread, what.Offset, what.First = c.id, recording.ThreadID(t.id), c.bytes[what.Dir], at
	c.bytes[what.Dir] += what.Bytes
	f.add(at, &what)
	return what.Offset
}

func (f *facts) read(at Time, t *thread) {
	if f == nil {
		return
	}
	c := f.in[t.id]
	offset := f.chunk(at, t, c, recording.Chunk{Dir: recording.Read, Bytes: 100, Arrived: t.arrived, Last: t.arrived})
	f.add(at, &recording.HTTPRequest{Conn: c.id, Offset: offset, Head: 100, Method: "GET", Route: "/prices/{}", Host: "shop"})
}

func (f *facts) write(at Time, t *thread) {
	if f == nil {
		return
	}
	c := f.in[t.id]
	offset := f.chunk(at, t, c, recording.Chunk{Dir: recording.Write, Bytes: 200})
	f.add(at, &recording.HTTPResponse{Conn: c.id, Offset: offset, Head: 50, Length: 150, Status: 200})
}

func (f *facts) dials(at Time, t *thread, s *Step) {
	if f == nil {
		return
	}
	c := f.connection()
	f.fresh[t.id] = c
	f.add(at, &recording.Conn{ID: c.id, Side: recording.Outbound, Process: 1, Thread: recording.ThreadID(t.id),
		Local: fmt.Sprintf("10.0.0.1:%d", 30000+int(c.id)%30000), Peer: f.peer(t, s).address + ":8080"})
}

// host is a peer.
type host struct{ name, address string }

// peer returns the peer of a call: the one that all calls go to, or one that no other call goes to.
func peer(s *Step, number int) host {
	if s.elsewhere {
		return host{fmt.Sprintf("shard-%d.test", number), fmt.Sprintf("10.1.%d.%d", number/250, number%250+1)}
	}
	return host{"db.test", "10.0.0.2"}
}

// peer returns the peer of a thread's call, which may be the host that the thread looked up last.
func (f *facts) peer(t *thread, s *Step) host {
	switch {
	case s.elsewhere:
		return f.asked[t.id]
	case s.cached:
		return cache()
	}
	return peer(s, 0)
}

func (f *facts) established(at Time, t *thread) {
	if f != nil {
		f.add(t.woken, &recording.Established{Conn: f.fresh[t.id].id})
	}
}

func (f *facts) hangsUp(at Time, t *thread) {
	if f != nil {
		f.add(at, &recording.Closed{Conn: f.fresh[t.id].id, By: recording.ClosedByUs, Thread: recording.ThreadID(t.id)})
	}
}

// outbound returns the connection that a call uses.
func (f *facts) outbound(at Time, t *thread, s *Step) *connection {
	if s.do == freshCall {
		return f.fresh[t.id]
	}
	kept, port := f.kept[0], 25000
	if s.cached {
		kept, port = f.kept[1], 26000
	}
	if kept[t.id] == nil {
		c := f.connection()
		kept[t.id] = c
		f.add(at, &recording.Conn{ID: c.id, Side: recording.Outbound, Process: 1, Local: fmt.Sprintf("10.0.0.1:%d", port+t.id), Peer: f.peer(t, s).address + ":8080", Existing: 1})
	}
	return kept[t.id]
}

func (f *facts) asks(at Time, t *thread, s *Step) {
	if f == nil {
		return
	}
	c := f.outbound(at, t, s)
	offset := f.chunk(at, t, c, recording.Chunk{Dir: recording.Write, Bytes: 80})
	f.add(at, &recording.HTTPRequest{Conn: c.id, Offset: offset, Head: 80, Method: "GET", Route: s.route, Host: f.peer(t, s).name})
}

// answered reads an answer, which arrived when the thread was woken.
func (f *facts) answered(at Time, t *thread, s *Step) {
	if f == nil {
		return
	}
	c := f.outbound(at, t, s)
	f.leftLate(at, t, c, s)
	offset := f.chunk(at, t, c, recording.Chunk{Dir: recording.Read, Bytes: 300, Arrived: t.woken, Last: t.woken})
	f.add(at, &recording.HTTPResponse{Conn: c.id, Offset: offset, Head: 50, Length: 250, Status: 200})
}

func (f *facts) lookUp(at Time, t *thread) {
	if f == nil {
		return
	}
	f.names++
	f.asked[t.id] = peer(&t.steps[t.next], f.names)
	f.dns(at, t, recording.DNS{Part: recording.DNSQuery})
}

func (f *facts) found(at Time, t *thread) {
	if f != nil {
		f.dns(at, t, recording.DNS{Part: recording.DNSAnswer, Addrs: f.asked[t.id].address, Arrived: t.woken})
	}
}

func (f *facts) dns(at Time, t *thread, what recording.DNS) {
	what.Thread, what.ID, what.Type, what.Server = recording.ThreadID(t.id), int64(t.id), "A", "10.0.0.53:53"
	what.Name = f.asked[t.id].name
	f.add(at, &what)
}

// off records a span off the processor, which has ended.
func (f *facts) off(at Time, t *thread) {
	o := t.off
	if f == nil || o.preempted && o.since == at { // a program that begins at once
		return
	}
	off := &recording.Off{Thread: recording.ThreadID(t.id), Since: o.since, Woken: o.woken, Syscall: o.syscall, WakerKind: recording.WakerInterrupt}
	switch {
	case o.preempted:
		off.State, off.WakerKind = recording.OffPreempted, recording.WakerNone
	case o.waker != nil:
		off.WakerKind, off.Waker, off.Release = recording.WakerThread, recording.ThreadID(o.waker.id), 1
	}
	if s := o.step; s != nil {
		f.why(off, s, t)
	}
	f.add(at, off)
}

// why adds the facts that show what a step's sleep is for.
func (f *facts) why(off *recording.Off, s *Step, t *thread) {
	if s.code != "" {
		f.add(off.Since+4*Microsecond, &recording.StackAt{Thread: off.Thread, Stack: f.stack(s.code), Origin: recording.StackBlocked})
	}
	switch s.do {
	case enter:
		if off.Arg, off.SP = 0x7000+64*int64(t.id), 0x9000; s.on.word != 0 {
			off.Arg, off.Timed = s.on.word, 1
		}
	case sleep:
		off.Timed = 1
	case sync:
		off.State, off.File, off.Arg, off.Out = recording.OffDisk, 1, 7, 8192
	case start:
		off.WakerKind = recording.WakerOther
	case fault:
		off.State, off.File, off.Major, off.Fetched = recording.OffDisk, 1, 1, 65536
	}
}

// running takes samples of running code from a time on, for a duration.
func (f *facts) running(at, d Time, t *thread, code string) {
	if f == nil || code == "" {
		return
	}
	for k := (at/sampleEvery + 1) * sampleEvery; k < at+d; k += sampleEvery {
		f.add(k, &recording.StackAt{Thread: recording.ThreadID(t.id), Stack: f.stack(code), Origin: recording.StackOnCPU})
	}
}

func (f *facts) host(p *play) {
	if f == nil {
		return
	}
	all := int64(p.now) * int64(p.CPUs)
	f.add(p.now, &recording.Host{Busy: int64(p.used), Idle: all - int64(p.used), Running: int64(p.CPUs - p.idle + len(p.ready))})
}

// stack declares a stack and returns its id.
func (f *facts) stack(path string) recording.StackID {
	if path == "" {
		return recording.NoStack
	}
	if id, ok := f.stacks[path]; ok {
		return id
	}
	name, rest, _ := strings.Cut(path, " < ")
	caller := f.stack(rest)
	frame, ok := f.frames[name]
	if !ok {
		frame = recording.FrameID(len(f.frames) + 1)
		f.frames[name] = frame
		f.add(Microsecond, f.frame(frame, name))
	}
	id := recording.StackID(len(f.stacks) + 1)
	f.stacks[path] = id
	f.add(Microsecond, &recording.Stack{ID: id, Caller: caller, Frame: frame})
	return id
}

// frame makes a place in code: machine code if its name begins with "native ".
func (f *facts) frame(id recording.FrameID, name string) *recording.Frame {
	native, ok := strings.CutPrefix(name, "native ")
	switch {
	case ok && f.runtime == recording.RuntimePython:
		return &recording.Frame{ID: id, Type: recording.FrameNative, Function: native, Module: "python3.11"}
	case ok:
		return &recording.Frame{ID: id, Type: recording.FrameNative, Function: native, Module: "libjvm.so"}
	case f.runtime == recording.RuntimePython:
		file, function, _ := strings.Cut(name, ":")
		return &recording.Frame{ID: id, Type: recording.FramePython, Function: function, File: file, Line: 40 + int64(id)}
	}
	return &recording.Frame{ID: id, Type: recording.FrameJVM, Function: name, Line: 40 + int64(id)}
}
