package gocalls

import (
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
