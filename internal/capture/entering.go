//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// If the target is a container, a pod or a unit, processes can enter it that are not children of watched processes
// (docker exec, a container of the pod that starts later). The session asks for such processes as often as it empties
// the ring, and watches them from then on. What they did before is not recorded: 25 ms at most, unless asking takes
// long.

// enteringShare bounds the cost of asking: one part in this many of a processor.
const enteringShare = 100

// enteredAtOnce bounds how many new processes are watched after one question. Further ones are left out, and a
// Missing fact reports that.
const enteredAtOnce = 64

// entrance is the state of looking for entering processes.
type entrance struct {
	busy bool      // new processes are being examined
	next time.Time // the next question is not before this time
}

// newcomer is a process that entered.
type newcomer struct {
	process   target.Process
	listeners []target.Listener
}

// followEntered starts watching processes that entered. Another goroutine examines them, because that may wait for a
// file system that does not answer.
func (s *Session) followEntered() {
	began := time.Now()
	if s.opts.Entered == nil || s.entrance.busy || s.paused != recording.NoTime || began.Before(s.entrance.next) {
		return
	}
	pids, err := s.opts.Entered()
	s.entrance.next = time.Now().Add(enteringShare * time.Since(began))
	if err != nil {
		s.decoder.noteOnce([]recording.Missing{missingFact("entering", fmt.Sprintf(
			"what is started from outside in what was chosen (docker exec) is not recorded: %v", err))})
	}
	var came []int
	for _, pid := range pids {
		if !s.watches(pid) {
			came = append(came, pid)
		}
	}
	if more := len(came) - enteredAtOnce; more > 0 {
		came = came[:enteredAtOnce]
		s.decoder.note([]recording.Missing{{What: "entering", Count: int64(more), Why: fmt.Sprintf(
			"processes that were started from outside in what was chosen are not recorded where there were more than %d at once", enteredAtOnce)}})
	}
	if len(came) == 0 {
		return
	}
	s.entrance.busy = true
	s.workers.Go(func() {
		var all []newcomer
		look := s.files.Look()
		for _, pid := range came {
			p, err := look.Info(pid)
			if err != nil {
				continue // it has ended
			}
			listeners, err := look.Listeners(pid)
			if err == nil {
				all = append(all, newcomer{p, listeners})
			}
		}
		s.hand(func() error { return s.admitEntered(all) })
	})
}

// admitEntered watches the processes that entered. A process that the kernel no longer knows by then has ended
// unseen.
func (s *Session) admitEntered(all []newcomer) error {
	s.entrance.busy = false
	for _, n := range all {
		err := s.openPorts(n.process.PID, n.listeners)
		if err == nil {
			err = s.use(n.process.PID, new(probesWatch), ebpf.UpdateNoExist) // its parent may be watched by now, and then so is the process
		}
		if err != nil && !gone(err) && !errors.Is(err, ebpf.ErrKeyExist) {
			return err
		}
	}
	threads := map[uint32][]probesTaskRecord{}
	s.dumpTasks(func(r *probesTaskRecord) { threads[r.Tgid] = append(threads[r.Tgid], *r) })
	for _, n := range all {
		pid := uint32(n.process.PID)
		if s.has("threads") && threads[pid] == nil {
			_ = s.objects.Watched.Delete(pid) // its end may have removed it
			continue
		}
		if p := s.decoder.processes[pid]; p != nil && p.ended == recording.NoTime {
			continue // its parent's fork event declared it
		}
		s.decoder.at = max(clock(), s.decoder.now)
		s.declare(n.process, n.listeners)
		s.roots = append(s.roots, n.process.PID)
		for i := range threads[pid] {
			s.decoder.adoptTask(&threads[pid][i])
			if s.paused == recording.NoTime { // otherwise all are listed when recording resumes
				s.decoder.threadState(&threads[pid][i])
			}
		}
		s.resolveLater(n.process.PID)
	}
	return nil
}
