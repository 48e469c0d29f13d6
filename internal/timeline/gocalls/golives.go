package gocalls

import (
	"maps"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/exchange"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/internal/timeline/running"
	"github.com/getdwell/dwell/recording"
)

// Lives collects, by strand, what goroutines did: their stints, calls, wake-ups and select waits. The ids of calls
// change once more afterwards, in OrderCalls.
func Lives(t *timeline.Timeline, f *facts.Facts, runs running.GoRuns, calls []exchange.Call) timeline.Goroutines {
	g := &goroutines{t: t, f: f, strands: facts.IndexGoroutines(t)}
	l := timeline.Goroutines{Stints: runs.Stints, Calls: map[timeline.StrandID][]timeline.CallID{}, LetGo: map[timeline.StrandID][]timeline.StackAt{}, Selects: g.selects(), Timed: g.timed(runs), Starters: g.starters()}
	for i := range t.Calls {
		c := &t.Calls[i]
		by := c.Strand
		if id := calls[i].Caller; id != recording.NoGoroutine {
			by = g.strands.Of(timeline.GoroutineKey{Process: c.Process, Goroutine: id})
		} else if c.Why == timeline.WhyGoDial { // written by the connection's own goroutine
			by = t.Requests[c.Request].Strand
		}
		if by != timeline.None && t.Strands[by].Goroutine != recording.NoGoroutine {
			l.Calls[by] = append(l.Calls[by], timeline.CallID(i))
		}
	}
	for id, list := range running.ThreadMoves(f) {
		if s := f.Strand(id); s != timeline.None {
			l.AddMoves(s, list)
		}
	}
	for k, list := range runs.Moves {
		if s := g.strands.Of(k); s != timeline.None && len(list) > 0 {
			l.AddMoves(s, list)
		}
	}
	for _, u := range f.Parks.Unparks {
		if i, s := f.Stacks.StackIndex.Get(u.Stack), g.strands.Of(f.GoKeyOf(u.Thread, u.Goroutine)); i != timeline.None && s != timeline.None {
			l.LetGo[s] = append(l.LetGo[s], timeline.StackAt{Time: u.At, Stack: timeline.StackID(i), Goroutine: u.Goroutine})
		}
	}
	return l
}

// A goroutine that waits in a select, for a result or until its client gives up, runs on no thread. Nothing is seen
// of it until another goroutine hands it something or takes something from it. That goroutine is seen. If it did a
// task of the request, the request waited for that task, and before it for the tasks of other requests that kept the
// goroutine busy. If a timer ended the wait, the goroutine slept.

// selects lists, by strand, how waits in a select ended, in order of time. What the goroutines of a connection hand
// over belongs to the connection.
func (g *goroutines) selects() map[timeline.StrandID][]timeline.SelectEnd {
	if len(g.f.Parks.Unparks) == 0 {
		return nil
	}
	of, keep := map[timeline.StrandID][]timeline.SelectEnd{}, connectionGoroutines(g.f)
	for _, u := range g.f.Parks.Unparks {
		woken := g.strands.Of(g.f.GoKeyOf(u.Thread, u.Woken))
		if u.Woken == recording.NoGoroutine || woken == timeline.None {
			continue
		}
		x := timeline.SelectEnd{At: u.At, By: timeline.None, Conn: timeline.None}
		by := g.f.GoKeyOf(u.Thread, u.Goroutine)
		conn, kept := keep[by]
		switch {
		case u.Goroutine == recording.NoGoroutine || g.byTimer(u): // the end of a timer: by no goroutine, or by whichever looked for work
			x.Timer = true
		case kept:
			x.Conn = conn
		default:
			x.By = g.strands.Of(by)
		}
		of[woken] = append(of[woken], x)
	}
	return of
}

// mainGoroutine is started by the runtime, like the goroutines that timers start.
const mainGoroutine recording.GoroutineID = 1

// timed finds the goroutines that a timer started, as time.AfterFunc does, and when they began. The evidence: no
// goroutine started them, in a program for which the starters of goroutines are known.
func (g *goroutines) timed(runs running.GoRuns) map[timeline.StrandID]recording.Time {
	told, of := map[recording.ProcessID]bool{}, map[timeline.StrandID]recording.Time{}
	for _, u := range g.f.Parks.Unparks {
		k := g.f.GoKeyOf(u.Thread, u.Goroutine)
		if u.Parent != recording.NoGoroutine {
			told[k.Process] = true
		} else if list, s := runs.Stints[k], g.strands.Of(k); k.Goroutine > mainGoroutine && s != timeline.None && len(list) > 0 && list[0].Exact {
			of[s] = list[0].From
		}
	}
	maps.DeleteFunc(of, func(s timeline.StrandID, _ recording.Time) bool { return !told[g.t.Strands[s].Process] })
	return of
}

// starters finds which goroutine started each goroutine. In a server, the one that accepts connections starts those
// that serve requests.
func (g *goroutines) starters() map[timeline.StrandID]timeline.StrandID {
	of := map[timeline.StrandID]timeline.StrandID{}
	for k, origin := range g.f.Goroutines.Origins {
		s := g.strands.Of(k)
		if k.Goroutine = origin.Parent; s != timeline.None && k.Goroutine != recording.NoGoroutine && g.strands.Of(k) != timeline.None {
			of[s] = g.strands.Of(k)
		}
	}
	return of
}

// connectionGoroutines returns the goroutines that read and write on connections for others, with the connection.
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
