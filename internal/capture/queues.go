//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// queueProbes tell who put the work into queues that threads of Python take from them.
type queueProbes struct {
	mu      sync.Mutex
	objects queuesObjects
	set     *probeSet // nil: they are not loaded
	err     error     // why not
	notes   []recording.Missing
	waits   map[int]struct{} // the processes that have yet to load what queues are in
}

const (
	// queueShare is what they may cost, of one CPU.
	queueShare = 0.03
	// queueTraps is what a hit costs, in halves of what the trap of a probe does that is
	// measured: what takes an item returns, which traps twice, and both hold the interpreter's
	// lock meanwhile. In a virtual machine a hit took a busy service 14 to 24 us.
	queueTraps = 5
	// missingQueues is the code of what is missing.
	missingQueues = "queues"
)

// load brings the programs into the kernel, once, and finds out what a hit costs.
func (q *queueProbes) load(s *Session) error {
	if q.set != nil || q.err != nil {
		return q.err
	}
	if err := s.loadInto(&q.objects, "python-queues", loadQueues); err != nil {
		q.err = fmt.Errorf("load the programs for queues of Python: %w", err)
		return q.err
	}
	s.keep(&q.objects)
	q.set = &probeSet{what: "who put work into queues of Python", code: missingQueues, name: "queues",
		hit: s.trapCost(q.objects.QueuePut) * queueTraps / 2, hits: func() (uint64, time.Duration) { return hitsOf(q.objects.QueueCosts, 0) }}
	s.goLedgers.enter(&s.goLedgers.queues, q.set)
	return nil
}

// hook hooks up the probes on a process; an error says what stands in the way. It fails with
// target.ErrNotReady while the process has loaded no queues.
func (q *queueProbes) hook(s *Session, pid int) error {
	found, err := s.files.FindPythonQueues(pid)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.load(s); err != nil {
		return err
	}
	var probes []probe
	for _, at := range found.Puts { // the program of these first: what takes an item ends what they begin
		probes = append(probes, probe{probeSite{pid, found.File, at}, q.objects.QueuePut})
	}
	for _, at := range found.Returns {
		probes = append(probes, probe{probeSite{pid, found.File, at}, q.objects.QueueTaken})
	}
	return q.set.add(probes)
}

// hookQueues hooks up the probes on a Python process, now or once it has loaded what queues
// are in.
func (s *Session) hookQueues(pid int) {
	if err := s.queues.hook(s, pid); !errors.Is(err, target.ErrNotReady) {
		s.queues.note(err)
		return
	}
	if !s.queues.await(pid) {
		return
	}
	s.workers.Go(func() {
		defer s.queues.awaited(pid)
		deadline := time.Now().Add(resolveFor)
		for wait := 20 * time.Millisecond; s.pause(wait); wait = min(2*wait, time.Second) {
			if err := s.queues.hook(s, pid); !errors.Is(err, target.ErrNotReady) {
				s.queues.note(err)
				return
			}
			if time.Now().After(deadline) {
				wait = pythonRetry // it may never use one
			}
		}
	})
}

// await notes that a process is waited for; false: it was before.
func (q *queueProbes) await(pid int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.waits[pid]; known {
		return false
	}
	if q.waits == nil {
		q.waits = map[int]struct{}{}
	}
	q.waits[pid] = struct{}{}
	return true
}

// awaited notes that it no longer is.
func (q *queueProbes) awaited(pid int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waits, pid)
}

// hookQueuesLater does so beside the recording: the kernel takes its time.
func (s *Session) hookQueuesLater(p target.Process) {
	if p.Runtime == recording.RuntimePython {
		s.workers.Go(func() { s.hookQueues(p.PID) })
	}
}

// note keeps what stood in the way, to be written by the goroutine that records.
func (q *queueProbes) note(err error) {
	if err == nil || gone(err) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notes = append(q.notes, missingFact(missingQueues, err.Error()))
}

// takeNotes hands over what stood in the way.
func (q *queueProbes) takeNotes() []recording.Missing {
	q.mu.Lock()
	defer q.mu.Unlock()
	notes := q.notes
	q.notes = nil
	return notes
}

// taken decodes that a thread took an item from a queue.
func (d *decoder) taken(h *probesHead, e *queuesTakenEvent) {
	f := &recording.Taken{Thread: d.actor(h)}
	if e.Put != 0 {
		ids := probesRuntimeIds{Contexts: e.Ids.Contexts, Context: e.Ids.Context, From: e.Ids.From}
		putter := d.threadOf(e.PutterTid, e.PutterStart, h.Tgid)
		f.Putter, f.Put, f.Context = d.use(putter), recording.Time(e.Put), d.context(h.Tgid, &ids)
		f.Queue, f.Executor = int64(e.Queue), int64(e.Executor)
	}
	d.emit(d.at, f)
}
