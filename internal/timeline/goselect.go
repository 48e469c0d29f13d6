package timeline

import (
	"cmp"
	"slices"
	"sort"

	"github.com/getdwell/dwell/recording"
)

// A goroutine that waits in a select, for a result or until its client gives up, is on no
// thread, and nothing else is seen of it until somebody hands it something, or takes it. That
// one is seen; and if it did a task of the request, what it did is what was waited for, and
// before that the tasks of others that it was busy with. If a timer handed over the time, it
// slept.

// selected is the end of a wait in a select: who handed something over then, or took it.
type selected struct {
	at    Time
	by    StrandID // None: not known, or a timer
	conn  int32    // None, or the connection whose goroutine it was: index of facts' connections
	timer bool
}

// selects lists by strand how waits in a select ended, in order of time. What the goroutines
// of a connection hand over is the connection's.
func selects(t *Timeline, f *facts) map[StrandID][]selected {
	if len(f.parks.unparks) == 0 {
		return nil
	}
	of, index, keep := map[StrandID][]selected{}, indexGoroutines(t), connectionGoroutines(f)
	for _, u := range f.parks.unparks {
		if u.Woken == recording.NoGoroutine {
			continue
		}
		by, woken := f.goKeyOf(u.Thread, u.Goroutine), index.of(f.goKeyOf(u.Thread, u.Woken))
		if woken == None {
			continue
		}
		x := selected{at: u.at, by: None, conn: None, timer: t.byTimer(f, u)}
		if conn, kept := keep[by]; kept && !x.timer {
			x.conn = conn
		} else if !x.timer {
			x.by = index.of(by)
		}
		of[woken] = append(of[woken], x)
	}
	return of
}

// byTimer reports that a timer handed over the time: no goroutine does that, or whichever looked for work.
func (t *Timeline) byTimer(f *facts, u unparkAt) bool {
	return u.Goroutine == recording.NoGoroutine || t.has(f.stacks.stackIndex.get(u.Stack), "time.sendTime")
}

// connectionGoroutines are those that read and write on connections for others, and on which.
func connectionGoroutines(f *facts) map[goKey]int32 {
	keep := map[goKey]int32{}
	for i := range f.conns {
		c := &f.conns[i]
		if len(c.goCalls) == 0 {
			continue
		}
		for _, chunks := range c.chunks {
			for _, x := range chunks {
				keep[goKey{c.decl.Process, x.Goroutine}] = int32(i)
			}
		}
	}
	return keep
}

// selectedIn is the last end of a wait of a strand in a select within (from, to]; nil if there is none.
func (l *goLives) selectedIn(s StrandID, from, to Time) *selected {
	list := l.selects[s]
	i, _ := slices.BinarySearchFunc(list, to+1, func(x selected, at Time) int { return cmp.Compare(x.at, at) })
	if i == 0 || list[i-1].at <= from {
		return nil
	}
	return &list[i-1]
}

// goSelect tiles the time on no thread at the end of which a goroutine came back from a
// select. False if it is not known what ended that.
func (s *segmenter) goSelect(r *Request, w parked, p *painter) bool {
	if w.cause != CauseUnknown {
		return false
	}
	end, back := s.t.golang.selectedIn(r.Strand, w.from, w.to), w.to
	if end == nil {
		return false
	}
	w.to, w.ran, w.timer, w.selects = end.at, false, end.timer, true
	if end.timer {
		s.goAbsent(r, w, p)
	} else if call := s.gotConnection(*end, w); call != None {
		p.add(Segment{From: w.from, To: w.to, Phase: PhaseQueue, Cause: CausePool, Quality: Inferred, Call: call, Strand: r.Strand, Blocker: None})
	} else if end.by == None || end.by == r.Strand {
		return false
	} else if !s.goTask(r, end.by, w, p) {
		s.goBehind(r, end.by, w, p)
	}
	s.goWait(wait{r, r.Strand, w.to, back, PhaseHandler, None}, p)
	return true
}

// gotConnection returns the call for which what was handed over is a connection: a goroutine of
// that did so while no call of the request was under way, and the next one is made on it. Else None.
func (s *segmenter) gotConnection(end selected, w parked) CallID {
	if end.conn == None || len(overlapping(w.calls, w.from, end.at)) > 0 {
		return None
	}
	next := sort.Search(len(w.calls), func(k int) bool { return w.calls[k].from >= end.at })
	if next == len(w.calls) || int32(s.in.calls[w.calls[next].call].conn) != end.conn {
		return None
	}
	return w.calls[next].call
}

// busyWith tiles a span before a goroutine took a task by the tasks of other requests that
// it did. Since when it was waited for is not seen: what it did else says nothing.
func (s *segmenter) busyWith(r *Request, by StrandID, w parked, p *painter) {
	for _, x := range s.in.hands.from(by, w.from) {
		if x.from >= w.to {
			break
		}
		if x.request == r.ID {
			continue
		}
		before := w
		before.to = max(w.from, x.from)
		s.goAbsent(r, before, p)
		w.from = min(x.to, w.to)
		p.add(Segment{From: before.to, To: w.from, Phase: PhaseHandler, Cause: CausePool, Quality: Inferred, Call: None, Strand: by, Blocker: x.request})
	}
	s.goAbsent(r, w, p)
}
