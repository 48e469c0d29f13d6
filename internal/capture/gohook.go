//go:build linux && (amd64 || arm64)

package capture

import (
	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/recording"
)

// goHooked tells that the probes on a Go program are there, as far as they can be.
type goHooked struct {
	pid     uint32
	at      recording.Time // since when
	missing []recording.Missing
}

// readyGo loads the programs before the recording starts, which takes a moment, if a
// process is about to run who knows what.
func (s *Session) readyGo(p target.Process) {
	if s.opts.Go.Off || !s.isGate(p) {
		return
	}
	s.goFinder.mu.Lock()
	defer s.goFinder.mu.Unlock()
	_, _ = s.goProbes.load(s), s.goParks.load(s) // readGo says why not
}

// knowGo readies the decoder for what probes on a process will tell.
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

// nameGo has the functions in stacks named by the program's own table.
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

// finishGoProcs tells how many goroutines could run at once in the processes that live:
// programs set that when they begin, and Go itself as limits of a control group change.
func (s *Session) finishGoProcs() {
	for pid, at := range s.goProcs {
		p := s.decoder.processes[pid]
		if p == nil || p.ended != recording.NoTime || at.address == 0 {
			continue
		}
		if n, err := target.GoProcs(int(pid), at.file, at.address); err == nil { // else the host's processors are taken for it
			s.decoder.emit(s.decoder.now, &recording.GoProcs{Process: p.fact.ID, Procs: n})
		}
	}
}

// hookGo hooks up the probes on a process. It returns what stands in the way.
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

// hookGoLater does so beside the recording: the kernel takes its time.
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

// goIsHooked notes what came of it. A process that ended meanwhile was looked for in vain
// when it did.
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

// unseenBefore records that nothing was seen of goroutines' waits in a process before a
// time.
func (s *Session) unseenBefore(p *process, at recording.Time) {
	for _, set := range newParkSets() {
		s.decoder.unseen(p.fact.ID, set.name, absence{max(p.began, s.begun), at})
	}
}

// finishHooking tells of the processes whose probes have not come.
func (s *Session) finishHooking() {
	for pid := range s.unhooked {
		if p := s.decoder.processes[pid]; p != nil && p.ended == recording.NoTime {
			s.unseenBefore(p, clock())
		}
	}
}
