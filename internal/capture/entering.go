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

// What is chosen by where it runs (a container, a pod, a unit) is entered by processes that are
// no children of those that are watched (docker exec, a container of the pod that starts later).
// It is asked who did as often as the ring is emptied, and they are watched from then on: what
// they did before, 25 ms at most unless there is much to ask, is not recorded.

// enteringShare bounds what asking costs: one part in so many of a processor.
const enteringShare = 100

// enteredAtOnce bounds how many that entered are watched before it is asked again: the others
// are left out, and it is said.
const enteredAtOnce = 64

// entrance is who enters what is watched.
type entrance struct {
	busy bool      // somebody is being looked at
	next time.Time // it is not asked before
}

// newcomer is a process that entered.
type newcomer struct {
	process   target.Process
	listeners []target.Listener
}

// followEntered has whoever entered watched from now on. To look at them is left to another
// goroutine: a file system that does not answer is waited for.
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

// admitEntered watches those that entered. One that the kernel no longer knows then has ended before, unseen.
func (s *Session) admitEntered(all []newcomer) error {
	s.entrance.busy = false
	for _, n := range all {
		err := s.openPorts(n.process.PID, n.listeners)
		if err == nil {
			err = s.use(n.process.PID, new(probesWatch), ebpf.UpdateNoExist) // its parent may be watched by now, and so it is
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
			_ = s.objects.Watched.Delete(pid) // its end may have done so
			continue
		}
		if p := s.decoder.processes[pid]; p != nil && p.ended == recording.NoTime {
			continue // its parent told of it
		}
		s.decoder.at = max(clock(), s.decoder.now)
		s.declare(n.process, n.listeners)
		s.roots = append(s.roots, n.process.PID)
		for i := range threads[pid] {
			s.decoder.adoptTask(&threads[pid][i])
			if s.paused == recording.NoTime { // else all are told of when it goes on
				s.decoder.threadState(&threads[pid][i])
			}
		}
		s.resolveLater(n.process.PID)
	}
	return nil
}
