// Package facts sorts the events of a recording by what they are about: threads, connections, goroutines, storage. New
// makes an empty Facts, Take adds one event after another, and Complete ends that. What needs no rebuilding goes
// directly into the Timeline. The packages that build uses read these lists: only this package walks the events, and
// only once.
package facts

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/lists"
	"github.com/getdwell/dwell/recording"
)

// Facts are the events of a recording, sorted by what they are about.
type Facts struct {
	t           *timeline.Timeline
	Start, End  recording.Time
	Windows     []timeline.Window // in which facts were recorded
	gaps        []timeline.Window // between the windows
	clock       hostClock
	Threads     []Thread
	ThreadIndex lists.Index[recording.ThreadID]
	Processes   []timeline.Process
	ProcIndex   map[recording.ProcessID]int
	leaders     map[recording.ProcessID]recording.ThreadID // the first thread of each program
	childEnds   map[recording.ProcessID][]recording.Time   // by the process that started them: when programs ended
	Conns       []Conn
	ConnIndex   lists.Index[recording.ConnID]
	DNS         []DNS
	Boundaries  []Boundary
	Samples     []sampleAt
	Datagrams   []datagramAt
	joined      map[[2]string]string // by method and route
	Heads       heads
	growing     growing
	Stacks      stackFacts
	Storage     storageFacts
	Parks       parkFacts
	Goroutines  goFacts
	Contexts    map[ContextKey]recording.ContextID // the context that each is a copy of
}

// growing holds the lists that are too long to be copied as they grow.
type growing struct {
	offs  Offs
	conns []growingConn // same index as in Conns
}

// growingConn is what a Conn will have once all is known.
type growingConn struct {
	chunks  [2]lists.Pile[Chunk]
	asks    lists.Pile[Request]
	answers lists.Pile[Response]
}

// conn returns the lists of the i-th connection; what is added to those of None is dropped.
func (g *growing) conn(i int) *growingConn {
	if i == timeline.None {
		return new(growingConn)
	}
	return &g.conns[i]
}

// hostClock converts times since the host booted to those of the recording.
type hostClock struct {
	suspended recording.Time               // how long the host was suspended before the recording
	told      bool                         // suspended is known
	booted    map[recording.ProcessID]bool // whether the process's birth is given in time since the boot, which includes suspension
}

// Thread holds the facts about one thread, in order of time.
type Thread struct {
	ID         recording.ThreadID
	TID        int64
	Process    recording.ProcessID
	Creator    recording.ThreadID
	Context    recording.ContextID // of Python, in which that made it
	Name       string
	Born, Died recording.Time // NoTime: outside the recording
	Steps      []Step
	Seen       recording.Time // the last time it was seen to do something
	Acts       int            // how often it was
	Stacks     []timeline.StackAt
	Moves      ioSpans // its reads and writes on connections
	Taken      []Taken // from queues
}

// Step is one fact about a thread's state: an off-CPU span, or a snapshot.
type Step struct {
	At       recording.Time
	Off      *timeline.Off
	Snapshot *recording.ThreadState
}

// TLS is a fact about a connection.
type TLS struct {
	At recording.Time
	*recording.TLS
}

// DNS is a fact about a look-up.
type DNS struct {
	At recording.Time
	*recording.DNS
}

// Boundary is where a loop begins something else.
type Boundary struct {
	At recording.Time
	*recording.Boundary
}

type sampleAt struct {
	At recording.Time
	*recording.Sample
}

// doubled returns a list with room for at least one more element, and doubles a full list: a list as long as a
// recording is copied less often than with append alone.
func doubled[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return slices.Grow(list, len(list)+1)
}

// New returns Facts without events. What needs no rebuilding goes directly into t.
func New(t *timeline.Timeline) *Facts {
	return &Facts{t: t, ProcIndex: map[recording.ProcessID]int{}, clock: hostClock{booted: map[recording.ProcessID]bool{}}, leaders: map[recording.ProcessID]recording.ThreadID{}, childEnds: map[recording.ProcessID][]recording.Time{}, joined: map[[2]string]string{}}
}

