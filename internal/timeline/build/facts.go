package build

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// facts are the events of a recording, sorted by what they are about. Everything
// later reads these lists; the events themselves are walked once.
type facts struct {
	t           *timeline.Timeline
	start, end  recording.Time
	windows     []timeline.Window // in which facts were recorded
	gaps        []timeline.Window // between them
	clock       hostClock
	threads     []threadFacts
	threadIndex lists.Index[recording.ThreadID]
	processes   []timeline.Process
	procIndex   map[recording.ProcessID]int
	leaders     map[recording.ProcessID]recording.ThreadID // the threads that programs begin with
	childEnds   map[recording.ProcessID][]recording.Time   // by the process that started them: when programs ended
	conns       []connFacts
	connIndex   lists.Index[recording.ConnID]
	dns         []dnsAt
	boundaries  []boundaryAt
	samples     []sampleAt
	datagrams   []datagramAt
	joined      map[[2]string]string // method and route
	heads       heads
	offs        offs
	stacks      stackFacts
	storage     storageFacts
	parks       parkFacts
	golang      goFacts
	contexts    map[contextKey]recording.ContextID // of which each is a copy
}

// hostClock leads from times since the host booted to those of the recording.
type hostClock struct {
	suspended recording.Time               // for how long the host was, before the recording
	told      bool                         // that is known
	booted    map[recording.ProcessID]bool // when a process was born is said as since the host booted: that counts in
}

// threadFacts are the facts about one thread, in order of time.
type threadFacts struct {
	id         recording.ThreadID
	tid        int64
	process    recording.ProcessID
	creator    recording.ThreadID
	name       string
	born, died recording.Time // NoTime: outside the recording
	steps      []step
	seen       recording.Time // the last time it was seen to do something
	acts       int            // how often it was
	stacks     []timeline.StackAt
	moves      ioSpans   // its reads and writes on connections
	taken      []takenAt // from queues
}

// step is one fact about a thread's state: an off-CPU span, or a snapshot.
type step struct {
	at   recording.Time
	off  *timeline.Off
	snap *recording.ThreadState
}

// connFacts are the facts about one connection, in order of time.
type connFacts struct {
	at          recording.Time
	decl        *recording.Conn
	established recording.Time
	reached     recording.Time // through a proxy: when the connection to that was established
	closed      *recording.Closed
	closedAt    recording.Time
	protocol    recording.Protocol
	chunks      [2][]chunkAt // by Direction
	asks        []requestAt
	answers     []responseAt
	commands    []*recording.Command
	replies     []*recording.Reply
	tls         []tlsAt
	goCalls     []goCallAt // outbound: who handed requests to it
	late        []*recording.Late
	again       []recording.Time // when a segment was sent again
	tunnel      *recording.Tunnel
}

type tlsAt struct {
	at recording.Time
	*recording.TLS
}

type dnsAt struct {
	at recording.Time
	*recording.DNS
}

type boundaryAt struct {
	at recording.Time
	*recording.Boundary
}

type sampleAt struct {
	at recording.Time
	*recording.Sample
}

// doubled returns a list with room for at least one more, doubling what is full: a
// list of a whole recording is copied less often than if append made the room.
func doubled[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return slices.Grow(list, len(list)+1)
}

// newFacts are none yet; what needs no rebuilding is copied into t as it comes.
func newFacts(t *timeline.Timeline) *facts {
	return &facts{t: t, procIndex: map[recording.ProcessID]int{}, clock: hostClock{booted: map[recording.ProcessID]bool{}}, leaders: map[recording.ProcessID]recording.ThreadID{}, childEnds: map[recording.ProcessID][]recording.Time{}, joined: map[[2]string]string{}}
}

// take sorts in the next event.
func (f *facts) take(e recording.Event) {
	if f.t.Events == 0 {
		f.start = e.Time
	}
	f.t.Events++
	f.end = max(f.end, e.Time)
	if c, ok := e.Fact.(*recording.Clock); ok && !f.clock.told {
		f.clock.suspended, f.clock.told = recording.Time(c.Suspended), true
	}
	if !f.taskFact(e.Time, e.Fact) && !f.connFact(e.Time, e.Fact) {
		f.hostFact(e.Time, e.Fact)
	}
}

