//go:build linux && (amd64 || arm64)

package capture

import (
	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// goHooked reports that the probes on a Go program are attached, as far as that is possible.
type goHooked struct {
	pid     uint32
	at      recording.Time // when they were attached
	missing []recording.Missing
}

// readyGo loads the programs before the recording starts, because that takes a moment. It does so if the process is
// about to become a service whose program is not known yet.
func (s *Session) readyGo(p target.Process) {
	if s.opts.Go.Off || !s.isGate(p) {
		return
	}
	s.goFinder.mu.Lock()
	defer s.goFinder.mu.Unlock()
	_, _ = s.goProbes.load(s), s.goParks.load(s) // readGo reports the errors
}

// knowGo prepares the decoder for the events of the probes on a process.
func (s *Session) knowGo(f *goFound) {
	if f.goExecutable != nil && !s.opts.Go.Off {
		if s.goProcs == nil {
			s.goProcs = map[uint32]goProcsAt{}
		}
		s.goProcs[uint32(f.pid)] = goProcsAt{f.file, f.procs}
		s.decoder.golang.parks.open(f.pid, f.table)
		s.nameGo(f)
	}
}

// nameGo makes the unwinder name functions in stacks by the program's own table.
func (s *Session) nameGo(f *goFound) {
	table := f.table
	if table == nil || s.unwinder == nil {
		return
	}
	s.unwinder.Go(f.pid, func(address uint64) (frames []recording.Frame) {
		for _, g := range table.Linked(address) {
			frames = append(frames, goFrame(g))
		}
		return frames
	})
}

// goFrame is a frame of a recording, without its id.
func goFrame(f target.GoFrame) recording.Frame {
	return recording.Frame{Type: recording.FrameGo, Function: f.Function, File: f.File, Line: int64(f.Line), Module: f.Module}
}

// goProcsAt is where a process keeps its GOMAXPROCS.
type goProcsAt struct {
	file    target.CodeFile
	address uint64 // as linked; 0: not known
}

// finishGoProcs records how many goroutines can run at once in each process that is still alive. Programs set that
// when they begin, and Go itself sets it when limits of a control group change.
func (s *Session) finishGoProcs() {
	for pid, at := range s.goProcs {
		p := s.decoder.processes[pid]
		if p == nil || p.ended != recording.NoTime || at.address == 0 {
			continue
		}
		if n, err := target.GoProcs(int(pid), at.file, at.address); err == nil { // else the host's number of processors is used instead
			s.decoder.emit(s.decoder.now, &recording.GoProcs{Process: p.fact.ID, Procs: n})
		}
	}
}

// hookGo attaches the probes to a process. It returns the reasons why some could not be attached.
func (s *Session) hookGo(f *goFound) (missing []recording.Missing) {
	if f.goExecutable == nil {
		return nil
	}
	add := func(set *probeSet, probes []goProbe) {
		if len(probes) == 0 {
			return
		}
		if err := set.add(f.in(probes)); err != nil && !gone(err) {
			missing = append(missing, missingFact(set.code, err.Error()))
		}
	}
	for i, probes := range f.parks {
		add(s.goParks.sets[i], probes)
	}
	for i, probes := range f.calls {
		add(s.goProbes.sets[i], probes)
	}
	return missing
}

// hookGoLater does the same beside the recording, because the kernel takes time.
func (s *Session) hookGoLater(f *goFound) {
	if f.goExecutable == nil || s.opts.Go.Off {
		return
	}
	if s.unhooked == nil {
		s.unhooked = map[uint32]struct{}{}
	}
	s.unhooked[uint32(f.pid)] = struct{}{}
	s.workers.Go(func() {
		missing := s.hookGo(f)
		done := goHooked{uint32(f.pid), clock(), missing}
		select {
		case s.hooked <- done:
		case <-s.done:
		}
	})
}

// goIsHooked records the result. If the process ended meanwhile, there were no probes to drop when it ended, so
// they are dropped now.
func (s *Session) goIsHooked(h goHooked) {
	s.decoder.noteOnce(h.missing)
	delete(s.unhooked, h.pid)
	p := s.decoder.processes[h.pid]
	if p == nil || p.ended != recording.NoTime {
		s.forgetGo([]uint32{h.pid})
		return
	}
	s.unseenBefore(p, h.at)
	s.idsSeen(h.pid, h.at)
}

// unseenBefore records that waits of goroutines in a process were not seen before a time.
func (s *Session) unseenBefore(p *process, at recording.Time) {
	for _, set := range newParkSets() {
		s.decoder.unseen(p.fact.ID, set.name, absence{max(p.began, s.begun), at})
	}
}

// finishHooking records that waits were not seen in processes whose probes are not attached yet.
func (s *Session) finishHooking() {
	for pid := range s.unhooked {
		if p := s.decoder.processes[pid]; p != nil && p.ended == recording.NoTime {
			s.unseenBefore(p, clock())
		}
	}
}
