//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"time"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// resolveFor bounds the search for the ids of a runtime that is starting.
const resolveFor = 20 * time.Second

// askingRest: the pause after examining a Python process is this many times as long as the examination.
const askingRest = 20

// resolution is what was found out about a process's runtime.
type resolution struct {
	process target.Process
	early   bool // its runtime was not examined yet
	watch   probesWatch
	err     error
	timers  error // why Node's timers are not probed
	golang  goFound
	python  pythonFound
	node    nodeFound
}

// missing returns what the recording lacks because of the errors in r.
func (r resolution) missing() []recording.Missing {
	if gone(r.err) {
		return nil
	}
	if r.err == nil && r.golang.goExecutable != nil {
		return r.golang.missing
	}
	if r.err == nil && r.timers != nil && !gone(r.timers) {
		return []recording.Missing{missingFact("node-timers", r.timers.Error())}
	}
	if r.err == nil || errors.Is(r.err, target.ErrNotReady) {
		return nil
	}
	what := "async-ids"
	switch r.process.Runtime {
	case recording.RuntimeGo:
		what = "goroutine-ids"
	case recording.RuntimePython:
		what = "contexts"
	}
	return []recording.Missing{missingFact(what, r.err.Error())}
}

// resolve finds where a process keeps its runtime's ids. A finder for Node may be passed for reuse; nil creates one.
func (s *Session) resolve(p target.Process, finder *target.NodeFinder) resolution {
	r := resolution{process: p}
	switch p.Runtime {
	case recording.RuntimeGo:
		if r.golang, r.err = s.findGo(p.PID); r.err == nil {
			useGo(&r.golang.layout, &r.watch)
		}
	case recording.RuntimeNode:
		if r.err = s.resolveNode(p.PID, finder, &r.watch); r.err == nil {
			r.timers = s.probeNode(p.PID)
			r.node = s.findPromises(p.PID, &r.watch)
		}
	case recording.RuntimePython:
		r.err = s.resolvePython(p.PID, &r)
	}
	return r
}

func useGo(l *target.GoLayout, w *probesWatch) {
	w.GoTls, w.GoGoid, w.GoParent = int32(l.TLS), int32(l.Goid), int32(l.ParentGoid)
	w.GoM, w.GoCurg = int32(l.M), int32(l.CurG)
}

func (s *Session) resolveNode(pid int, f *target.NodeFinder, w *probesWatch) error {
	if f == nil {
		var err error
		if f, err = s.files.NewNodeFinder(pid); err != nil {
			return err
		}
		defer f.Close()
	}
	ids, err := f.Find()
	if err != nil {
		return err
	}
	w.AsyncIds = ids.Address
	return nil
}

// probeNode attaches the probes of Node's loop functions to one process. The loop runs timers at most once a
// millisecond, whatever else it does. So this probe costs at most 0.2 % of a CPU and needs no budget. Immediates are
// checked in each iteration of the loop.
func (s *Session) probeNode(pid int) error {
	if !s.has("node-timers") {
		return nil
	}
	programs := s.groups["node-timers"].programs
	b, err := s.files.NodeBoundaries(pid)
	if err != nil {
		return fmt.Errorf("find the loop functions of process %d: %w", pid, err)
	}
	site := probeSite{pid: pid, file: b.File}
	timers, err := site.attach(programs[0], []uint64{b.RunTimers})
	if err != nil {
		return fmt.Errorf("probe the timers: %w", err)
	}
	s.keep(timers...)
	if !s.opts.Boundaries {
		return nil
	}
	immediates, err := site.attach(programs[1], []uint64{b.CheckImmediate})
	if err != nil {
		return fmt.Errorf("probe the immediates: %w", err)
	}
	s.keep(immediates...)
	return nil
}

// resolveLater describes a process that has just started a program, and repeats the search until its runtime is
// ready.
func (s *Session) resolveLater(pid int) {
	s.workers.Go(func() {
		var finder *target.NodeFinder
		defer func() {
			if finder != nil {
				finder.Close()
			}
		}()
		deadline := time.Now().Add(resolveFor)
		told, named := false, false
		for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
			p, err := s.files.Info(pid)
			if err != nil {
				return // it has ended
			}
			if !named && !s.deliver(resolution{process: p, early: true}) { // the search may outlast a short recording
				return
			}
			named = true
			if p.Runtime == recording.RuntimeNode && finder == nil {
				finder, _ = s.files.NewNodeFinder(pid) // resolve reports the error
			}
			began := time.Now()
			r := s.resolve(p, finder)
			if p.Runtime == recording.RuntimePython { // it may load the module and never use it
				wait = max(wait, askingRest*time.Since(began))
			}
			if errors.Is(r.err, target.ErrNotReady) && p.Runtime == recording.RuntimePython && told {
				if time.Now().After(deadline) {
					wait = max(wait, pythonRetry) // it may never run a loop
				}
				if !s.pause(wait) {
					return
				}
				continue
			}
			if errors.Is(r.err, target.ErrNotReady) && p.Runtime != recording.RuntimePython && time.Now().After(deadline) {
				r.err = fmt.Errorf("%w: %s", target.ErrUnsupported, r.err)
			}
			told = true
			if !s.deliver(r) || !errors.Is(r.err, target.ErrNotReady) || !s.pause(wait) {
				return
			}
		}
	})
}

// pause waits; it returns false if the session is over.
func (s *Session) pause(wait time.Duration) bool {
	select {
	case <-s.done:
		return false
	case <-time.After(wait):
		return true
	}
}

// deliver passes a resolution to Run; it returns false if the session is over.
func (s *Session) deliver(r resolution) bool {
	select {
	case s.resolved <- r:
		return true
	case <-s.done:
		return false
	}
}