// complete is called once there are no more events.
func (f *facts) complete(rec *recording.Recording) {
	t := f.t
	t.Start, t.End, t.Truncated = f.start, f.end, t.Truncated || rec.Truncated
	for i := range f.processes {
		if p := &f.processes[i]; p.Born != recording.NoTime && f.clock.booted[p.ID] {
			p.Born -= f.clock.suspended
		}
	}
	f.trim()
	f.nameStarters()
	t.Processes = f.processes
	f.windows = windows(t.Start, t.End, f.gaps)
	t.Windows = f.windows
}

// trim gives back the room that the longest lists have for more.
func (f *facts) trim() {
	for i := range f.conns {
		c := &f.conns[i]
		for dir := range c.chunks {
			c.chunks[dir] = slices.Clone(c.chunks[dir])
		}
	}
	for i := range f.threads {
		th := &f.threads[i]
		th.steps, th.moves.ends = slices.Clone(th.steps), slices.Clone(th.moves.ends)
	}
}

// thread returns the thread's facts, None and nil for NoThread. A thread that was
// never declared (facts were lost) is made up, without process or name.
func (f *facts) thread(id recording.ThreadID) *threadFacts {
	if id == recording.NoThread {
		return nil
	}
	i := f.threadIndex.Get(id)
	if i == timeline.None {
		i = len(f.threads)
		f.threadIndex.Set(id, i)
		f.threads = append(f.threads, threadFacts{id: id})
	}
	return &f.threads[i]
}

// strand returns the index of a thread's Strand, or None.
func (f *facts) strand(id recording.ThreadID) timeline.StrandID {
	return timeline.StrandID(f.threadIndex.Get(id))
}

// see notes that a thread was running at a time.
func (f *facts) see(id recording.ThreadID, at recording.Time) {
	if th := f.thread(id); th != nil {
		th.seen = at
		th.acts++
	}
}

// moved notes that a thread read or wrote.
func (f *facts) moved(x *recording.Chunk, at recording.Time) {
	f.see(x.Thread, at)
	if th := f.thread(x.Thread); th != nil {
		th.moves.add(firstOf(x.First, at), at, x.Dir)
	}
}

// endpoint joins method and route, with the same memory for all that are equal.
func (f *facts) endpoint(method, route string) string {
	k := [2]string{method, route}
	s, ok := f.joined[k]
	if !ok {
		s = method + " " + route
		f.joined[k] = s
	}
	return s
}

// runtime of a process; native if it is not known.
func (f *facts) runtime(id recording.ProcessID) recording.Runtime {
	if i, ok := f.procIndex[id]; ok {
		return f.processes[i].Runtime
	}
	return recording.RuntimeNative
}

// taskFact takes facts about processes and threads.
func (f *facts) taskFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Off:
		if th := f.thread(x.Thread); th != nil {
			th.steps = append(doubled(th.steps), step{at: at, off: f.offs.of(x)})
		}
	case *recording.ThreadState:
		if th := f.thread(x.Thread); th != nil {
			th.steps = append(th.steps, step{at: at, snap: x})
		}
	case *recording.Sample:
		f.see(x.Thread, at)
		f.samples = append(f.samples, sampleAt{at, x})
	case *recording.Boundary:
		f.see(x.Thread, at)
		f.boundaries = append(f.boundaries, boundaryAt{at, x})
	case *recording.Thread:
		f.declareThread(at, x)
	case *recording.ThreadExit:
		if th := f.thread(x.Thread); th != nil {
			th.died = at
		}
	default:
		return f.processFact(at, fact) || f.stackFact(at, fact) || f.goFact(at, fact)
	}
	return true
}

func (f *facts) declareThread(at recording.Time, x *recording.Thread) {
	th := f.thread(x.ID)
	if th == nil {
		return
	}
	th.tid, th.process, th.creator, th.name = x.TID, x.Process, x.Creator, x.Name
	if x.Creator != recording.NoThread {
		th.born = at
	}
	if i, ok := f.procIndex[x.Process]; ok && f.processes[i].PID == x.TID {
		f.leaders[x.Process] = x.ID
	}
}

