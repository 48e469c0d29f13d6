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

// A session that begins soon (Options.Soon) does not wait for everything. The rest joins while it records: the ids of
// runtimes, which associate calls with requests, and then the programs that name calls over TLS and take stacks. One
// goroutine finds and loads these one after the other, so that this uses at most one processor. It passes the results
// to the recording goroutine.

// joining is the work that remains.
type joining struct {
	waiting []target.Process    // processes whose runtimes were not examined yet
	idless  map[uint32]struct{} // watched processes, by pid, whose ids are not recorded yet
	found   chan func() error   // for the recording goroutine
	over    bool                // nothing remains
}

// idsUnseen is the code of Unseen for the ids of a runtime: calls of its process may be unattributed meanwhile, or
// attributed to the wrong request.
const idsUnseen = "ids"

// searchedFirst bounds how many processes are examined before stacks are taken. Processes that a server forked are
// alike.
const searchedFirst = 8

// await adds a process whose runtime has to be examined.
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

// startJoining starts that work. If nothing was left for later, everything has already joined.
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

// allLoaded frees what was needed to load the recorder's programs and to find the places to which they are attached.
func allLoaded(s *Session) {
	for _, l := range s.order {
		if l.object != nil { // otherwise the kernel refused its maps
			l.object.allLoaded()
		}
	}
	s.files.Release()
	s.loading.done()
}

// hand passes a function to the recording goroutine, which calls it. It returns false if the session is over.
func (s *Session) hand(use func() error) bool {
	select {
	case s.joining.found <- use:
		return true
	case <-s.done:
		return false
	}
}

// joinIDs looks for the ids of processes, one after the other. After the first searchedFirst processes it rests as long
// as each search took, so that it uses half of a processor.
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

// useIDs applies what was found about the runtime of a process that existed before.
func (s *Session) useIDs(r resolution, missing []recording.Missing) error {
	pid := r.process.PID
	s.decoder.note(append(r.missing(), missing...))
	if r.err != nil {
		delete(s.joining.idless, uint32(pid)) // it has no ids, none yet, or none that can be read
		return nil
	}
	s.knowGo(&r.golang)
	s.hookGoLater(&r.golang)
	err := s.use(pid, &r.watch, useExisting)
	if _, hooking := s.unhooked[uint32(pid)]; !hooking { // otherwise when that is done: those probes show which request a call belongs to
		s.idsSeen(uint32(pid), clock())
	}
	return err
}

// idsSeen records since when the ids of a process are recorded.
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

// joinStacks loads the profiler and lets it examine the processes.
func (s *Session) joinStacks() bool {
	if !s.opts.Stacks.On {
		return true
	}
	type started struct {
		u   *unwind.Unwinder
		err error
	}
	// The kernel takes seconds for this on a busy host. A session that ends meanwhile does not wait for it.
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

// unwindOptions returns the options of the profiler, with its own handles of the maps: the session may end while the
// profiler loads.
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

// useStacks starts to take stacks, or notes why that is not possible.
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

// living returns the pids of the watched processes that are alive.
func (s *Session) living() (pids []int) {
	for pid, p := range s.decoder.processes {
		if p.ended == recording.NoTime {
			pids = append(pids, int(pid))
		}
	}
	return pids
}

// haveJoined records that everything has joined.
func (s *Session) haveJoined() error {
	s.decoder.note([]recording.Missing{{What: "joining", Count: 1, Timed: 1, Why: fmt.Sprintf(
		"stacks and calls over TLS: not seen for the first %d ms, while what sees them was loaded beside the recording",
		(clock()-s.begun)/1e6)}})
	s.allJoined()
	debug.FreeOSMemory() // memory that was needed to find everything is garbage now
	s.before = s.measure()
	return nil
}

func (s *Session) allJoined() {
	s.joining.over = true
	if s.opts.Joined != nil {
		s.opts.Joined()
	}
}

// finishJoining reports what had not joined when the recording ended.
func (s *Session) finishJoining() {
	for pid := range s.joining.idless {
		s.idsSeen(pid, clock())
	}
	if !s.joining.over {
		s.decoder.note([]recording.Missing{missingFact("joining",
			"stacks and calls over TLS: not seen, or not all of them, as the recording ended before what sees them was loaded")})
	}
}
