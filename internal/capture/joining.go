//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/internal/capture/unwind"
	"github.com/getdwell/dwell/recording"
)

// What a session that is to begin soon (Options.Soon) does not wait for joins it while it
// records: the ids of runtimes, by which calls are given to requests, and then what names
// calls over TLS and takes stacks. One goroutine finds and
// loads all of it, one thing after the other, so that it takes one processor at most; what
// it found it hands to the goroutine that records.

// joining is what is still to come.
type joining struct {
	waiting []target.Process    // of whose runtimes nothing was looked for yet
	idless  map[uint32]struct{} // watched, by pid, whose ids are not recorded yet
	found   chan func() error   // for the goroutine that records
	over    bool                // nothing is to come
}

// idsUnseen is the code of Unseen for the ids of a runtime: what its process did meanwhile may
// be given to nobody, or to the wrong one.
const idsUnseen = "ids"

// searchedFirst bounds how many processes are looked into before stacks are taken. Of those
// that a server forked, one is like the other.
const searchedFirst = 8

// await notes a process whose runtime is to be looked into.
func (j *joining) await(p target.Process) {
	j.waiting = append(j.waiting, p)
	switch p.Runtime {
	case recording.RuntimeGo, recording.RuntimeNode, recording.RuntimePython:
		if j.idless == nil {
			j.idless = map[uint32]struct{}{}
		}
		j.idless[uint32(p.PID)] = struct{}{}
	}
}

// startJoining begins with it. Where nothing was left for later, all is there at once.
func (s *Session) startJoining() {
	if !s.opts.Soon {
		allLoaded(s)
		s.allJoined()
		return
	}
	waiting := s.joining.waiting
	first := waiting[:min(len(waiting), searchedFirst)]
	s.joining.waiting = nil
	s.workers.Go(func() {
		promptly(func() {
			going := s.joinIDs(first) && s.joinTLS() && s.hand(func() error {
				allLoaded(s)
				return nil
			}) && s.joinStacks()
			if going && s.hand(func() error { return s.haveJoined() }) {
				s.joinIDs(waiting[len(first):])
			}
		})
	})
}

// allLoaded gives back what it took to load the recorder's programs, and to find what they are attached to.
func allLoaded(s *Session) {
	for _, l := range s.order {
		if l.object != nil { // else the kernel refused its maps
			l.object.allLoaded()
		}
	}
	s.files.Release()
	s.loading.done()
}

// hand passes something to the goroutine that records, to be put to use; false when the
// session is over.
func (s *Session) hand(use func() error) bool {
	select {
	case s.joining.found <- use:
		return true
	case <-s.done:
		return false
	}
}

// joinIDs looks for the ids of processes. It rests after each of many: they are found one
// after the other, at half of a processor.
func (s *Session) joinIDs(of []target.Process) bool {
	for i, p := range of {
		began := time.Now()
		r := s.resolve(p, nil)
		missing := append(s.hookPython(p.PID, &r.python), s.hookNode(&r.node)...)
		if p.Runtime == recording.RuntimePython {
			s.hookQueues(p.PID)
		}
		if !s.hand(func() error { return s.useIDs(r, missing) }) {
			return false
		}
		if errors.Is(r.err, target.ErrNotReady) {
			s.resolveLater(p.PID)
		}
		if i >= searchedFirst && !s.pause(time.Since(began)) {
			return false
		}
	}
	return true
}

// useIDs puts to use what was found of the runtime of a process that was there before.
func (s *Session) useIDs(r resolution, missing []recording.Missing) error {
	pid := r.process.PID
	s.decoder.note(append(r.missing(), missing...))
	if r.err != nil {
		delete(s.joining.idless, uint32(pid)) // it has none, none yet, or none that can be read
		return nil
	}
	s.knowGo(&r.golang)
	s.hookGoLater(&r.golang)
	err := s.use(pid, &r.watch, useExisting)
	if _, hooking := s.unhooked[uint32(pid)]; !hooking { // else when that is done: it tells whose calls are whose
		s.idsSeen(uint32(pid), clock())
	}
	return err
}

// idsSeen notes since when the ids of a process are recorded.
func (s *Session) idsSeen(pid uint32, since recording.Time) {
	if _, was := s.joining.idless[pid]; !was {
		return
	}
	delete(s.joining.idless, pid)
	if p := s.decoder.processes[pid]; p != nil {
		s.decoder.unseen(p.fact.ID, idsUnseen, absence{max(p.began, s.begun), since})
	}
}

