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

// queueProbes report which thread put the work into queues from which Python threads take it.
type queueProbes struct {
	mu      sync.Mutex
	objects queuesObjects
	set     *probeSet // nil: not loaded
	err     error     // why they could not be loaded
	notes   []recording.Missing
	waits   map[int]struct{} // processes that have not loaded the queue module yet
}

const (
	// queueShare is the share of one CPU that they may cost.
	queueShare = 0.03
	// queueTraps is the cost of a hit in halves of the measured cost of a probe's trap. Taking an item returns, which
	// traps twice, and both traps hold the interpreter's lock. In a virtual machine a hit cost a busy service 14 to
	// 24 us.
	queueTraps = 5
	// missingQueues is the code of the Missing facts.
	missingQueues = "queues"
)

// load loads the programs into the kernel, once, and determines the cost of a hit.
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

// hook attaches the probes to a process; the error says what prevents that. It is target.ErrNotReady while the
// process has loaded no queues.
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
	for _, at := range found.Puts { // first, because taking an item ends what a put begins
		probes = append(probes, probe{probeSite{pid, found.File, at}, q.objects.QueuePut})
	}
	for _, at := range found.Returns {
		probes = append(probes, probe{probeSite{pid, found.File, at}, q.objects.QueueTaken})
	}
	return q.set.add(probes)
}

// hookQueues attaches the probes to a Python process, now or when it has loaded the queue module.
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

// await records that we wait for a process; it returns false if we already do.
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

// awaited records that we no longer wait for a process.
func (q *queueProbes) awaited(pid int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waits, pid)
}

// hookQueuesLater calls hookQueues in the background, because the kernel takes long.
func (s *Session) hookQueuesLater(p target.Process) {
	if p.Runtime == recording.RuntimePython {
		s.workers.Go(func() { s.hookQueues(p.PID) })
	}
}

// note keeps an error, to be written by the recording goroutine.
func (q *queueProbes) note(err error) {
	if err == nil || gone(err) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notes = append(q.notes, missingFact(missingQueues, err.Error()))
}

// takeNotes returns the errors, and clears them.
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