func (f *facts) processFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Process:
		if _, ok := f.procIndex[x.ID]; ok {
			return true
		}
		f.procIndex[x.ID] = len(f.processes)
		f.clock.booted[x.ID] = true
		f.processes = append(f.processes, timeline.Process{ID: x.ID, PID: x.PID, Comm: x.Comm, Exe: x.Exe, Runtime: x.Runtime, Build: x.Build, Version: x.Version, Born: recording.Time(x.Start), By: timeline.None})
	case *recording.Exec:
		if i, ok := f.procIndex[x.Process]; ok {
			p := &f.processes[i]
			f.clock.booted[x.Process] = false
			p.Comm, p.Exe, p.Runtime, p.Build, p.Version, p.Born = x.Comm, x.Exe, x.Runtime, x.Build, x.Version, at
			if th := f.thread(f.leaders[x.Process]); th != nil {
				th.name = x.Comm
			}
		}
	case *recording.Context:
		if f.contexts == nil {
			f.contexts = map[contextKey]recording.ContextID{}
		}
		f.contexts[contextKey{x.Process, x.ID}] = x.Parent
	case *recording.Taken:
		f.see(x.Thread, at)
		if th := f.thread(x.Thread); th != nil {
			th.taken = append(th.taken, takenAt{at, x})
		}
	case *recording.ProcessExit:
		if i, ok := f.procIndex[x.Process]; ok {
			f.processes[i].End = at
		}
	default:
		return f.storageFact(at, fact)
	}
	return true
}

// conn returns the facts of a declared connection, or nil.
func (f *facts) conn(id recording.ConnID) *connFacts {
	if i := f.connIndex.Get(id); i != timeline.None {
		return &f.conns[i]
	}
	return nil
}

// connFact takes facts about connections. Facts of a connection that was never
// declared are dropped: its side is unknown.
func (f *facts) connFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Chunk:
		f.moved(x, at)
		if c := f.conn(x.Conn); c != nil && (x.Dir == recording.Read || x.Dir == recording.Write) {
			c.chunk(at, x)
		}
	case *recording.HTTPRequest:
		if c := f.conn(x.Conn); c != nil {
			c.asks = append(c.asks, f.heads.request(at, x))
		}
	case *recording.HTTPResponse:
		if c := f.conn(x.Conn); c != nil {
			c.answers = append(c.answers, f.heads.response(at, x))
		}
	case *recording.TLS:
		if c := f.conn(x.Conn); c != nil && (x.Dir == recording.Read || x.Dir == recording.Write) {
			c.tls = append(c.tls, tlsAt{at, x})
		}
	case *recording.DNS:
		f.see(x.Thread, at)
		f.dns = append(f.dns, dnsAt{at, x})
	default:
		return f.connLife(at, fact)
	}
	return true
}

func (f *facts) connLife(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Conn:
		f.see(x.Thread, at)
		if f.connIndex.Get(x.ID) == timeline.None {
			f.connIndex.Set(x.ID, len(f.conns))
			f.conns = append(f.conns, connFacts{at: at, decl: x})
		}
	case *recording.Established:
		if c := f.conn(x.Conn); c != nil {
			c.established = at
		}
	case *recording.Closed:
		if c := f.conn(x.Conn); c != nil && c.closed == nil {
			c.closed, c.closedAt = x, at
		}
	case *recording.ConnProtocol:
		if c := f.conn(x.Conn); c != nil {
			c.protocol = x.Protocol
		}
	case *recording.Late:
		if c := f.conn(x.Conn); c != nil {
			c.late = append(c.late, x)
		}
	case *recording.Tunnel:
		if c := f.conn(x.Conn); c != nil {
			c.through(at, x)
		}
	case *recording.Retransmit:
		if c := f.conn(x.Conn); c != nil {
			c.again = append(c.again, at)
		}
	default:
		return f.commandFact(at, fact)
	}
	return true
}
