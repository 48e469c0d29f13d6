//go:build linux && amd64

package capture

import (
	"fmt"

	"github.com/getdwell/dwell/internal/capture/unwind"
	"github.com/getdwell/dwell/recording"
)

// startStacks begins to take stacks if they are wanted. Where that is impossible the
// recording goes on without: it says so, and so does Stats.
func (s *Session) startStacks() {
	o := s.opts.Stacks
	if !o.On {
		return
	}
	u, err := unwind.Start(unwind.Options{
		Watched: s.objects.Watched, Hints: s.objects.WatchedHints, Gap: o.Gap, Period: o.Period,
	})
	if err != nil {
		s.stacksOff = fmt.Sprintf("no stacks are recorded: %v", err)
		s.missing = append(s.missing, missingFact("stacks", s.stacksOff))
		return
	}
	s.unwinder = u
	s.closers = append(s.closers, u)
}

// collectStacks takes the stacks that have come in. It is called before the ring is
// drained: whoever appears in a stack was made known in the ring before.
func (s *Session) collectStacks() unwind.Batch {
	if s.unwinder == nil {
		return unwind.Batch{}
	}
	return s.unwinder.Collect()
}

// stacks turns a batch into facts. Frames and stacks are declared at the beginning of
// the recording: stacks of two CPUs do not come in the order of their times.
func (s *Session) stacks(b unwind.Batch) {
	d := s.decoder
	for _, f := range b.Declared {
		d.emit(s.begun, f)
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

// finishStacks ends the taking of stacks.
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