// Take adds the next event.
func (f *Facts) Take(e recording.Event) {
	if f.t.Events == 0 {
		f.Start = e.Time
	}
	f.t.Events++
	f.End = max(f.End, e.Time)
	if c, ok := e.Fact.(*recording.Clock); ok && !f.clock.told {
		f.clock.suspended, f.clock.told = recording.Time(c.Suspended), true
	}
	if !f.connFact(e.Time, e.Fact) && !f.taskFact(e.Time, e.Fact) { // most are about connections
		f.hostFact(e.Time, e.Fact)
	}
}

// Complete is called after the last event.
func (f *Facts) Complete(rec *recording.Recording) {
	t := f.t
	t.Start, t.End, t.Truncated = f.Start, f.End, t.Truncated || rec.Truncated
	for i := range f.Processes {
		if p := &f.Processes[i]; p.Born != recording.NoTime && f.clock.booted[p.ID] {
			p.Born -= f.clock.suspended
		}
	}
	f.trim()
	f.nameStarters()
	t.Processes = f.Processes
	f.Windows = windows(t.Start, t.End, f.gaps)
	t.Windows = f.Windows
}

// trim finishes the longest lists and releases their spare room.
func (f *Facts) trim() {
	for i := range f.Conns {
		c, all := &f.Conns[i], &f.growing.conns[i]
		c.Asks, c.Answers = all.asks.Joined(), all.answers.Joined()
		for dir := range c.Chunks {
			c.Chunks[dir] = all.chunks[dir].Joined()
		}
		*all = growingConn{}
	}
	f.growing = growing{}
	for i := range f.Threads {
		th := &f.Threads[i]
		th.Steps, th.Moves.ends = slices.Clone(th.Steps), slices.Clone(th.Moves.ends)
	}
}

// thread returns the thread's facts; those of NoThread are dropped. A thread that was never declared (facts were lost)
// is added without process or name.
func (f *Facts) thread(id recording.ThreadID) *Thread {
	if id == recording.NoThread {
		return new(Thread)
	}
	i := f.ThreadIndex.Get(id)
	if i == timeline.None {
		i = len(f.Threads)
		f.ThreadIndex.Set(id, i)
		f.Threads = append(f.Threads, Thread{ID: id})
	}
	return &f.Threads[i]
}

// Strand returns the index of a thread's Strand, or None.
func (f *Facts) Strand(id recording.ThreadID) timeline.StrandID {
	return timeline.StrandID(f.ThreadIndex.Get(id))
}

// see notes that a thread was running at a time.
func (f *Facts) see(id recording.ThreadID, at recording.Time) {
	th := f.thread(id)
	th.Seen = at
	th.Acts++
}

// moved notes that a thread read or wrote.
func (f *Facts) moved(x *recording.Chunk, at recording.Time) {
	th := f.thread(x.Thread)
	th.Seen = at
	th.Acts++
	th.Moves.add(firstOf(x.First, at), at, x.Dir)
}

// Endpoint joins method and route; equal results share their memory.
func (f *Facts) Endpoint(method, route string) string {
	k := [2]string{method, route}
	s, ok := f.joined[k]
	if !ok {
		s = method + " " + route
		f.joined[k] = s
	}
	return s
}

// Runtime returns the runtime of a process; native if it is not known.
func (f *Facts) Runtime(id recording.ProcessID) recording.Runtime {
	if i, ok := f.ProcIndex[id]; ok {
		return f.Processes[i].Runtime
	}
	return recording.RuntimeNative
}

// taskFact takes facts about processes and threads.
func (f *Facts) taskFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Off:
		th := f.thread(x.Thread)
		th.Steps = append(doubled(th.Steps), Step{At: at, Off: f.growing.offs.Of(x)})
	case *recording.ThreadState:
		th := f.thread(x.Thread)
		th.Steps = append(th.Steps, Step{At: at, Snapshot: x})
	case *recording.Sample:
		f.see(x.Thread, at)
		f.Samples = append(f.Samples, sampleAt{at, x})
	case *recording.Boundary:
		f.see(x.Thread, at)
		f.Boundaries = append(f.Boundaries, Boundary{at, x})
	case *recording.Thread:
		f.declareThread(at, x)
	case *recording.ThreadExit:
		f.thread(x.Thread).Died = at
	default:
		return f.processFact(at, fact) || f.stackFact(at, fact) || f.goFact(at, fact)
	}
	return true
}

