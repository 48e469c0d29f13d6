package report

import (
	"slices"
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Dump shows what every thread did at one instant of a recording, and which threads waited for which.
type Dump struct {
	Version  int           `json:"version"`
	At       Duration      `json:"at_ns"`             // since the start of the recording
	Wall     int64         `json:"wall_ns,omitempty"` // since the Unix epoch
	Chosen   string        `json:"chosen"`            // why this instant
	Counts   DumpCounts    `json:"counts"`
	Blockers []*Blocker    `json:"blockers"` // threads that wait for no known thread themselves; those that block most come first
	Threads  []*DumpThread `json:"threads"`
}

// DumpCounts counts threads by state.
type DumpCounts struct {
	Threads  int `json:"threads"`
	Running  int `json:"running"`
	Runnable int `json:"runnable"`
	Blocked  int `json:"blocked"` // waiting for a lock, an interpreter lock or a pool
	Waiting  int `json:"waiting"` // asleep otherwise
	Idle     int `json:"idle"`    // asleep until there is work
	Unknown  int `json:"unknown"`
}

// DumpThread is one thread at the instant. Durations count back from the instant.
type DumpThread struct {
	Process  int64               `json:"pid"`
	TID      int64               `json:"tid"`
	Name     string              `json:"name"`
	State    string              `json:"state"` // running, runnable, blocked, waiting, idle or unknown
	Cause    string              `json:"cause"` // of its time, as in a segment
	For      Duration            `json:"for_ns"`
	AtLeast  bool                `json:"for_at_least,omitempty"` // it began before the recording
	Syscall  string              `json:"syscall,omitempty"`
	Request  *timeline.RequestID `json:"request,omitempty"` // that it worked for
	Endpoint string              `json:"endpoint,omitempty"`
	Open     int                 `json:"requests,omitempty"` // number of requests it had open
	Call     *DumpCall           `json:"call,omitempty"`     // that it had open
	Wait     *DumpWait           `json:"wait,omitempty"`
	Stack    []Frame             `json:"stack"` // leaf first; empty if no stack was seen
	Seen     StackSeen           `json:"stack_seen"`
	Blocks   int                 `json:"blocks"` // number of threads that wait for it, directly or through others

	strand timeline.StrandID
	stack  timeline.StackID
	place  timeline.StackID // the part of the stack from the frame that best names its place
	site   int              // index of that frame in Stack; -1 without a stack
}

// DumpCall is an outgoing call.
type DumpCall struct {
	ID        timeline.CallID `json:"id"`
	Peer      string          `json:"peer"`
	Operation string          `json:"operation,omitempty"`
	Phase     string          `json:"phase"`
}

// DumpWait is what a thread waited for.
type DumpWait struct {
	Cause   string      `json:"cause"`
	Quality string      `json:"quality"`
	Rule    string      `json:"rule"`          // code of the rule that determined the cause
	What    string      `json:"for,omitempty"` // the lock or pool
	Holder  *DumpHolder `json:"holder,omitempty"`
}

// DumpHolder is the thread that held it.
type DumpHolder struct {
	TID   int64    `json:"tid"`
	Name  string   `json:"name"`
	Had   Duration `json:"had_ns,omitempty"` // for how long it had held it; 0 not known
	Basis string   `json:"basis"`            // release: it woke the next one; owner: the mutex named it; yield: it later gave way

	strand timeline.StrandID
}

// StackSeen says how a stack is known.
type StackSeen struct {
	How string   `json:"how"`    // own: of this very wait; borrowed: of all waits at its place; sample: on a CPU; release: the stack with which it later releases what others wait for; none
	Age Duration `json:"age_ns"` // samples: how long before the instant; negative after it
}

// DumpOptions select the instant of a dump.
type DumpOptions struct {
	At     timeline.Time // of the recording's clock
	Chosen string
	Source Source // of code at the places of threads; nil: none
}

// NewDump returns what every thread did at an instant. It includes only goroutines that worked for a request, or
// waited for a lock or a pool; other goroutines are not recorded.
func NewDump(tl *timeline.Timeline, o DumpOptions) *Dump {
	d := &Dump{Version: Version, At: o.At.Sub(tl.Start), Chosen: o.Chosen, Blockers: []*Blocker{}, Threads: []*DumpThread{}}
	dd := &dumper{tl: tl, at: o.At, source: o.Source, index: newStackIndex(tl)}
	dd.serving()
	for i := range tl.Strands {
		if t := dd.thread(timeline.StrandID(i)); t != nil {
			d.Threads = append(d.Threads, t)
		}
	}
	d.Threads = dd.addHolders(d.Threads)
	for _, t := range d.Threads {
		d.Counts.count(t.State)
	}
	d.Blockers = orEmpty(blockers(d.Threads))
	return d
}

func (c *DumpCounts) count(state string) {
	c.Threads++
	switch state {
	case "running":
		c.Running++
	case "runnable":
		c.Runnable++
	case "blocked":
		c.Blocked++
	case "waiting":
		c.Waiting++
	case "idle":
		c.Idle++
	default:
		c.Unknown++
	}
}

// dumper looks at one instant.
type dumper struct {
	tl     *timeline.Timeline
	at     timeline.Time
	index  *stackIndex
	source Source
	works  map[timeline.StrandID][]timeline.RequestID
}

// serving finds the requests for which threads work.
func (d *dumper) serving() {
	d.works = map[timeline.StrandID][]timeline.RequestID{}
	for i := range d.tl.Requests {
		r := &d.tl.Requests[i]
		if r.Start > d.at || d.at >= r.End {
			continue
		}
		if r.Strand != timeline.None && r.FirstRead <= d.at {
			d.works[r.Strand] = append(d.works[r.Strand], r.ID)
		}
		for _, part := range r.Parts {
			if part.From <= d.at && d.at < part.To {
				d.works[part.Strand] = append(d.works[part.Strand], r.ID)
			}
		}
	}
}

// thread describes a thread or goroutine; nil if it did not exist at the instant.
func (d *dumper) thread(id timeline.StrandID) *DumpThread {
	st := &d.tl.Strands[id]
	if st.Goroutine != recording.NoGoroutine {
		return d.goroutine(id)
	}
	list := intervals(st, d.at, d.at+1)
	if len(list) == 0 {
		return nil
	}
	iv := &list[0]
	t := d.named(id)
	d.state(t, iv)
	d.since(t, iv)
	d.stackOf(t, iv)
	return t
}

// named returns a thread with only its name and requests filled in.
func (d *dumper) named(id timeline.StrandID) *DumpThread {
	st := &d.tl.Strands[id]
	t := &DumpThread{TID: st.TID, Name: st.Name, strand: id, stack: timeline.None, place: timeline.None, site: -1, Stack: []Frame{}}
	t.Seen.How = "none"
	if t.TID == 0 && st.Goroutine == recording.NoGoroutine {
		t.TID = int64(st.Thread)
	}
	for i := range d.tl.Processes {
		if p := &d.tl.Processes[i]; p.ID == st.Process {
			t.Process = p.PID
		}
	}
	list := d.works[id]
	if t.Open = len(list); t.Open == 1 {
		t.Request, t.Endpoint = &list[0], d.tl.Requests[list[0]].Endpoint
	}
	return t
}

// goroutine describes a goroutine by what it waits for, or by the request it works for; nil if neither is known.
func (d *dumper) goroutine(id timeline.StrandID) *DumpThread {
	if t := d.parked(id); t != nil {
		return t
	}
	for _, r := range d.works[id] {
		list := d.tl.Requests[r].SegmentList()
		i := sort.Search(len(list), func(k int) bool { return list[k].To > d.at })
		if i == len(list) || list[i].From > d.at || list[i].Phase == timeline.PhaseUnread {
			continue
		}
		s := &list[i]
		t := d.named(id)
		t.Name, t.State, t.Cause, t.For = strandName(d.tl, id), "waiting", s.Cause.String(), d.at.Sub(s.From)
		switch s.Cause {
		case timeline.CauseOnCPU:
			t.State = "running"
		case timeline.CauseRunnable:
			t.State = "runnable"
		}
		if s.Call != timeline.None {
			c := &d.tl.Calls[s.Call]
			t.Call = &DumpCall{s.Call, c.Peer, c.Operation, s.Phase.String()}
		}
		return t
	}
	return nil
}

// state determines what a thread did or waited for.
func (d *dumper) state(t *DumpThread, iv *timeline.Interval) {
	t.State, t.Cause = "unknown", timeline.CauseUnknown.String()
	for _, a := range d.tl.Doing(t.strand, d.at, d.at+1) {
		t.Cause, t.Syscall = a.Cause.String(), a.Syscall
		if a.Call != timeline.None {
			c := &d.tl.Calls[a.Call]
			t.Call = &DumpCall{a.Call, c.Peer, c.Operation, a.Phase.String()}
		}
		if a.Wait != timeline.None {
			t.Wait = d.wait(a.Wait)
		}
		switch {
		case iv.State == timeline.StateRunning:
			t.State = "running"
		case iv.State == timeline.StateRunnable:
			t.State = "runnable"
		case a.Wait != timeline.None && blocks(a.Cause):
			t.State = "blocked"
		case a.Wait != timeline.None && d.tl.Waits[a.Wait].Rule == timeline.RuleIdle:
			t.State = "idle"
		case asleep(iv.State):
			t.State = "waiting"
		}
	}
}

// blocks reports whether a cause means that a thread waits for something that another one holds.
func blocks(c timeline.Cause) bool {
	return c == timeline.CauseLock || c == timeline.CauseInterpreterLock || c == timeline.CausePool
}

func (d *dumper) wait(id timeline.WaitID) *DumpWait {
	w := &d.tl.Waits[id]
	out := &DumpWait{Cause: w.Cause.String(), Quality: w.Quality.String(), Rule: w.Rule}
	if w.Lock != timeline.None {
		out.What = d.tl.Locks[w.Lock].Name
	}
	for _, h := range w.Holds {
		if h.From <= d.at && d.at < h.To {
			out.Holder = d.holder(&h)
		}
	}
	return out
}

func (d *dumper) holder(h *timeline.Hold) *DumpHolder {
	st := &d.tl.Strands[h.Strand]
	out := &DumpHolder{TID: st.TID, Name: st.Name, Basis: basisName(h.Basis), strand: h.Strand}
	if st.Goroutine != recording.NoGoroutine {
		out.Name = strandName(d.tl, h.Strand)
	}
	if h.Since != recording.NoTime {
		out.Had = d.at.Sub(h.Since)
	}
	return out
}

func basisName(b timeline.HoldBasis) string {
	switch b {
	case timeline.HoldByOwner:
		return "owner"
	case timeline.HoldByYield:
		return "yield"
	}
	return "release"
}

// since determines for how long the thread has been in its state.
func (d *dumper) since(t *DumpThread, iv *timeline.Interval) {
	from := iv.From
	if w := d.tl.WaitAt(t.strand, d.at); w != timeline.None {
		from = d.tl.Waits[w].From
	} else if asleep(iv.State) && iv.Off != nil && iv.Off.Since != recording.NoTime {
		from = min(from, iv.Off.Since)
	}
	t.For = d.at.Sub(from)
	t.AtLeast = from == d.tl.Start
}

// stackOf finds the stack of a thread. If the thread was asleep or just woken, that is the stack of its wait; if it
// was on a CPU, that of the nearest sample.
func (d *dumper) stackOf(t *DumpThread, iv *timeline.Interval) {
	switch {
	case iv.State == timeline.StateRunning || preempted(iv):
		d.nearest(t)
	case iv.Off != nil || d.tl.WaitAt(t.strand, d.at) != timeline.None:
		c := charge{segment: &timeline.Segment{Strand: t.strand}, from: d.at, stack: timeline.None}
		d.index.waiting(&c, iv)
		if t.stack = c.stack; c.basis == byPlace {
			t.Seen.How = "borrowed"
		} else if c.stack != timeline.None {
			t.Seen.How = "own"
		}
	}
	if t.stack != timeline.None {
		d.placed(t)
	}
}

// placed fills in the fields that describe a thread's stack.
func (d *dumper) placed(t *DumpThread) {
	t.Stack = framesOf(d.tl, t.stack)
	t.site = siteIn(d.tl, t.stack)
	t.place = t.stack
	for range t.site {
		t.place = d.tl.Stacks[t.place].Caller
	}
	f := &t.Stack[t.site]
	f.Code, f.In = d.source.code(f), libraryOf(d.tl, t.stack, f.Name)
}

// siteIn returns the index, from the leaf, of the frame that best names the place of a stack.
func siteIn(tl *timeline.Timeline, id timeline.StackID) int {
	frames := tl.StackFrames(id)
	site, _ := tl.SiteOf(id)
	at := max(0, slices.Index(frames, site))
	if at > 0 || frames[0].Type != recording.FrameNative {
		return at
	}
	for i := range frames { // a library's own thread: where it calls the system
		if frames[i].Module != frames[0].Module {
			return i
		}
	}
	return 0
}

// nearest takes the sample on a CPU that is nearest in time, if the thread did not sleep in between: then it is
// still, or already, doing the sampled work.
func (d *dumper) nearest(t *DumpThread) {
	from, to := d.awake(t.strand)
	best := to - from + 1
	for _, s := range d.index.between(t.strand, from, to) {
		if far := max(s.Time-d.at, d.at-s.Time); s.Origin == recording.StackOnCPU && far < best {
			best, t.stack = far, s.Stack
			t.Seen = StackSeen{"sample", d.at.Sub(s.Time)}
		}
	}
}

// awake returns the span around the instant in which a thread never slept.
func (d *dumper) awake(id timeline.StrandID) (from, to timeline.Time) {
	list := d.tl.Strands[id].Intervals
	ran := func(k int) bool {
		return list[k].State == timeline.StateRunning || list[k].State == timeline.StateRunnable
	}
	i := sort.Search(len(list), func(k int) bool { return list[k].To > d.at })
	k := i
	for i > 0 && ran(i-1) {
		i--
	}
	for k+1 < len(list) && ran(k+1) {
		k++
	}
	return list[i].From, list[k].To
}