// joinTLS loads the programs that name calls over TLS, and looks for libraries.
func (s *Session) joinTLS() bool {
	if s.opts.TLSHeads.PerSecond <= 0 {
		return true
	}
	p, err := s.loadTLS(s.opts.TLSHeads)
	return s.hand(func() error {
		if s.useTLS(p, err); s.tls != nil {
			pids := s.living()
			s.workers.Go(func() {
				for _, pid := range pids {
					s.lookTLS(pid, false)
				}
			})
		}
		return nil
	})
}

// joinStacks loads the profiler and has it examine the processes.
func (s *Session) joinStacks() bool {
	if !s.opts.Stacks.On {
		return true
	}
	type started struct {
		u   *unwind.Unwinder
		err error
	}
	// The kernel takes seconds on a host with nothing to spare. A session that ends meanwhile
	// does not wait for it.
	options, err := s.unwindOptions()
	if err != nil {
		return s.hand(func() error { return s.useStacks(nil, err) })
	}
	came := make(chan started, 1)
	go func() {
		defer options.Watched.Close()
		defer options.Hints.Close()
		defer options.Threads.Close()
		promptly(func() {
			u, err := s.startUnwinder(options)
			came <- started{u, err}
		})
	}()
	var got started
	select {
	case got = <-came:
	case <-s.done:
		go func() {
			if late := <-came; late.u != nil {
				late.u.Close()
			}
		}()
		return false
	}
	if got.err == nil {
		s.awaitExamined(got.u, s.roots)
	}
	if s.hand(func() error { return s.useStacks(got.u, got.err) }) {
		return true
	}
	if got.u != nil {
		got.u.Close()
	}
	return false
}

// unwindOptions are those of the profiler, with maps of its own: the session may end while
// it loads.
func (s *Session) unwindOptions() (o unwind.Options, err error) {
	o = unwind.Options{Gap: s.opts.Stacks.Gap, Period: s.opts.Stacks.Period}
	for _, pid := range s.roots {
		o.Python = o.Python || s.mayRunPython(pid)
	}
	if o.Watched, err = s.objects.Watched.Clone(); err != nil {
		return o, err
	}
	if o.Hints, err = s.objects.WatchedHints.Clone(); err != nil {
		return o, errors.Join(err, o.Watched.Close())
	}
	if o.Threads, err = s.objects.Spans.Clone(); err != nil {
		return o, errors.Join(err, o.Watched.Close(), o.Hints.Close())
	}
	return o, nil
}

// useStacks takes stacks from now on, or says why not.
func (s *Session) useStacks(u *unwind.Unwinder, err error) error {
	if err != nil {
		s.noStacks(err)
		return nil
	}
	s.haveUnwinder(u)
	for pid := range s.decoder.processes {
		if p := s.decoder.processes[pid]; p.ended == recording.NoTime && p.began > s.begun {
			s.examineStacks(target.Process{PID: int(pid), Runtime: p.fact.Runtime})
		}
	}
	for pid, table := range s.decoder.golang.parks.tables {
		s.nameGo(&goFound{pid: int(pid), table: table})
	}
	return u.Begin()
}

// living are the pids of the watched processes that live.
func (s *Session) living() (pids []int) {
	for pid, p := range s.decoder.processes {
		if p.ended == recording.NoTime {
			pids = append(pids, int(pid))
		}
	}
	return pids
}

// haveJoined notes that all is there now.
func (s *Session) haveJoined() error {
	s.decoder.note([]recording.Missing{{What: "joining", Count: 1, Timed: 1, Why: fmt.Sprintf(
		"stacks and calls over TLS: not seen for the first %d ms, while what sees them was loaded beside the recording",
		(clock()-s.begun)/1e6)}})
	s.allJoined()
	debug.FreeOSMemory() // what was needed to find it all is garbage
	s.before = s.measure()
	return nil
}

func (s *Session) allJoined() {
	s.joining.over = true
	if s.opts.Joined != nil {
		s.opts.Joined()
	}
}

// finishJoining tells what did not come before the recording ended.
func (s *Session) finishJoining() {
	for pid := range s.joining.idless {
		s.idsSeen(pid, clock())
	}
	if !s.joining.over {
		s.decoder.note([]recording.Missing{missingFact("joining",
			"stacks and calls over TLS: not seen, or not all of them, as the recording ended before what sees them was loaded")})
	}
}
