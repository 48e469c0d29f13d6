package build

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// goFacts are what Go programs told of their goroutines.
type goFacts struct {
	origins map[timeline.GoroutineKey]goOrigin
	runs    []goRunAt // in order of time
}

// goRunAt is when a goroutine began to run on a thread, or gave it up.
type goRunAt struct {
	at recording.Time
	*recording.GoRun
}

// goOrigin is when a goroutine was first seen, and who started it.
type goOrigin struct {
	seen   recording.Time
	parent recording.GoroutineID
}

// goCallAt is when a goroutine handed a request to a connection.
type goCallAt struct {
	at recording.Time
	*recording.GoCall
}

// goFact takes facts about goroutines.
func (f *facts) goFact(at recording.Time, fact recording.Fact) bool {
	switch x := fact.(type) {
	case *recording.Goroutine:
		if f.golang.origins == nil {
			f.golang.origins = map[timeline.GoroutineKey]goOrigin{}
		}
		k := timeline.GoroutineKey{Process: x.Process, Goroutine: x.ID}
		if _, ok := f.golang.origins[k]; !ok {
			f.golang.origins[k] = goOrigin{at, x.Parent}
		}
	case *recording.GoProcs:
		if i, ok := f.procIndex[x.Process]; ok {
			f.processes[i].Procs = x.Procs
		}
	case *recording.GoRun:
		f.see(x.Thread, at)
		f.golang.runs = append(doubled(f.golang.runs), goRunAt{at, x})
	case *recording.GoCall:
		f.see(x.Thread, at)
		if c := f.conn(x.Conn); c != nil {
			c.goCalls = append(c.goCalls, goCallAt{at, x})
		}
	default:
		return false
	}
	return true
}

// associateHanded gives calls to the request whose goroutine handed them to their
// connection, or wrote them itself, or started the goroutine that did.
func associateHanded(t *timeline.Timeline, f *facts, in goInput) {
	next, conn := 0, timeline.None
	for i := range t.Calls {
		w := &in.calls[i]
		if w.conn != conn {
			conn, next = w.conn, 0
		}
		c := &t.Calls[i]
		if f.runtime(c.Process) != recording.RuntimeGo || c.Why != timeline.WhyNoOwner || w.x.asked.none() {
			continue
		}
		handed := f.conns[w.conn].goCalls
		last := timeline.None
		for ; next < len(handed) && handed[next].at <= c.SendFrom; next++ {
			last = next
		}
		asked := f.conns[w.conn].chunks[recording.Write][w.x.asked.first]
		switch {
		case last != timeline.None:
			handedBy(t, c, w, handing{in, handed[last]})
		case ownGoroutine(f, w):
			r, rule := in.helped(t, f, timeline.GoroutineKey{Process: c.Process, Goroutine: asked.Goroutine}, c.SendFrom)
			t.Assign(c, r, rule)
		default:
			t.Assign(c, timeline.None, timeline.WhyReused)
		}
	}
}

// goInput is what calls of Go are associated by, besides the Timeline and the facts.
type goInput struct {
	calls   []made
	owners  owners
	strands goIndex
	facts   *facts
	tasks   owners // by strand: for whose requests it worked besides its own
}

// handing is who handed a call over, and what its request is found by.
type handing struct {
	goInput
	goCallAt
}

// handedBy associates a call of which is known who handed it to its connection, and
// when: there it began.
func handedBy(t *timeline.Timeline, c *timeline.Call, w *made, h handing) {
	in := h.goInput
	k := timeline.GoroutineKey{Process: c.Process, Goroutine: h.GoCall.Goroutine}
	if s, ok := in.strands[k]; ok {
		t.Assign(c, in.owners.at(s, h.at), timeline.WhyGoCall)
	}
	if c.Request == timeline.None {
		r, rule := in.helped(t, in.facts, k, h.at)
		t.Assign(c, r, rule)
	}
	w.caller = h.GoCall.Goroutine
	c.SendFrom = h.at
	if up := max(c.Connected, c.TLSTo); c.New && (up == recording.NoTime || h.at.Sub(up) > goDialled ||
		c.Request != timeline.None && c.Start < t.Requests[c.Request].FirstRead) {
		warmed(c, &w.bounds) // it was dialled for another
		return
	}
	c.Start = min(c.Start, h.at)
	settle(c, &w.bounds)
}

// goEnds returns the chunks in which a call was first written and first answered.
func goEnds(f *facts, m *made) (asked, answered chunkAt) {
	conn := &f.conns[m.conn]
	return conn.chunks[recording.Write][m.x.asked.first], conn.chunks[recording.Read][m.x.replied.first]
}

// ownGoroutine reports a call that one goroutine wrote and read: then it is not one of
// a pool's connection.
func ownGoroutine(f *facts, w *made) bool {
	if w.x.replied.none() {
		return false
	}
	asked, answered := goEnds(f, w)
	return asked.Goroutine == answered.Goroutine && asked.Goroutine != recording.NoGoroutine
}

// helped returns the request that a goroutine without one of its own worked for, and why:
// it did a task of it, or one of its ancestors serves it.
func (x *goInput) helped(t *timeline.Timeline, f *facts, k timeline.GoroutineKey, at recording.Time) (timeline.RequestID, string) {
	if s, ok := x.strands[k]; ok && len(x.tasks) > 0 {
		if r := x.tasks.at(s, at); r != timeline.None {
			return r, timeline.WhyHandOff
		}
	}
	if r := x.child(t, f, k, at); r != timeline.None {
		return r, timeline.WhyGoChild
	}
	return timeline.None, timeline.WhyNoOwner
}

// goGenerations bounds how far up a goroutine's ancestors are asked.
const goGenerations = 8

// child returns the request that a goroutine works for because one of its ancestors
// serves it, None if there is none. A goroutine that was seen before that request was
// read was started for something else.
func (x *goInput) child(t *timeline.Timeline, f *facts, k timeline.GoroutineKey, at recording.Time) timeline.RequestID {
	first := at
	for range goGenerations {
		origin, ok := f.golang.origins[k]
		if !ok || origin.parent == recording.NoGoroutine {
			return timeline.None
		}
		first = min(first, origin.seen)
		k.Goroutine = origin.parent
		s, ok := x.strands[k]
		if !ok {
			continue
		}
		if r := x.owners.at(s, at); r != timeline.None && t.Requests[r].FirstRead <= first {
			return r
		}
	}
	return timeline.None
}