func (f *Facts) declareThread(at recording.Time, x *recording.Thread) {
	th := f.thread(x.ID)
	th.TID, th.Process, th.Creator, th.Context, th.Name = x.TID, x.Process, x.Creator, x.Context, x.Name
	if x.Creator != recording.NoThread {
		th.Born = at
	}
	if i, ok := f.ProcIndex[x.Process]; ok && f.Processes[i].PID == x.TID {
		f.leaders[x.Process] = x.ID
	}
}

func (f *Facts) processFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Process:
		if _, ok := f.ProcIndex[x.ID]; ok {
			return true
		}
		f.ProcIndex[x.ID] = len(f.Processes)
		f.clock.booted[x.ID] = true
		f.Processes = append(f.Processes, timeline.Process{ID: x.ID, PID: x.PID, Comm: x.Comm, Exe: x.Exe, Runtime: x.Runtime, Build: x.Build, Version: x.Version, CPUs: x.CPUs, Born: recording.Time(x.Start), By: timeline.None, Parent: x.Parent})
	case *recording.Exec:
		if i, ok := f.ProcIndex[x.Process]; ok {
			p := &f.Processes[i]
			f.clock.booted[x.Process] = false
			p.Comm, p.Exe, p.Runtime, p.Build, p.Version, p.Born = x.Comm, x.Exe, x.Runtime, x.Build, x.Version, at
			f.thread(f.leaders[x.Process]).Name = x.Comm
		}
	case *recording.Context:
		if f.Contexts == nil {
			f.Contexts = map[ContextKey]recording.ContextID{}
		}
		f.Contexts[ContextKey{x.Process, x.ID}] = x.Parent
	case *recording.Taken:
		f.see(x.Thread, at)
		th := f.thread(x.Thread)
		th.Taken = append(th.Taken, Taken{at, x})
	case *recording.ProcessExit:
		if i, ok := f.ProcIndex[x.Process]; ok {
			f.Processes[i].End = at
		}
	default:
		return f.storageFact(at, fact)
	}
	return true
}

// conn returns the facts of a connection. Facts of a connection that was never declared are dropped: its side is
// unknown.
func (f *Facts) conn(id recording.ConnID) *Conn {
	if i := f.ConnIndex.Get(id); i != timeline.None {
		return &f.Conns[i]
	}
	return new(Conn)
}

// connFact takes facts about connections.
func (f *Facts) connFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Chunk:
		f.moved(x, at)
		if x.Dir == recording.Read || x.Dir == recording.Write {
			f.growing.conn(f.ConnIndex.Get(x.Conn)).chunk(at, x)
		}
	case *recording.HTTPRequest:
		f.growing.conn(f.ConnIndex.Get(x.Conn)).asks.Add(f.Heads.request(at, x))
	case *recording.HTTPResponse:
		f.growing.conn(f.ConnIndex.Get(x.Conn)).answers.Add(f.Heads.response(at, x))
	case *recording.TLS:
		if c := f.conn(x.Conn); x.Dir == recording.Read || x.Dir == recording.Write {
			c.TLS = append(c.TLS, TLS{at, x})
		}
	case *recording.DNS:
		f.see(x.Thread, at)
		f.DNS = append(f.DNS, DNS{at, x})
	default:
		return f.connLife(at, fact)
	}
	return true
}

func (f *Facts) connLife(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Conn:
		f.see(x.Thread, at)
		if f.ConnIndex.Get(x.ID) == timeline.None {
			f.ConnIndex.Set(x.ID, len(f.Conns))
			f.Conns, f.growing.conns = append(doubled(f.Conns), Conn{At: at, Decl: x}), append(doubled(f.growing.conns), growingConn{})
		}
	case *recording.Established:
		f.conn(x.Conn).Established = at
	case *recording.Closed:
		if c := f.conn(x.Conn); c.Closed == nil {
			c.Closed, c.ClosedAt = x, at
		}
	case *recording.ConnProtocol:
		f.conn(x.Conn).Protocol = x.Protocol
	case *recording.Late:
		c := f.conn(x.Conn)
		c.Late = append(c.Late, x)
	case *recording.Tunnel:
		f.conn(x.Conn).through(at, x) // what was asked before went to the proxy itself
		all := f.growing.conn(f.ConnIndex.Get(x.Conn))
		all.asks, all.answers = lists.Pile[Request]{}, lists.Pile[Response]{}
	case *recording.Retransmit:
		c := f.conn(x.Conn)
		c.Again = append(c.Again, at)
	default:
		return f.commandFact(at, fact)
	}
	return true
}
