package build

import (
	"sort"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// A goroutine that waits in a select, for a result or until its client gives up, is on no
// thread, and nothing else is seen of it until somebody hands it something, or takes it. That
// one is seen; and if it did a task of the request, what it did is what was waited for, and
// before that the tasks of others that it was busy with. If a timer handed over the time, it
// slept.

// selects lists by strand how waits in a select ended, in order of time. What the goroutines
// of a connection hand over is the connection's.
func selects(t *timeline.Timeline, f *facts.Facts) map[timeline.StrandID][]timeline.SelectEnd {
	if len(f.Parks.Unparks) == 0 {
		return nil
	}
	of, index, keep := map[timeline.StrandID][]timeline.SelectEnd{}, facts.IndexGoroutines(t), connectionGoroutines(f)
	for _, u := range f.Parks.Unparks {
		if u.Woken == recording.NoGoroutine {
			continue
		}
		by, woken := f.GoKeyOf(u.Thread, u.Goroutine), index.Of(f.GoKeyOf(u.Thread, u.Woken))
		if woken == timeline.None {
			continue
		}
		x := timeline.SelectEnd{At: u.At, By: timeline.None, Conn: timeline.None, Timer: byTimerOf(t, f, u)}
		if conn, kept := keep[by]; kept && !x.Timer {
			x.Conn = conn
		} else if !x.Timer {
			x.By = index.Of(by)
		}
		of[woken] = append(of[woken], x)
	}
	return of
}

// byTimerOf reports that a timer handed over the time: no goroutine does that, or whichever looked for work.
func byTimerOf(t *timeline.Timeline, f *facts.Facts, u facts.Unpark) bool {
	return u.Goroutine == recording.NoGoroutine || t.OnStack(f.Stacks.StackIndex.Get(u.Stack), "time.sendTime")
}

// connectionGoroutines are those that read and write on connections for others, and on which.
func connectionGoroutines(f *facts.Facts) map[timeline.GoroutineKey]int32 {
	keep := map[timeline.GoroutineKey]int32{}
	for i := range f.Conns {
		c := &f.Conns[i]
		if len(c.GoCalls) == 0 {
			continue
		}
		for _, chunks := range c.Chunks {
			for _, x := range chunks {
				keep[timeline.GoroutineKey{Process: c.Decl.Process, Goroutine: x.Goroutine}] = int32(i)
			}
		}
	}
	return keep
}

// goSelect tiles the time on no thread at the end of which a goroutine came back from a
// select. False if it is not known what ended that.
func (s *segmenter) goSelect(r *timeline.Request, w parked, p *painter) bool {
	if w.cause != timeline.CauseUnknown {
		return false
	}
	end, back := s.t.Goroutines.SelectedIn(r.Strand, w.from, w.to), w.to
	if end == nil {
		return false
	}
	w.to, w.ran, w.timer, w.selects = end.At, false, end.Timer, true
	if end.Timer {
		s.goAbsent(r, w, p)
	} else if call := s.gotConnection(*end, w); call != timeline.None {
		p.add(timeline.Segment{From: w.from, To: w.to, Phase: timeline.PhaseQueue, Cause: timeline.CausePool, Quality: timeline.Inferred, Call: call, Strand: r.Strand, Blocker: timeline.None})
	} else if end.By == timeline.None || end.By == r.Strand {
		return false
	} else if !s.goTask(r, end.By, w, p) {
		s.goBehind(r, end.By, w, p)
	}
	s.goWait(wait{r, r.Strand, w.to, back, timeline.PhaseHandler, timeline.None}, p)
	return true
}

// gotConnection returns the call for which what was handed over is a connection: a goroutine of
// that did so while no call of the request was under way, and the next one is made on it. Else None.
func (s *segmenter) gotConnection(end timeline.SelectEnd, w parked) timeline.CallID {
	if end.Conn == timeline.None || len(overlapping(w.calls, w.from, end.At)) > 0 {
		return timeline.None
	}
	next := sort.Search(len(w.calls), func(k int) bool { return w.calls[k].from >= end.At })
	if next == len(w.calls) || int32(s.in.calls[w.calls[next].call].Conn) != end.Conn {
		return timeline.None
	}
	return w.calls[next].call
}

// busyWith tiles a span before a goroutine took a task by the tasks of other requests that
// it did. Since when it was waited for is not seen: what it did else says nothing.
func (s *segmenter) busyWith(r *timeline.Request, by timeline.StrandID, w parked, p *painter) {
	for _, x := range s.in.hands.From(by, w.from) {
		if x.From >= w.to {
			break
		}
		if x.Request == r.ID {
			continue
		}
		before := w
		before.to = max(w.from, x.From)
		s.goAbsent(r, before, p)
		w.from = min(x.To, w.to)
		p.add(timeline.Segment{From: before.to, To: w.from, Phase: timeline.PhaseHandler, Cause: timeline.CausePool, Quality: timeline.Inferred, Call: timeline.None, Strand: by, Blocker: x.Request})
	}
	s.goAbsent(r, w, p)
}
