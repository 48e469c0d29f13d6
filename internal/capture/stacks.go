//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/getdwell/dwell/internal/capture/target"
	"github.com/getdwell/dwell/internal/capture/unwind"
	"github.com/getdwell/dwell/recording"
)

// startStacks begins to take stacks, if they are wanted, when the first process is about to be watched. If that is
// impossible, the recording continues without stacks, and both the recording and Stats say so.
func (s *Session) startStacks(pid int) {
	o := s.opts.Stacks
	if !o.On || s.unwinder != nil || s.stacksOff != "" {
		return
	}
	u, err := s.startUnwinder(unwind.Options{
		Watched: s.objects.Watched, Hints: s.objects.WatchedHints, Threads: s.objects.Spans, Gap: o.Gap, Period: o.Period,
		Python: s.mayRunPython(pid),
	})
	if err != nil {
		s.noStacks(err)
		return
	}
	s.haveUnwinder(u)
	s.awaitExamined(u, []int{pid})
}

// noStacks notes why no stacks are taken.
func (s *Session) noStacks(err error) {
	s.status.mu.Lock()
	defer s.status.mu.Unlock()
	s.stacksOff = fmt.Sprintf("no stacks are recorded: %v", err)
	s.missing = append(s.missing, missingFact(stacksGroup, s.stacksOff))
}

func (s *Session) haveUnwinder(u *unwind.Unwinder) {
	s.unwinder, s.meter.unwinder = u, u
	s.keep(u)
}

// examineFor bounds how long we wait for the processes to be examined. Processes not examined by then are counted;
// their first stacks are missing.
const examineFor = 2 * time.Second

func (s *Session) awaitExamined(u *unwind.Unwinder, roots []int) {
	var pids []int
	for _, root := range roots {
		tree, err := s.files.Tree(root)
		if err != nil {
			continue // Watch reports why, or it has ended
		}
		for _, p := range tree {
			if p.PID != os.Getpid() && !s.isGate(p) && u.Examine(p.PID) == nil {
				pids = append(pids, p.PID)
			}
		}
	}
	u.Await(pids, examineFor)
}

// mayRunPython reports whether a process of the tree runs Python, or may do so later. That includes all processes
// that are not known to have another runtime. It does not predict what those start later.
func (s *Session) mayRunPython(pid int) bool {
	tree, err := s.files.Tree(pid)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(tree, func(p target.Process) bool {
		return s.isGate(p) || p.Runtime == recording.RuntimePython || p.Runtime == recording.RuntimeNative
	})
}

// isGate reports whether a process is a dwell process that is about to become the service. A service may be dwell
// itself, as in the demo.
func (s *Session) isGate(p target.Process) bool {
	self, err := os.Executable()
	return p.PID == s.opts.Launched && err == nil && p.Exe == filepath.Base(self)
}

// examineStacks lets the profiler examine a process that is about to be watched, or has begun to run another program.
func (s *Session) examineStacks(p target.Process) {
	if s.unwinder == nil || s.isGate(p) {
		return
	}
	if p.Runtime == recording.RuntimePython && !s.unwinder.Python() {
		s.decoder.noteOnce([]recording.Missing{missingFact("stacks",
			"a process began to run Python, which the recorder was not set up for: its stacks lack the frames of Python")})
	}
	if err := errors.Join(s.unwinder.Examine(p.PID), s.unwinder.Begin()); err != nil {
		s.decoder.note([]recording.Missing{missingFact("stacks", err.Error())})
	}
}

// collectStacks returns the stacks that have come in. It is called before the ring is drained: threads in these
// stacks were reported in the ring earlier.
func (s *Session) collectStacks() unwind.Batch {
	if s.unwinder == nil {
		return unwind.Batch{}
	}
	return s.unwinder.Collect()
}

// declaredAhead is how much earlier than the last drain frames and stacks are declared, because events of two CPUs do
// not arrive in the order of their times. Readers hold this much of a recording in memory at a time.
const declaredAhead recording.Time = 5e9

// declaring returns the time at which things first used at from are declared.
func (s *Session) declaring(from recording.Time) recording.Time {
	return max(s.begun, min(from, s.drained)-declaredAhead)
}

// stacks turns a batch into facts.
func (s *Session) stacks(b unwind.Batch) {
	d := s.decoder
	first := s.drained
	for _, t := range b.Taken {
		first = min(first, t.Time)
	}
	for _, f := range b.Declared {
		d.emit(s.declaring(first), f)
	}
	for _, t := range b.Taken {
		d.at = t.Time
		d.emit(t.Time, &recording.StackAt{
			Thread: d.use(d.threadOf(t.TID, t.Start, t.TGID)), Stack: t.Stack,
			Origin: t.Origin, Goroutine: t.Goroutine,
		})
	}
	for _, l := range b.Lost {
		s.meter.lost += l.Count
		d.emit(l.Last, &recording.Loss{Hook: recording.HookStacks, CPU: l.CPU, Count: l.Count, From: l.First})
	}
	d.note(b.Missing)
}

// finishStacks stops taking stacks.
func (s *Session) finishStacks() error {
	if s.unwinder == nil {
		return nil
	}
	b := s.unwinder.Stop()
	if err := s.decode(); err != nil {
		return err
	}
	s.stacks(b)
	return nil
}
