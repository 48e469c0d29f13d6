//go:build linux && (amd64 || arm64)

package capture

import (
	"maps"
	"unsafe"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// eventGoPark is the type of golock.bpf.c's events.
const eventGoPark = uint32(golocksParkEventTypeEVENT_GO_PARK)

// Bounds of what the decoder remembers of goroutines.
const (
	maxParked    = 1 << 16 // goroutines that wait
	maxGoStacks  = 1 << 15 // different stacks of a process
	firstGoStack = 1 << 20 // ids from here on are not the profiler's
)

// parkKey identifies a goroutine of a live process.
type parkKey struct {
	tgid uint32
	goid uint64
}

// parked is a wait that was seen to begin.
type parked struct {
	fact recording.Park
	set  int
}

// parkDecoder pairs the beginnings and ends of goroutines' waits, and names the functions in their stacks.
type parkDecoder struct {
	waits  map[parkKey]parked
	stops  map[uint32]recording.Pause // by process
	tables map[uint32]*target.GoTable
	frames map[recording.Frame]recording.FrameID
	stacks map[goStackNode]recording.StackID
	known  map[uint32]map[string]recording.StackID // by process and addresses
	fresh  []recording.Fact                        // not declared yet
}

type goStackNode struct {
	caller recording.StackID
	frame  recording.FrameID
}

// open sets the table that names the functions of a process. Without a table there are no stacks.
func (p *parkDecoder) open(pid int, table *target.GoTable) {
	if p.tables == nil {
		p.waits, p.stops = map[parkKey]parked{}, map[uint32]recording.Pause{}
		p.tables, p.known = map[uint32]*target.GoTable{}, map[uint32]map[string]recording.StackID{}
		p.frames, p.stacks = map[recording.Frame]recording.FrameID{}, map[goStackNode]recording.StackID{}
	}
	p.tables[uint32(pid)] = table
	p.known[uint32(pid)] = map[string]recording.StackID{} // the process may have begun to run another program
}

// end drops what was kept for a process that has ended: its goroutines no longer wait.
func (p *parkDecoder) end(tgid uint32) {
	if _, ok := p.tables[tgid]; !ok {
		return
	}
	delete(p.tables, tgid)
	delete(p.known, tgid)
	delete(p.stops, tgid)
	maps.DeleteFunc(p.waits, func(k parkKey, _ parked) bool { return k.tgid == tgid })
}

// setOf returns the set of probes that saw a wait begin, by the event that began it.
func setOf(act golocksParkAct) int {
	switch act {
	case golocksParkActPARK_BEGIN_COND:
		return parkConditions
	case golocksParkActPARK_BEGIN_RECEIVE, golocksParkActPARK_BEGIN_SEND, golocksParkActPARK_BEGIN_SELECT:
		return parkChannels
	case golocksParkActPARK_BEGIN_COLLECTOR:
		return parkPauses
	case golocksParkActPARK_BEGIN_SLEEP:
		return parkSleeps
	}
	return parkLocks
}

// park decodes an event of the programs for Go's locks.
func (d *decoder) park(h *probesHead, b []byte) {
	e := view[golocksParkEvent](b)
	d.goroutine(h.Tgid, e.Goid, e.ParentGoid)
	key := parkKey{h.Tgid, e.Goid}
	switch act := golocksParkAct(e.Act); act {
	case golocksParkActPARK_END:
		d.parkEnd(h, key)
	case golocksParkActPARK_RELEASE, golocksParkActPARK_READY, golocksParkActPARK_CLOSED, golocksParkActPARK_CLOSING:
		f := &recording.Unpark{
			Thread: d.actor(h), Goroutine: recording.GoroutineID(e.Goid), Parent: recording.GoroutineID(e.ParentGoid),
			Word: int64(e.Word), Woken: recording.GoroutineID(e.Woken), Stack: d.goStack(h.Tgid, b),
		}
		if act != golocksParkActPARK_RELEASE {
			f.Word = 0
		}
		d.emit(d.at, f)
	case golocksParkActPARK_STOP:
		d.golang.parks.stops[h.Tgid] = recording.Pause{Thread: d.actor(h), Since: d.at}
	case golocksParkActPARK_STOPPED:
		if stop, ok := d.golang.parks.stops[h.Tgid]; ok {
			stop.Stopped = d.at
			d.golang.parks.stops[h.Tgid] = stop
		}
	case golocksParkActPARK_START:
		if stop, ok := d.golang.parks.stops[h.Tgid]; ok {
			delete(d.golang.parks.stops, h.Tgid)
			d.emit(d.at, &stop)
		}
	default:
		if e.Goid != 0 && len(d.golang.parks.waits) < maxParked {
			d.golang.parks.waits[key] = parked{d.parkBegin(h, e, b), setOf(act)}
		}
	}
}

// parkBegin makes the wait that an event begins. Words lie within the object that is waited for: a mutex has its
// word behind its state; a sync.RWMutex begins with a mutex, and its other words follow.
func (d *decoder) parkBegin(h *probesHead, e *golocksParkEvent, b []byte) recording.Park {
	f := recording.Park{
		Left: d.actor(h), Goroutine: recording.GoroutineID(e.Goid), Parent: recording.GoroutineID(e.ParentGoid), Since: d.at,
		Word: int64(e.Word), Object: int64(e.Word), Stack: d.goStack(h.Tgid, b),
	}
	switch golocksParkAct(e.Act) {
	case golocksParkActPARK_BEGIN_MUTEX:
		f.Reason, f.Object = recording.ParkMutex, f.Word-4
	case golocksParkActPARK_BEGIN_READ:
		f.Reason, f.Object = recording.ParkRead, f.Word-12
	case golocksParkActPARK_BEGIN_WRITE:
		f.Reason, f.Object = recording.ParkWrite, f.Word-8
	case golocksParkActPARK_BEGIN_GROUP:
		f.Reason = recording.ParkWaitGroup
	case golocksParkActPARK_BEGIN_COND:
		f.Reason = recording.ParkCond
	case golocksParkActPARK_BEGIN_RECEIVE:
		f.Reason, f.Word = recording.ParkReceive, 0
	case golocksParkActPARK_BEGIN_SEND:
		f.Reason, f.Word = recording.ParkSend, 0
	case golocksParkActPARK_BEGIN_SELECT:
		f.Reason = recording.ParkSelect
	case golocksParkActPARK_BEGIN_COLLECTOR:
		f.Reason = recording.ParkCollector
	case golocksParkActPARK_BEGIN_SLEEP:
		f.Reason = recording.ParkSleep
	}
	return f
}

func (d *decoder) parkEnd(h *probesHead, key parkKey) {
	p, ok := d.golang.parks.waits[key]
	if !ok {
		return // it began before the probes were attached
	}
	delete(d.golang.parks.waits, key)
	p.fact.Thread = d.actor(h)
	d.emit(d.at, &p.fact)
}

// forgetParks drops the waits that began, up to a time, under a set of probes that was detached then.
func (d *decoder) forgetParks(set int, before recording.Time) {
	for k, p := range d.golang.parks.waits {
		if p.set == set && p.fact.Since <= before {
			delete(d.golang.parks.waits, k)
		}
	}
}

// unseen records that a set of probes was away.
func (d *decoder) unseen(process recording.ProcessID, what string, a absence) {
	if a.from < a.to {
		d.emit(a.to, &recording.Unseen{Process: process, What: what, From: a.from})
	}
}

// finishParks records the goroutines that still wait.
func (d *decoder) finishParks() {
	for k, p := range d.golang.parks.waits {
		if q := d.processes[k.tgid]; q == nil || q.ended != recording.NoTime {
			continue
		}
		p.fact.Thread, p.fact.Open = p.fact.Left, 1
		d.emit(d.now, &p.fact)
	}
	clear(d.golang.parks.waits)
}

// goStack returns the stack that came with an event. Each address but the first is a return address.
func (d *decoder) goStack(tgid uint32, b []byte) recording.StackID {
	p := &d.golang.parks
	table := p.tables[tgid]
	if table == nil || len(b) < int(unsafe.Sizeof(golocksParkStack{})) {
		return recording.NoStack
	}
	s := view[golocksParkStack](b)
	n := min(int(s.E.Bytes/8), len(s.Stack)-1)
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&s.Stack[0])), 8*len(s.Stack))
	key, known := string(raw[:8*n])+string(raw[len(raw)-8:]), p.known[tgid]
	if id, ok := known[key]; ok {
		return id
	}
	id := recording.NoStack
	caller := s.Stack[len(s.Stack)-1]
	for i := n - 1; i >= 1; i-- {
		if s.Stack[i] != caller {
			id = p.push(id, table.Frames(s.Stack[i]-1))
		}
	}
	if frames := table.Frames(caller - 1); frames != nil { // else the probe was not at a function's entry
		id = p.push(id, frames)
	}
	if n > 0 {
		id = p.push(id, table.Frames(s.Stack[0]))
	}
	if len(known) < maxGoStacks {
		known[key] = id
	}
	return id
}

// push puts a function, and the functions inlined into it, on top of a stack.
func (p *parkDecoder) push(caller recording.StackID, frames []target.GoFrame) recording.StackID {
	for i := len(frames) - 1; i >= 0; i-- {
		f := goFrame(frames[i])
		frame, ok := p.frames[f]
		if !ok {
			frame = firstGoStack + recording.FrameID(len(p.frames))
			p.frames[f] = frame
			f.ID = frame
			p.fresh = append(p.fresh, &f)
		}
		node := goStackNode{caller, frame}
		id, ok := p.stacks[node]
		if !ok {
			id = firstGoStack + recording.StackID(len(p.stacks))
			p.stacks[node] = id
			p.fresh = append(p.fresh, &recording.Stack{ID: id, Caller: caller, Frame: frame})
		}
		caller = id
	}
	return caller
}

// declared returns the frames and stacks that were not returned before.
func (p *parkDecoder) declared() []recording.Fact {
	out := p.fresh
	p.fresh = nil
	return out
}
