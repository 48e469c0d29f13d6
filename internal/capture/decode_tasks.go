//go:build linux && (amd64 || arm64)

package capture

import (
	"fmt"
	"github.com/getdwell/dwell/internal/capture/processor"
	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// threadKey distinguishes a thread from a later one with the same number.
type threadKey struct {
	tid   uint32
	start uint64
}

// process is kept for some time after its end, because its last events may arrive later.
type process struct {
	fact  recording.Process
	began recording.Time
	ended recording.Time
	execs []recording.Time // new programs that were not described yet
}

// thread is declared when the first fact names it, so that the declaration contains the name that it sets right after
// it starts.
type thread struct {
	fact     recording.Thread
	began    recording.Time
	ended    recording.Time
	declared bool
}

// described declares a process that existed before the recording, or updates what is known about it.
func (d *decoder) described(p target.Process) {
	if p.Unread != nil {
		d.note([]recording.Missing{missingFact("runtimes", fmt.Sprintf("%s: its executable is not looked into: %v", p.Comm, p.Unread))})
	}
	if p.Unsaid != nil {
		d.noteOnce([]recording.Missing{missingFact("versions", fmt.Sprintf("%s: %v", p.Comm, p.Unsaid))})
	}
	old, ok := d.processes[uint32(p.PID)]
	if !ok || old.ended != recording.NoTime {
		d.addProcess(uint32(p.PID), recording.Process{
			Start: p.Start, Comm: p.Comm, Exe: p.Exe, Runtime: p.Runtime, Build: p.Build, Version: p.Version, CPUs: p.CPUs,
			Parent: d.processID(uint32(p.Parent)),
		})
		return
	}
	for _, t := range old.execs {
		d.emit(t, &recording.Exec{Process: old.fact.ID, Comm: p.Comm, Exe: p.Exe, Runtime: p.Runtime, Build: p.Build, Version: p.Version})
	}
	old.execs = nil
	old.fact.Comm, old.fact.Exe, old.fact.Runtime, old.fact.Build, old.fact.Version = p.Comm, p.Exe, p.Runtime, p.Build, p.Version
}

func (d *decoder) addProcess(tgid uint32, f recording.Process) *process {
	d.last.process++
	f.ID, f.PID = d.last.process, int64(tgid)
	p := &process{fact: f, began: d.at}
	d.processes[tgid] = p
	d.emit(d.at, &f)
	return p
}

func (d *decoder) processID(tgid uint32) recording.ProcessID {
	if p, ok := d.processes[tgid]; ok {
		return p.fact.ID
	}
	return recording.NoProcess
}

// processOf finds the process of a thread, and describes it if the event of its start was lost.
func (d *decoder) processOf(tgid uint32) *process {
	if p, ok := d.processes[tgid]; ok {
		return p
	}
	found, err := d.describe(int(tgid))
	if err != nil {
		d.note([]recording.Missing{missingFact("process", "a process ended before it could be described")})
		p := d.addProcess(tgid, recording.Process{})
		p.ended = d.now
		return p
	}
	d.described(found)
	return d.processes[tgid]
}

// threadOf finds a thread or adds it.
func (d *decoder) threadOf(tid uint32, start uint64, tgid uint32) *thread {
	key := threadKey{tid, start}
	if d.acted != nil && d.actedKey == key {
		return d.acted
	}
	t, ok := d.threads[key]
	if !ok {
		t = d.addThread(key, tgid, d.at)
	}
	d.acted, d.actedKey = t, key
	return t
}

func (d *decoder) addThread(key threadKey, tgid uint32, began recording.Time) *thread {
	p := d.processOf(tgid)
	d.last.thread++
	t := &thread{began: began, fact: recording.Thread{
		ID: d.last.thread, TID: int64(key.tid), Start: int64(key.start),
		Process: p.fact.ID, Name: p.fact.Comm,
	}}
	d.threads[key] = t
	d.acted = nil // it may be an earlier thread with the same number
	d.latest[key.tid] = t
	return t
}

// use declares a thread if necessary; every fact that names a thread gets its id here.
func (d *decoder) use(t *thread) recording.ThreadID {
	if !t.declared {
		t.declared = true
		f := t.fact
		d.emit(t.began, &f)
	}
	return t.fact.ID
}

// actor returns the watched thread in the head of an event, or NoThread.
func (d *decoder) actor(h *probesHead) recording.ThreadID {
	if h.Tid == 0 {
		return recording.NoThread
	}
	return d.use(d.threadOf(h.Tid, h.Start, h.Tgid))
}

func (d *decoder) task(e *probesTaskEvent) {
	switch probesEventType(e.H.Type) {
	case probesEventTypeEVENT_FORK:
		d.fork(e)
	case probesEventTypeEVENT_EXEC:
		d.exec(e)
	case probesEventTypeEVENT_EXIT:
		d.exit(e)
	case probesEventTypeEVENT_RENAME:
		t := d.threadOf(e.H.Tid, e.H.Start, e.H.Tgid)
		t.fact.Name = cString(e.Comm[:])
	}
}

// fork adds a new thread, and its process if it is the first thread.
func (d *decoder) fork(e *probesTaskEvent) {
	if e.H.Tid == e.H.Tgid {
		parent := d.processOf(e.CreatorTgid)
		child := d.addProcess(e.H.Tgid, recording.Process{
			Start: int64(e.H.Start), Parent: parent.fact.ID,
			Comm: cString(e.Comm[:]), Exe: parent.fact.Exe, Runtime: parent.fact.Runtime, Build: parent.fact.Build, Version: parent.fact.Version, CPUs: parent.fact.CPUs,
		})
		if len(parent.execs) > 0 { // its parent's program was not described yet either
			d.newProgram(child, e.H.Tgid)
		} else if parent.fact.Runtime == recording.RuntimePython {
			d.python.forks = append(d.python.forks, e.H.Tgid)
		}
		d.plain.forks = append(d.plain.forks, forked{e.CreatorTgid, e.H.Tgid})
	}
	key := threadKey{e.H.Tid, e.H.Start}
	t := d.threads[key]
	if t == nil {
		t = d.addThread(key, e.H.Tgid, d.at)
		t.fact.Name = cString(e.Comm[:])
	}
	t.began = d.at // it may have been listed before the event of its start was read from the ring
	t.fact.Creator = d.use(d.threadOf(e.CreatorTid, e.CreatorStart, e.CreatorTgid))
	t.fact.Context = recording.ContextID(e.CreatorContext)
}

// exec records a new program. The thread that called exec takes over the number and the start time of the process's
// first thread. If it was another thread, the first one has ended.
func (d *decoder) exec(e *probesTaskEvent) {
	d.endThread(e.OldTid, e.H.Tgid)
	p := d.processOf(e.H.Tgid)
	d.newProgram(p, e.H.Tgid)
	key := threadKey{e.H.Tid, e.H.Start}
	if t, ok := d.threads[key]; !ok || t.ended != recording.NoTime {
		d.addThread(key, e.H.Tgid, d.at)
	}
	d.threads[key].fact.Name = cString(e.Comm[:])
}

// newProgram notes that a process now runs a program that has to be described.
func (d *decoder) newProgram(p *process, tgid uint32) {
	p.execs = append(p.execs, d.at)
	d.execs = append(d.execs, tgid)
}

// endThread ends the thread that called exec, unless it was the first one: it continues under the first thread's
// number.
func (d *decoder) endThread(tid, tgid uint32) {
	if tid == tgid {
		return
	}
	for key, t := range d.threads {
		if key.tid == tid && t.ended == recording.NoTime {
			d.emit(d.at, &recording.ThreadExit{Thread: d.use(t)})
			t.ended = d.at
		}
	}
}

func (d *decoder) exit(e *probesTaskEvent) {
	t := d.threadOf(e.H.Tid, e.H.Start, e.H.Tgid)
	if t.ended == recording.NoTime {
		d.emit(d.at, &recording.ThreadExit{Thread: d.use(t)})
		t.ended = d.at
	}
	p := d.processOf(e.H.Tgid)
	if e.Last == 0 || p.ended != recording.NoTime {
		return
	}
	d.emit(d.at, &recording.ProcessExit{Process: p.fact.ID})
	d.ended = append(d.ended, e.H.Tgid)
	d.golang.parks.end(e.H.Tgid)
	p.ended = d.at
}

// alive reports whether any watched process is alive.
func (d *decoder) alive() bool {
	for _, p := range d.processes {
		if p.ended == recording.NoTime {
			return true
		}
	}
	return false
}

// forgetTasks drops threads and processes that ended long ago.
func (d *decoder) forgetTasks() {
	d.acted = nil
	for key, t := range d.threads {
		if t.ended != recording.NoTime && d.now.Sub(t.ended) > keepEnded {
			delete(d.threads, key)
			if d.latest[key.tid] == t {
				delete(d.latest, key.tid)
			}
		}
	}
	for tgid, p := range d.processes {
		if p.ended != recording.NoTime && d.now.Sub(p.ended) > keepEnded {
			delete(d.processes, tgid)
		}
	}
}

// adoptTask adds a thread that existed when watching began.
func (d *decoder) adoptTask(r *probesTaskRecord) {
	key := threadKey{r.Tid, r.Start}
	if _, ok := d.threads[key]; ok {
		return
	}
	t := d.addThread(key, r.Tgid, d.at)
	t.fact.Name = cString(r.Comm[:])
}

// threadState records what a thread does at an end of the recording or of a window.
func (d *decoder) threadState(r *probesTaskRecord) {
	f := &recording.ThreadState{Thread: d.use(d.threadOf(r.Tid, r.Start, r.Tgid))}
	if probesOffState(r.State) == probesOffStateOFF_RUNNING {
		f.On = 1
	} else {
		f.State = recording.OffState(r.State)
		f.Since = recording.Time(r.Since)
		f.Syscall = processor.SyscallName(r.Nr)
	}
	d.emit(recording.Time(r.Ts), f)
}

// off passes on a span, unless the thread is only being taken down.
func (d *decoder) off(e *probesOffEvent) {
	if d.threadOf(e.H.Tid, e.H.Start, e.H.Tgid).ended != recording.NoTime {
		return
	}
	f := &recording.Off{
		Thread: d.actor(&e.H), Since: recording.Time(e.Since), Woken: recording.Time(e.Woken),
		State: recording.OffState(e.State), WakerKind: recording.WakerKind(e.WakerKind),
		Release: int64(e.Release), CPU: int64(e.H.Cpu), Syscall: processor.SyscallName(e.Nr),
		Arg: int64(e.Arg), Timed: int64(e.Timed), Goroutine: recording.GoroutineID(e.Goid),
		Counter: asyncID(e.Counter), SP: int64(e.Sp), Ran: int64(e.Ran),
		Usage: recording.Usage{Minor: int64(e.Minor), Major: int64(e.Major), Fetched: int64(e.Fetched), In: int64(e.In), Out: int64(e.Out)},
	}
	f.Ahead, f.Program = d.programs.ahead(e.Ahead, d.processes)
	if e.Ino != 0 {
		f.File = d.fileOf(fileKey{e.Ino, e.Dev})
	}
	if e.Owner != 0 {
		f.Owner = d.owner(e)
	}
	if f.WakerKind == recording.WakerThread {
		f.Waker = d.use(d.threadOf(e.WakerTid, e.WakerStart, e.WakerTgid))
		f.Context = recording.ContextID(e.WakerContext)
	}
	d.emit(d.at, f)
}

// owner returns the thread that a mutex names. The value is valid only if it is a thread of the waiting process;
// otherwise the address may not hold a mutex.
func (d *decoder) owner(e *probesOffEvent) recording.ThreadID {
	t := d.latest[e.Owner]
	if t == nil || e.Owner == e.H.Tid || t.fact.Process != d.processID(e.H.Tgid) || t.ended != recording.NoTime {
		return recording.NoThread
	}
	return d.use(t)
}

func (d *decoder) boundary(e *probesBoundaryEvent) {
	what := [...]string{
		probesBoundaryKindBOUNDARY_TIMERS: "timers", probesBoundaryKindBOUNDARY_IMMEDIATES: "immediates",
		probesBoundaryKindBOUNDARY_RESOLVED: "resolved", probesBoundaryKindBOUNDARY_DONE: "done",
		probesBoundaryKindBOUNDARY_POSTED: "posted", probesBoundaryKindBOUNDARY_MESSAGES: "messages", probesBoundaryKindBOUNDARY_MESSAGE: "message",
		probesBoundaryKindBOUNDARY_TAKES: "takes", probesBoundaryKindBOUNDARY_AWAITED: "awaited",
		probesBoundaryKindBOUNDARY_MOVED: "moved",
	}[e.What]
	fact := &recording.Boundary{Thread: d.actor(&e.H), Exec: asyncID(e.Ids.Exec), Counter: asyncID(e.Ids.Counter), What: what}
	switch probesBoundaryKind(e.What) {
	case probesBoundaryKindBOUNDARY_RESOLVED, probesBoundaryKindBOUNDARY_DONE, probesBoundaryKindBOUNDARY_POSTED, probesBoundaryKindBOUNDARY_AWAITED:
		fact.Trigger = asyncID(e.Ids.Trigger)
	}
	if fact.Waiter = int64(e.Waiter); fact.What == "moved" {
		fact.To = int64(e.Ids.Goid)
	} else {
		fact.Port = asyncID(e.Ids.Goid)
	}
	d.emit(d.at, fact)
}

// nodeSpent notes that a Node process has used up the budget for reporting its callbacks.
func (d *decoder) nodeSpent(h *probesHead) {
	if nodeNodeEventType(h.Type) == nodeNodeEventTypeEVENT_WORK_SPENT {
		d.node.workSpent = append(d.node.workSpent, h.Tgid)
		return
	}
	d.node.promisesSpent = append(d.node.promisesSpent, h.Tgid)
	d.emit(d.at, &recording.Boundary{Thread: d.actor(h), What: "spent"})
}

// aheadUnseen is AHEAD_UNSEEN in bpf/abi.h.
const aheadUnseen = ^uint32(0)

// programs are the processes that had a CPU before a watched thread.
type programs struct{ names target.Programs }

// ahead returns what had a CPU, and the name of a program that is not watched.
func (p *programs) ahead(pid uint32, watched map[uint32]*process) (recording.Ahead, string) {
	switch {
	case pid == aheadUnseen:
		return recording.AheadUnknown, ""
	case pid == 0:
		return recording.AheadIdle, ""
	case watched[pid] != nil:
		return recording.AheadWatched, ""
	}
	return recording.AheadOther, p.names.Name(pid)
}
