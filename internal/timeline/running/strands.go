// Package running determines when strands ran, waited for a processor and slept. Strands tiles the life of each thread
// with intervals. Goroutines finds on which thread each goroutine was, and when all processors of its program were
// busy. If the state of a strand is wrong, fix it here.
package running

import (
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// Strands makes one Strand per thread, in order of declaration, so that a thread's index in facts is its StrandID.
func Strands(f *facts.Facts, by recording.Workers) []timeline.Strand {
	strands := make([]timeline.Strand, len(f.Threads))
	by.Do(len(f.Threads), func(_, i int) {
		th := &f.Threads[i]
		strands[i] = timeline.Strand{
			Thread:    th.ID,
			TID:       th.TID,
			Process:   th.Process,
			Name:      th.Name,
			Intervals: tile(th, f.Windows, f.End),
		}
		strands[i].Poll = pollOf(th, strands[i].Intervals)
	})
	return strands
}

// pollOf determines how a thread waits for its connections.
func pollOf(th *facts.Thread, intervals []timeline.Interval) timeline.Poll {
	if th.Moves.None() {
		return timeline.Poll{}
	}
	return timeline.OwnPoll(intervals, func(off *timeline.Off) bool {
		m, moved := th.Moves.After(off.Woken)
		return moved && m.Dir == recording.Read
	})
}

// tiler lays a thread's states end to end. Between two off-CPU spans a thread runs; before the first fact and after the
// last sign of life its state is unknown.
type tiler struct {
	list   []timeline.Interval
	cursor recording.Time
	state  timeline.State // holds from cursor on, until a fact says otherwise
	asleep *timeline.Off  // represents the sleep that a snapshot reported
}

func tile(th *facts.Thread, windows []timeline.Window, end recording.Time) []timeline.Interval {
	start := windows[0].From
	t := tiler{cursor: start, list: make([]timeline.Interval, 0, pieces(th.Steps))}
	if th.Born != recording.NoTime {
		t.cursor, t.state = max(start, th.Born), timeline.StateRunning
	}
	if last := windows[len(windows)-1].To; last < end {
		windows = append(slices.Clip(windows), timeline.Window{From: end, To: end}) // the recording ended in a gap
	}
	for _, s := range th.Steps {
		for len(windows) > 1 && s.At >= windows[1].From {
			t.gap(windows[0].To, windows[1].From)
			windows = windows[1:]
		}
		if s.Off != nil {
			t.off(s.At, s.Off)
		} else {
			t.snapshot(s.At, s.Snapshot)
		}
	}
	for ; len(windows) > 1 && (th.Died == recording.NoTime || th.Died > windows[0].To); windows = windows[1:] {
		t.gap(windows[0].To, windows[1].From)
	}
	t.finish(th, end)
	return t.list
}

// gap passes over a span that was not recorded.
func (t *tiler) gap(from, to recording.Time) {
	t.held(from)
	t.state, t.asleep = timeline.StateUnknown, nil
	t.held(to)
}

// pieces returns roughly the largest number of intervals that steps make: running, sleeping and runnable before each
// step, and one more if the thread lost its CPU while it ran.
func pieces(steps []facts.Step) int {
	n := 2 + 3*len(steps)
	for i := range steps {
		off := steps[i].Off
		if off == nil {
			continue
		}
		if off.State == recording.OffPreempted {
			n--
		}
		if i > 0 && lost(off.Since.Sub(steps[i-1].At), off.Ran) > taken {
			n++
		}
	}
	return n
}

// lost returns how much of a span on a CPU is missing from the CPU time used in it; 0 unknown.
func lost(span recording.Duration, used int64) recording.Duration {
	if used <= 0 {
		return 0
	}
	return span - recording.Duration(used)
}

// to extends the tiling to a time with one state.
func (t *tiler) to(at recording.Time, state timeline.State, off *timeline.Off) {
	if at <= t.cursor {
		return
	}
	if n := len(t.list); n > 0 && t.list[n-1].State == state && t.list[n-1].Off == off {
		t.list[n-1].To = at
	} else {
		t.list = append(t.list, timeline.Interval{From: t.cursor, To: at, State: state, Off: off})
	}
	t.cursor = at
}

// held extends the tiling to a time with the state that held until then.
func (t *tiler) held(at recording.Time) {
	if asleep(t.state) {
		t.to(at, t.state, t.asleep)
		return
	}
	t.to(at, t.state, nil)
}

// taken is how much of a span on a CPU must be missing from the CPU time used in it to count as more than the
// inaccuracy of both clocks.
const taken recording.Duration = 30_000

// ran extends the tiling to a time with the state that held until then. A thread that ran but used less CPU time than
// its span lost its CPU to interrupts, or to other guests of the machine's host: it was runnable. When in the span this
// happened is not known; we place it at the end.
func (t *tiler) ran(at recording.Time, used int64) {
	if gone := lost(at.Sub(t.cursor), used); t.state == timeline.StateRunning && gone > taken {
		t.held(at - recording.Time(gone))
		t.to(at, timeline.StateRunnable, nil)
		return
	}
	t.held(at)
}

// stateOff returns the state of a thread off the CPU.
func stateOff(s recording.OffState) timeline.State {
	switch s {
	case recording.OffSleep:
		return timeline.StateSleeping
	case recording.OffDisk:
		return timeline.StateDisk
	case recording.OffPreempted:
		return timeline.StateRunnable
	}
	return timeline.StateUnknown
}

func asleep(s timeline.State) bool { return s == timeline.StateSleeping || s == timeline.StateDisk }

func (t *tiler) off(at recording.Time, off *timeline.Off) {
	if asleep(t.state) {
		t.to(min(off.Since, at), timeline.StateUnknown, nil) // when that sleep ended was not recorded
	} else {
		t.ran(min(off.Since, at), off.Ran)
	}
	woken := off.Woken
	if woken == recording.NoTime || woken > at {
		woken = at
	}
	state := stateOff(off.State)
	if asleep(state) {
		t.to(woken, state, off)
		state = timeline.StateRunnable
	}
	t.to(at, state, off)
	t.state, t.asleep = timeline.StateRunning, nil
}

func (t *tiler) snapshot(at recording.Time, s *recording.ThreadState) {
	if s.On == 1 {
		if asleep(t.state) {
			t.state = timeline.StateUnknown
		}
		t.held(at)
		t.state = timeline.StateRunning
		return
	}
	since := s.Since
	if since == recording.NoTime {
		since = t.cursor
	}
	t.held(min(since, at))
	t.asleep = facts.NewOff(&recording.Off{Thread: s.Thread, Since: since, State: s.State, Syscall: s.Syscall})
	if t.state = stateOff(s.State); !asleep(t.state) {
		t.asleep = nil
	}
	t.held(at)
}

// finish tiles the rest of the thread's life.
func (t *tiler) finish(th *facts.Thread, end recording.Time) {
	if th.Died != recording.NoTime {
		if t.state != timeline.StateUnknown {
			t.state = timeline.StateRunning // a thread runs until its exit
		}
		t.held(min(th.Died, end))
		return
	}
	if asleep(t.state) {
		t.held(end)
		return
	}
	t.held(min(th.Seen, end))
	t.to(end, timeline.StateUnknown, nil)
}
